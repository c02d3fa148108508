/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs that the cgroup of guests may use. */
#ifndef VMGEN_SLICE_H
#define VMGEN_SLICE_H

#include "base/cpuset.h"

/* The cpuset of machine.slice, cgroup v2 or v1, below ROOT (""); false when there is no
 * such limit. A CPU that went offline and came back is often missing from it, and then
 * libvirt fails to write the pin. */
bool slice_cpus(struct cpuset *ret_cpus, const char *root);

#endif

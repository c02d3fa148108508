/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which CPUs of a host are for what, as its owner's policy says. */
#ifndef VMGEN_POOLS_H
#define VMGEN_POOLS_H

#include "host/host.h"
#include "policy/host_policy.h"

/* CPUs for dedicated vCPUs: those that OWNER names, else all online ones that it sets
 * aside for nothing else. OWNER may be NULL. */
struct cpuset pools_dedicated(const struct host *host, const struct host_policy *owner);

/* How many cores lie in CPUS with all their siblings. */
unsigned pools_cores(const struct host *host, const struct cpuset *cpus);

#endif

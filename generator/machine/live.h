/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine, as a host: hwloc's view of it, and from sysfs what hwloc does not tell.
 */
#ifndef VMGEN_LIVE_H
#define VMGEN_LIVE_H

#include "host/host.h"

/* NULL and a report when it cannot be read. */
struct host *live_host(struct diag *diag);

/*
 * Adds to HOST, not settled yet, what the proc and sys below ROOT ("" on a real machine)
 * tell: nodes of CPUs, memory, hugepages, isolated CPUs, the CPUs that a container is
 * limited to, names of block devices, and mounts by the PCI function below them. What
 * cannot be read stays unknown.
 */
void live_facts(struct host *host, const char *root);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What proc and sys tell of a machine, without hwloc. ROOT is the directory that they are
 * in: "" for this machine. What cannot be read stays unknown.
 */
#ifndef VMGEN_FACTS_H
#define VMGEN_FACTS_H

#include "host/host.h"

/*
 * Adds to HOST, which is not settled yet: nodes of CPUs, memory and hugepages, isolated
 * CPUs, names of block devices, and mounts by the PCI function below them; takes away the
 * CPUs that a container does not have.
 */
void facts_add(struct host *host, const char *root);

/* Memory and hugepages of each node as they are now, in HOST, settled or not. */
void facts_memory(struct host *host, const char *root);

#endif

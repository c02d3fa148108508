/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block devices, and what is mounted from them, by the PCI function they hang on. */
#ifndef VMGEN_MOUNTS_H
#define VMGEN_MOUNTS_H

#include "host/host.h"

/*
 * Adds to the devices of HOST the names of block devices and the mounts that are on them,
 * found through partitions, LVM, MD, dm-crypt and NVMe multipath; to HOST itself mounts
 * that are on none of its devices. ROOT as in facts.h.
 */
void mounts_add(struct host *host, const char *root);

#endif

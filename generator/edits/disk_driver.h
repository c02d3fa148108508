/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <driver> of a data disk: caches, queues, and the I/O threads that work for it. */
#ifndef VMGEN_DISK_DRIVER_H
#define VMGEN_DISK_DRIVER_H

#include "edits/data_disk.h"
#include "edits/edits.h"

/* Of a new disk on BUS; the caller attaches it. */
struct element *disk_driver_new(const struct edits *edits, const struct plan *plan,
				const struct data_disk *disk, const char *bus);

/* That of the disk that the guest has is as the policy says. */
void disk_driver_tune(struct edits *edits, const struct plan *plan,
		      const struct data_disk *disk);

#endif

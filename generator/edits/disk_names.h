/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names for the disks that a guest gains: those that it has are skipped. */
#ifndef VMGEN_DISK_NAMES_H
#define VMGEN_DISK_NAMES_H

#include "guest/guest.h"
#include "policy/policy.h"

struct disk_names {
	char **taken;
	size_t count;
	const struct policy
		*policy; /* whose targets are for the disks that ask for them */
};

#define cleanup_disk_names cleanup(disk_names_done)

void disk_names_init(struct disk_names *names, const struct guest *guest,
		     const struct policy *policy);
void disk_names_done(struct disk_names *names);

/* The first free one of BUS, as Linux names its disks: vda, sda, nvme0n1. It is taken
 * then; the caller frees it. */
char *disk_names_next(struct disk_names *names, const char *bus);

/* False when it is taken already. */
bool disk_names_take(struct disk_names *names, const char *name);

#endif

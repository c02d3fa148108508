/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A data disk of a policy, and what a guest has of it. */
#ifndef VMGEN_DATA_DISK_H
#define VMGEN_DATA_DISK_H

#include "guest/guest.h"
#include "policy/policy.h"

struct data_disk {
	const struct policy_disk *policy;
	const struct guest_disk *has; /* in the definition; NULL: not (yet) */
	struct element *record;	      /* of its making (guest/records.h), or NULL */
	char *alias;
	char *path; /* of its image: as defined, else as recorded, else by the policy */
	const char *format;  /* the policy's */
	const char *read_as; /* the format that it is read in or was made in */
};

#define cleanup_data_disk cleanup(data_disk_done)

/* What GUEST has is known again by its alias, else by its path. */
void data_disk_init(struct data_disk *ret, const struct policy_disk *policy,
		    const struct guest *guest);
/* Where the policy has the image: DIRECTORY/GUEST-NAME.FORMAT; the caller frees it. */
char *data_disk_path(const struct policy_disk *policy, const char *guest);
void data_disk_done(struct data_disk *disk);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A data disk of a policy, and what a guest has of it. */
#ifndef VMGEN_DATA_DISK_H
#define VMGEN_DATA_DISK_H

#include "guest/guest.h"
#include "policy/policy.h"

/* Where a disk's data are. */
enum data_kind {
	DATA_UNSAID, /* the policy says none of these, or several: its rules tell */
	DATA_FILE,   /* an image file (or, of a guest's own, a block device) at path */
	DATA_VOLUME, /* a volume of a libvirt storage pool */
	DATA_SOCKET, /* behind the vhost-user socket at path */
	DATA_OTHER,  /* a guest's own, of another kind: left to whoever made it so */
};

/* As the guest's definition has it, else as it is recorded, else as the policy says. */
struct data_source {
	enum data_kind kind;
	char *path;
	char *pool, *volume;
};

struct data_disk {
	const struct policy_disk *policy;
	const struct guest_disk *has; /* in the definition; NULL: not (yet) */
	struct element *record;	      /* of its making (guest/records.h), or NULL */
	char *alias;
	struct data_source source;
	char *shown;	     /* the source, for messages */
	const char *format;  /* the policy's */
	const char *read_as; /* the format that it is read in or was made in */
};

#define cleanup_data_disk cleanup(data_disk_done)

/* What GUEST has is known again by its alias, else by its source. */
void data_disk_init(struct data_disk *ret, const struct policy_disk *policy,
		    const struct guest *guest);
void data_disk_done(struct data_disk *disk);

/* What vmgen makes, if it must. */
bool data_disk_is_made(const struct data_disk *disk);

/* Whether it is where the policy would have it: nothing is made anywhere else. */
bool data_disk_in_place(const struct data_disk *disk, const char *guest);

#endif

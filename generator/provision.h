/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a policy's data disk: made, kept or refused. A pure decision. */
#ifndef VMGEN_PROVISION_H
#define VMGEN_PROVISION_H

#include "edits/data_disk.h"

/* What is seen at a data disk's path. */
struct image_seen {
	bool exists;
	uint64_t size; /* of the disk that the image is, in bytes */
};

/* The space that is left where an image is to be made. */
struct image_room {
	uint64_t free;	/* for whoever makes it, in bytes */
	const char *in; /* the directory */
};

enum provision {
	PROVISION_MAKE,
	PROVISION_KEEP,
	PROVISION_REFUSE, /* and a report that says how to go on */
};

/* A disk is made once. GUEST is its name, for the report. */
enum provision provision_decide(const struct data_disk *disk,
				const struct image_seen *seen, const char *guest,
				struct diag *diag);

/* False and a report when what is allocated at once does not fit; a thin image that may
 * outgrow its file system is a warning. */
bool provision_fits(const struct policy_disk *disk, const struct image_room *room,
		    struct diag *diag);

/* Says that DISK, which is recorded, is not there, and how to go on. */
void provision_say_lost(const char *disk, const char *path, const char *guest,
			struct place place, struct diag *diag);

#endif

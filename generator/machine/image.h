/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Image files of data disks: looked at, and made where there is none. */
#ifndef VMGEN_IMAGE_H
#define VMGEN_IMAGE_H

#include <sys/types.h>

#include "provision.h"

/* Whether PATH is there, and read as FORMAT (NULL: whatever it is) its size. False and a
 * report when that cannot be known, or it is no image of that format. */
bool image_look(const char *path, const char *format, struct image_seen *ret,
		struct diag *diag);

/* Whose an image is. */
struct image_owner {
	bool known; /* else whoever makes it */
	uid_t user;
	gid_t group;
};

/*
 * Makes DISK's image at PATH: under no name or a hidden one until it is whole, for OWNER
 * alone, on the disk, and never in place of anything. Says how far it is on a terminal.
 * False and a report, and then nothing is left of it; so it is when we are interrupted
 * (machine/interrupt.h).
 */
bool image_make(const char *path, const struct policy_disk *disk,
		const struct image_owner *owner, struct diag *diag);

/* Takes away one that was made and is not needed after all. */
void image_remove(const char *path);

#endif

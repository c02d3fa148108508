/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data disks of a guest that was compiled, made where there are none. */
#ifndef VMGEN_IMAGES_H
#define VMGEN_IMAGES_H

#include <signal.h>

#include "cli/conform.h"

/* One that was made. */
struct made {
	char *path;
	char *pool, *volume; /* or these */
};

struct images {
	struct connection *connection; /* borrowed */
	struct made *made;
	size_t count;
	const struct policy_disk *raw; /* the first that was made raw, or NULL */
	sigset_t before;	       /* signals wait while this is open */
};

/* What is there of the disks of the policy: false and a report when one must not be made
 * and is not as asked. Nothing is made. */
bool images_check(struct conform *conform);

/* As images_check(), and makes those that are to be made: all, or none. Then, in any
 * case, images_done(); before it images_drop() when they are not needed after all. */
bool images_make(struct conform *conform, struct images *ret);
void images_drop(struct images *images);
void images_done(struct images *images);

#endif

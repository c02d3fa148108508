/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qemu-img, which knows what images are. */
#ifndef VMGEN_QEMU_IMG_H
#define VMGEN_QEMU_IMG_H

#include <stdint.h>

#include "base/diag.h"
#include "machine/supervise.h"

/* The size of the disk that the image at PATH is, read as FORMAT; a guest may use it
 * meanwhile. Never asks what format it looks like: a guest writes what it likes. False
 * and a report, also when it is none of that format. */
bool qemu_img_size(const char *path, const char *format, uint64_t *ret_size,
		   struct diag *diag);

struct qemu_img_create {
	int fd; /* of a file that is there and empty */
	const char *format;
	const char *preallocation; /* NULL: off */
	uint64_t size;
	const struct supervise_watch *watch;
};

/* False and a report that calls it PATH. */
bool qemu_img_create(const struct qemu_img_create *create, const char *path,
		     struct diag *diag);

#endif

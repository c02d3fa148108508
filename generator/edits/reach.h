/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of what may be edited: how far each edit reaches, and the first libvirt and
 * QEMU that have it. The hook, the migrate filter, apply and the version gates all read
 * it.
 */
#ifndef VMGEN_REACH_H
#define VMGEN_REACH_H

#include <stdbool.h>
#include <stdint.h>

enum reach {
	REACH_LIVE,	/* libvirt can change it in a running guest */
	REACH_ABI_SAFE, /* may change on restore and migration */
	REACH_COLD,	/* needs a fresh start */
};

struct reach_entry {
	const char
		*path; /* below <domain>: "cputune/vcpupin", "devices/disk/driver@io" */
	const char *value; /* the row is for this value only, or NULL */
	enum reach reach;
	uint64_t libvirt,
		qemu; /* first versions, version_parse(); 0: older than we ask */
};

/* The row for PATH with VALUE (may be NULL): the row of PATH itself, or of the nearest
 * element above it. Never NULL: what is not listed is cold. */
const struct reach_entry *reach_find(const char *path, const char *value);

/* PATH itself has a row. */
bool reach_listed(const char *path);

#endif

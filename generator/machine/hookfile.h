/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that libvirt runs as qemu hooks: which of them are vmgen's, and in what state. */
#ifndef VMGEN_HOOKFILE_H
#define VMGEN_HOOKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands in the hook's file, so that its version is known without running it. */
#define HOOKFILE_MARK "@(#)vmgen-hook "

struct hookfile {
	char *path;
	bool executable; /* else libvirt passes it by */
	bool safe;	 /* root's, and nobody else may write to it */
	bool is_static;	 /* an ELF file that needs no loader and no library */
	char *version;	 /* NULL: not vmgen's */
	uint64_t born;	 /* milliseconds since 1970: there under this name */
};

struct hookfiles {
	struct hookfile *items;
	size_t count;
};

#define cleanup_hookfiles cleanup(hookfiles_done)

/* DIRECTORY/qemu, and all in DIRECTORY/qemu.d, as libvirt takes them: regular files,
 * those that begin with a dot or end in "~" too. */
struct hookfiles hookfiles_find(const char *directory);
void hookfiles_done(struct hookfiles *files);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Versions of the programs that run guests here, asked of themselves. */
#ifndef VMGEN_PROGRAMS_H
#define VMGEN_PROGRAMS_H

#include <stdint.h>

/* version_parse(); 0: not installed, or it did not say within two seconds. */
struct programs {
	uint64_t libvirt, qemu;
};

/* ARCH as libvirt names it: QEMU is a program for each. */
struct programs programs_versions(const char *arch);

/* Where root's program NAME is installed, whatever PATH says, or NULL; the caller frees
 * it. */
char *programs_find(const char *name);

/* The first version in what a program printed, or 0. */
uint64_t programs_version_in(const char *output);

#endif

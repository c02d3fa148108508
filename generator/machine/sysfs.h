/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of proc and sys, where absence is an answer. */
#ifndef VMGEN_SYSFS_H
#define VMGEN_SYSFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/mem.h"

/* The file's text without the last newline, or NULL when it cannot be read; the caller
 * frees it. The path is formatted. */
char *sysfs_text(const char *format, ...) printf_like(1, 2);

/* A file of one number; a file of a CPU list, which may be empty. False when it cannot be
 * read or holds something else. */
bool sysfs_number(uint64_t *ret_number, const char *format, ...) printf_like(2, 3);
bool sysfs_cpus(struct cpuset *ret_set, const char *format, ...) printf_like(2, 3);

/* Names in a directory, sorted, without those that begin with a dot; NULL when there are
 * none. The caller frees each and the list. */
char **sysfs_list(size_t *ret_count, const char *format, ...) printf_like(2, 3);

#endif

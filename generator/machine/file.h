/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files read whole. */
#ifndef VMGEN_FILE_H
#define VMGEN_FILE_H

#include <sys/types.h>

#include "base/diag.h"

/*
 * The bytes of PATH ("-": standard input) with a NUL behind them; the caller frees them.
 * Only regular files (also through symbolic links) and standard input: a FIFO or a device
 * could hang or never end. NULL and a report when it cannot be read or holds more than
 * MAX bytes.
 */
char *file_read(const char *path, size_t max, size_t *ret_length, struct diag *diag);

/* As file_read(), of NAME in DIRECTORY, opened, and not through a symbolic link. SHOWN is
 * what reports call it. */
char *file_read_at(int directory, const char *name, const char *shown, size_t max,
		   size_t *ret_length, struct diag *diag);

/* All of TEXT; false with errno. */
bool file_write(int fd, const char *text);

/* NAME in DIRECTORY, opened, becomes TEXT, whole and on the disk, or stays what it was,
 * also when we are killed; with MODE as far as the umask lets it be. A symbolic link of
 * that name is replaced. False with errno. */
bool file_replace_at(int directory, const char *name, const char *text, mode_t mode);

/* Also through symbolic links. */
bool file_is_directory(const char *path);

#endif

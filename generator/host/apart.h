/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work in a process apart: for a library that hostile input can make crash, run for ever
 * or take all memory. What it then does, it does to that process.
 */
#ifndef VMGEN_HOST_APART_H
#define VMGEN_HOST_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Seconds of CPU time and bytes of memory that the work may take. */
enum { APART_SECONDS = 10 };
#define APART_BYTES ((size_t)2 << 30)

/*
 * Runs WORK, which prints to OUT, on DATA: *RET_OUTPUT is what it printed (the caller
 * frees it), the result what it yielded. *RET_OUTPUT is NULL when it did not come to an
 * end.
 */
bool apart(bool (*work)(void *data, FILE *out), void *data, char **ret_output);

#endif

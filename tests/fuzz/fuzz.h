/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fuzzing targets share. Each is one file that defines the function below:
 * linked with libFuzzer by `make fuzz`, with replay.c by `make check`.
 */
#ifndef VMGEN_FUZZ_H
#define VMGEN_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

/* One input; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As files are read: the bytes, and a NUL behind them. No byte more is to be had, so that
 * ASan sees who reads on. The caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = xcalloc(1, size + 1);

	if (size)
		memcpy(text, data, size);
	return text;
}

/* What must hold for any input. */
#define must(condition)                                                            \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
				#condition);                                       \
			abort();                                                   \
		}                                                                  \
	} while (0)

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that grows, and the few questions we ask of strings. */
#ifndef VMGEN_TEXT_H
#define VMGEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* A buffer that grows. TEXT_INIT or text_init() first; data is NUL-terminated whenever
 * anything was added, and NULL before. */
struct text {
	char *data;
	size_t length;
	size_t room;
};

#define TEXT_INIT          \
	{                  \
		NULL, 0, 0 \
	}
#define cleanup_text cleanup(text_done)

void text_done(struct text *text);
void text_add(struct text *text, const char *piece);
void text_add_bytes(struct text *text, const void *bytes, size_t count);
void text_add_number(struct text *text, unsigned long long number);
void text_printf(struct text *text, const char *format, ...) printf_like(2, 3);

/* The text as a string of its own, "" if nothing was added; the caller frees it and the
 * buffer is empty again. */
char *text_take(struct text *text);

/* Equal, where either may be NULL (NULL equals only NULL). */
bool text_equal(const char *a, const char *b);
bool text_starts(const char *text, const char *prefix);
/* Bytes of the byte order mark that TEXT begins with. It is of no line and no column. */
size_t text_mark(const char *text);

/* NUL-terminated TEXT with all of & < > ' " as XML entities; the caller frees it. */
char *text_escape_xml(const char *text);

/* The candidate nearest to WORD by edit distance, or NULL when none is near enough to be
 * a slip of the pen (a third of its length). CANDIDATES ends with NULL. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Strict decimal number without sign, space or leading "+"; false when TEXT is anything
 * else or does not fit. */
bool text_number(const char *text, unsigned long long *ret_number);

#endif

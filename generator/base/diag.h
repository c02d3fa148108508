/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong, where, and what to do about it.
 *
 * Whoever can fail takes a struct diag and returns false or NULL: who returns failure has
 * reported it, who receives failure passes it on. All are collected; main prints them
 * once.
 */
#ifndef VMGEN_DIAG_H
#define VMGEN_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"

/* A place in a file. Lines and columns count from 1; a column counts bytes. file NULL: no
 * place is known; line 0: the file as a whole. The name is borrowed. */
struct place {
	const char *file;
	unsigned line;
	unsigned column;
};

#define NOWHERE ((struct place){ NULL, 0, 0 })

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

/* One finding; the collector owns the strings, except rule, which is static. */
struct finding {
	enum diag_level level;
	char *file; /* NULL: no place */
	unsigned line, column;
	const char *rule;      /* id of the rule that was broken, or NULL */
	char *text;	       /* one sentence, no full stop, no newline */
	struct finding *notes; /* "first defined here" and the like */
	size_t n_notes;
};

struct diag {
	struct finding *findings;
	size_t count;
	size_t errors;
	size_t dropped; /* beyond DIAG_MAX findings nothing is kept but the count */
};

#define DIAG_MAX 1000
#define DIAG_INIT             \
	{                     \
		NULL, 0, 0, 0 \
	}
#define cleanup_diag cleanup(diag_done)

void diag_done(struct diag *diag);

/* Control characters in what is formatted are shown as \xNN; over-long text is cut. */
void diag_error(struct diag *diag, struct place place, const char *rule,
		const char *format, ...) printf_like(4, 5);
void diag_warning(struct diag *diag, struct place place, const char *rule,
		  const char *format, ...) printf_like(4, 5);

/* Adds to the finding reported last. */
void diag_note(struct diag *diag, struct place place, const char *format, ...)
	printf_like(3, 4);

/* All that FROM has goes to the end of TO. */
void diag_move(struct diag *to, struct diag *from);

/* In the order of files (as they were first named), lines and columns. */
void diag_sort(struct diag *diag);

/* `file:line:column: error: text [rule]`, notes below; COLOUR for a terminal. */
void diag_print(const struct diag *diag, FILE *stream, bool colour);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text that yaml.c parses: made fit for libyaml, and the places of its characters. */
#ifndef VMGEN_SOURCE_H
#define VMGEN_SOURCE_H

#include <stdbool.h>

#include "base/diag.h"

/* A character of the text; index counts characters, as libyaml's marks do. */
struct cursor {
	size_t index, offset;
	unsigned line, column;
};

struct source {
	const char *file; /* borrowed */
	char *text;	  /* without a byte order mark; every byte is libyaml's to read */
	size_t length;
	bool plain;	  /* printable ASCII and line feeds */
	struct cursor at; /* of the last place: the next one is seldom before it */
};

/* Nearly all characters. */
static inline bool source_plain(char c)
{
	return c >= ' ' && c <= '~';
}

/* Copies TEXT. What is no printable UTF-8 is reported and becomes question marks, so that
 * the rest can be read. False if the text as a whole is not to be read. */
bool source_init(struct source *source, const char *file, const char *text, size_t length,
		 struct diag *diag);
void source_done(struct source *source);

/* Of character INDEX, or of the end. In all linear when the indexes ascend. */
struct place source_place(struct source *source, size_t index);

/* Bytes of the UTF-8 character at AT, where LEFT bytes are; 0 when there is none or YAML
 * does not print it. */
size_t source_character(const char *at, size_t left);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A domain XML document: its text, and a tree of elements that know their bytes.
 *
 * The text is never dumped from the tree: changes are spliced into it at the elements'
 * spans and every other byte stays what it was (splice.h). Parsed by libxml2's SAX2
 * interface. Refused: DOCTYPE (and with it every entity attack), encodings other than
 * UTF-8, a root other than <domain>, and what is beyond the limits below.
 */
#ifndef VMGEN_DOC_H
#define VMGEN_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "guest/element.h"

enum {
	/* libvirt takes 4 MiB over its wire (REMOTE_STRING_MAX), 10 MB from a file. */
	DOC_BYTES = 10 << 20,
	/* libxml2's own limit (xmlParserMaxDepth), older versions. */
	DOC_DEPTH = 256,
	/* Of one element, and namespaces in scope: libxml2 2.9 compares each with each.
	 */
	DOC_ATTRIBUTES = 256,
};

struct doc {
	char *file;
	char *text; /* NUL-terminated, and no other NUL in it */
	size_t length;
	struct element *root; /* <domain> */
	void *namespaces;     /* the URIs that elements point at */
};

#define cleanup_doc cleanup(doc_free_pointer)

/* TEXT is copied. NULL and a report when it is refused. */
struct doc *doc_parse(const char *file, const char *text, size_t length,
		      struct diag *diag);
void doc_free(struct doc *doc);
void doc_free_pointer(struct doc **doc);

/* The place of a byte of the text. */
struct place doc_place(const struct doc *doc, size_t offset);

/* The child NAME of PARENT, made fresh (attached, not in the text) if there is none. */
struct element *doc_need(struct element *parent, const char *name);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A domain XML document: its text, and a tree of elements that know their bytes.
 *
 * The text is never dumped from the tree: changes are spliced into it at the elements'
 * spans and every other byte stays what it was (splice.h). Parsed by libxml2's SAX2
 * interface. Refused: DOCTYPE (and with it every entity attack), encodings other than
 * UTF-8, a root other than <domain>, nesting beyond DOC_DEPTH, more than DOC_BYTES bytes.
 */
#ifndef VMGEN_DOC_H
#define VMGEN_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum { DOC_DEPTH = 256, DOC_BYTES = 64 << 20 };

struct attribute {
	char *name; /* with its prefix, as written */
	char *value; /* entities resolved, whitespace normalised */
	size_t start, end; /* in the text: from the space before the name to the end quote */
	size_t value_start, value_end; /* what stands between the quotes */
};

struct element {
	char *name; /* local name */
	const char *ns; /* namespace URI, or NULL; owned by the document */
	struct attribute *attributes;
	size_t n_attributes;
	char *text; /* its own character data, joined, entities resolved; "" if none */
	struct element *parent, *next; /* next: sibling */
	struct element *first, *last; /* children */
	/* Bytes: [start, open_end) is the start tag, [close_start, end) the end tag; all
	 * inside [start, end). For <x/> open_end = close_start = end. */
	size_t start, open_end, close_start, end;
	bool fresh; /* not in the text: made with doc_need() or element_new() */
	struct place place;
};

struct doc {
	char *file;
	char *text;
	size_t length;
	struct element *root; /* <domain> */
	char **namespaces; /* URIs that elements point at */
	size_t n_namespaces;
};

#define cleanup_doc cleanup(doc_free_pointer)

struct doc *doc_parse(const char *file, const char *text, size_t length,
		      struct diag *diag);
void doc_free(struct doc *doc);
void doc_free_pointer(struct doc **doc);

/* for each child of PARENT (may be NULL) that has this NAME and no namespace; NAME NULL:
 * each child */
#define element_foreach(child, parent, name)                                             \
	for (struct element *child = element_child((parent), (name)); child;             \
	     child = element_next(child, (name)))

/* Children without a namespace only; all take NULL for an element and then yield NULL. */
struct element *element_child(const struct element *parent, const char *name);
struct element *element_next(const struct element *element, const char *name);
/* "cpu/numa/cell": the first at each step. */
struct element *element_find(const struct element *from, const char *path);
struct element *element_child_ns(const struct element *parent, const char *ns,
				 const char *name);
/* The attribute's value or NULL. */
const char *element_attribute(const struct element *element, const char *name);
const struct attribute *element_attribute_find(const struct element *element,
					       const char *name);
/* Its text without space around it, or NULL for NULL; the caller frees it. */
char *element_text(const struct element *element);
/* "domain/devices/interface": names from the root down; the caller frees it. */
char *element_path(const struct element *element);

/* The child NAME of PARENT, made fresh (attached, not in the text) if there is none. */
struct element *doc_need(struct element *parent, const char *name);

/* A fresh element, not attached. Ownership goes to whoever attaches it. */
struct element *element_new(const char *name);
void element_set(struct element *fresh, const char *name, const char *value);
void element_set_text(struct element *fresh, const char *text);
struct element *element_add(struct element *fresh, struct element *child);
void element_free(struct element *element);

#endif

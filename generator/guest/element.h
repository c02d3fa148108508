/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elements of a document: those that stand in its text know their bytes, fresh ones are
 * made to be put there (splice.h).
 */
#ifndef VMGEN_ELEMENT_H
#define VMGEN_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct attribute {
	char *name;  /* with its prefix, as written; namespace declarations too */
	char *value; /* entities resolved, whitespace normalised */
	size_t start,
		end; /* in the text: from the space before the name to the end quote */
	size_t value_start, value_end; /* what stands between the quotes */
};

struct element {
	char *name; /* local name; with its prefix if that is declared nowhere, or fresh
		     */
	const char *ns; /* namespace URI, or NULL; owned by the document */
	struct attribute *attributes;
	size_t n_attributes;
	char *text; /* its own character data, joined, entities resolved; "" if none */
	struct element *parent, *next; /* next: sibling */
	struct element *first, *last;  /* children */
	/* Bytes: [start, open_end) is the start tag, [close_start, end) the end tag; all
	 * inside [start, end). For <x/> open_end = close_start = end. */
	size_t start, open_end, close_start, end;
	bool fresh; /* not in the text: made with doc_need() or element_new() */
	struct place place;
};

/* for each child of PARENT (may be NULL) that has this NAME and no namespace; NAME NULL:
 * each child */
#define element_foreach(child, parent, name)                                 \
	for (struct element *child = element_child((parent), (name)); child; \
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

/* A fresh element, not attached. Ownership goes to whoever attaches it. */
struct element *element_new(const char *name);
void element_set(struct element *fresh, const char *name, const char *value);
void element_set_text(struct element *fresh, const char *text);
/* Puts CHILD last below PARENT, which owns it from now on; yields CHILD. */
struct element *element_add(struct element *parent, struct element *child);
/* With all below it. */
void element_free(struct element *element);

/* A fresh element as XML on one line, for people; the caller frees it. */
char *element_format(const struct element *element);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes to a document, and the text with them made: splices into the old text, so that
 * every byte that no change speaks of is what it was.
 */
#ifndef VMGEN_SPLICE_H
#define VMGEN_SPLICE_H

#include "guest/doc.h"

enum change_kind {
	CHANGE_ATTRIBUTE, /* name = value; value NULL: the attribute goes */
	CHANGE_CONTENT,	  /* value is all that stands inside the element from now on */
	CHANGE_CHILD,	  /* child is added below element */
	CHANGE_REMOVE,	  /* element goes, with the white space before it */
};

/* Element is in the text, or fresh and attached (doc_need): such containers appear in the
 * output when something is put below them, and only then. Strings and child are owned by
 * whoever owns the change. Values are UTF-8 without the control characters that XML
 * cannot hold. */
struct change {
	enum change_kind kind;
	struct element *element;
	char *name;
	char *value;
	struct element *child;
};

void change_done(struct change *change);

/*
 * The text with COUNT changes made, in any order; the caller frees it. New elements stand
 * where libvirt itself would print them (order.h) and are indented as their neighbours
 * are; where there is no white space between elements none is added. A trailing comment
 * on its line belongs to an element when others are put behind it, and stays when it
 * goes. An element that loses the last of what it holds becomes <x/>. What is changed in
 * a removed element is lost with it. At most one change for each attribute and content.
 */
char *splice(const struct doc *doc, const struct change *const *changes, size_t count);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes want of an element: found by element, and put together for fresh ones. */
#ifndef VMGEN_CHANGES_H
#define VMGEN_CHANGES_H

#include "guest/splice.h"

struct numbered {
	const struct change *change;
	size_t number; /* as given */
};

/* Sorted by element, those of one element as given. */
struct changes {
	struct numbered *items;
	size_t count;
};

/* The children that an element shall have: those in the text, and new ones among them. */
struct slots {
	struct element **items;
	size_t count, n_new;
};

#define cleanup_slots cleanup(slots_done)

void changes_init(struct changes *changes, const struct change *const *items,
		  size_t count);
void changes_done(struct changes *changes);

/* Those of ELEMENT; part of ALL. */
struct changes changes_of(const struct changes *all, const struct element *element);
/* The first of KIND, or NULL. NAME matters for attributes only. */
const struct change *changes_find(struct changes changes, enum change_kind kind,
				  const char *name);

/* KEEP: with the children that are in the text. */
struct slots slots_of(const struct changes *all, const struct element *element,
		      bool keep);
void slots_done(struct slots *slots);

/* A copy of a fresh element with the changes made; the caller frees it. ATTACHED: of what
 * is below it only what is changed; else all. */
struct element *composed(const struct changes *all, const struct element *fresh,
			 bool attached);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes want of an element: found by element, and put together for fresh ones. */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "guest/order.h"
#include "guest/changes.h"

void slots_done(struct slots *slots)
{
	free(slots->items);
}

static int by_element(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	uintptr_t x = (uintptr_t)a->change->element, y = (uintptr_t)b->change->element;

	if (x != y)
		return x < y ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

void changes_init(struct changes *changes, const struct change *const *items,
		  size_t count)
{
	*changes = (struct changes){ xcalloc(count, sizeof(*changes->items)), count };
	for (size_t i = 0; i < count; i++)
		changes->items[i] = (struct numbered){ items[i], i };
	qsort(changes->items, count, sizeof(*changes->items), by_element);
}

void changes_done(struct changes *changes)
{
	free(changes->items);
}

struct changes changes_of(const struct changes *all, const struct element *element)
{
	struct numbered *items = all->items;
	size_t low = 0, high = all->count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)items[middle].change->element < (uintptr_t)element)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < all->count; end++)
		if (items[end].change->element != element)
			break;
	return (struct changes){ items + low, end - low };
}

const struct change *changes_find(struct changes changes, enum change_kind kind,
				  const char *name)
{
	for (size_t i = 0; i < changes.count; i++) {
		const struct change *change = changes.items[i].change;

		if (change->kind == kind &&
		    (kind != CHANGE_ATTRIBUTE || text_equal(change->name, name)))
			return change;
	}
	return NULL;
}

/* Whether a fresh element has anything to appear for. */
static bool appears(const struct changes *all, const struct element *fresh)
{
	struct changes changes = changes_of(all, fresh);

	if (changes_find(changes, CHANGE_REMOVE, NULL))
		return false;
	for (size_t i = 0; i < changes.count; i++)
		if (changes.items[i].change->kind == CHANGE_CHILD ||
		    changes.items[i].change->value)
			return true;
	element_foreach (child, fresh, NULL)
		if (child->fresh && appears(all, child))
			return true;
	return false;
}

static void slots_add(struct slots *slots, const struct element *parent,
		      struct element *child)
{
	size_t at = order_index(parent->name, slots->items, slots->count, child);

	(void)append(slots->items, slots->count);
	for (size_t i = slots->count - 1; i > at; i--)
		slots->items[i] = slots->items[i - 1];
	slots->items[at] = child;
	slots->n_new++;
}

struct slots slots_of(const struct changes *all, const struct element *element, bool keep)
{
	struct slots slots = { NULL, 0, 0 };
	struct changes changes = changes_of(all, element);

	element_foreach (child, element, NULL)
		if (keep && !child->fresh)
			*append(slots.items, slots.count) = child;
	element_foreach (child, element, NULL)
		if (child->fresh && appears(all, child))
			slots_add(&slots, element, child);
	for (size_t i = 0; i < changes.count; i++)
		if (changes.items[i].change->kind == CHANGE_CHILD)
			slots_add(&slots, element, changes.items[i].change->child);
	return slots;
}

struct element *composed(const struct changes *all, const struct element *fresh,
			 bool attached)
{
	struct element *copy = element_new(fresh->name);
	struct changes changes = changes_of(all, fresh);

	element_set_text(copy, fresh->text);
	for (size_t i = 0; i < fresh->n_attributes; i++)
		if (!changes_find(changes, CHANGE_ATTRIBUTE, fresh->attributes[i].name))
			element_set(copy, fresh->attributes[i].name,
				    fresh->attributes[i].value);
	for (size_t i = 0; i < changes.count; i++) {
		const struct change *change = changes.items[i].change;

		if (change->kind == CHANGE_ATTRIBUTE && change->value)
			element_set(copy, change->name, change->value);
		if (change->kind == CHANGE_CONTENT)
			element_set_text(copy, change->value);
	}
	if (!attached) {
		element_foreach (child, fresh, NULL)
			element_add(copy, composed(all, child, false));
		return copy;
	}
	cleanup_slots struct slots slots = slots_of(all, fresh, false);
	for (size_t i = 0; i < slots.count; i++)
		element_add(copy, composed(all, slots.items[i],
					   slots.items[i]->parent == fresh));
	return copy;
}

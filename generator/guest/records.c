/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data disks that were made for a guest, as its metadata remembers them. */
#include "base/text.h"
#include "guest/records.h"

struct element *records(const struct guest *guest)
{
	return element_child_ns(element_child(guest->domain, "metadata"), RECORDS_NS,
				"disks");
}

/* ELEMENT or the first sibling after it that is a record. */
static struct element *record_from(struct element *element)
{
	while (element && !(text_equal(element->ns, RECORDS_NS) &&
			    text_equal(element->name, "disk")))
		element = element->next;
	return element;
}

struct element *records_first(const struct guest *guest)
{
	const struct element *all = records(guest);

	return all ? record_from(all->first) : NULL;
}

struct element *records_next(const struct element *record)
{
	return record_from(record->next);
}

struct element *records_find(const struct guest *guest, const char *name)
{
	struct element *record = records_first(guest);

	while (record && !text_equal(element_attribute(record, "name"), name))
		record = records_next(record);
	return record;
}

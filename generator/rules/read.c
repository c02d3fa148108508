/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How rules read attributes. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/read.h"

struct place read_place(const struct guest *guest, const struct element *element,
			const char *name)
{
	const struct attribute *attribute = element_attribute_find(element, name);
	struct place place = element->place;
	const char *text = guest->doc->text;

	if (!attribute || element->fresh)
		return place;
	/* The span begins with the space before the name. */
	for (size_t i = element->start;
	     i < attribute->start || (i < attribute->end && strchr(" \t\r\n", text[i]));
	     i++) {
		place.column++;
		if (text[i] == '\n') {
			place.line++;
			place.column = 1;
		}
	}
	return place;
}

bool read_number(const struct element *element, const char *name,
		 unsigned long long *ret_number)
{
	const char *text = element_attribute(element, name);

	return text && text_number(text, ret_number);
}

bool read_cpus(const struct element *element, const char *name, struct cpuset *ret_cpus)
{
	const char *text = element_attribute(element, name);

	return text && cpuset_parse(text, ret_cpus, NULL, NULL);
}

bool read_is(const struct element *element, const char *name, const char *value)
{
	const char *text = element_attribute(element, name);

	return text && text_equal(text, value);
}

bool read_size(const struct element *element, const char *name, uint64_t *ret_bytes)
{
	unsigned long long number;

	return read_number(element, name, &number) &&
	       size_scale(number, element_attribute(element, "unit"), ret_bytes);
}

bool read_content(const struct element *element, unsigned long long *ret_number)
{
	cleanup_free char *text = element_text(element);

	return text && text_number(text, ret_number);
}

uint64_t read_content_size(const struct element *element)
{
	unsigned long long number;
	uint64_t bytes;

	if (!read_content(element, &number) ||
	    !size_scale(number, element_attribute(element, "unit"), &bytes))
		return 0;
	return bytes;
}

void read_each(const struct element *from, const char *path,
	       void (*visit)(const struct element *element, void *context), void *context)
{
	size_t length = strcspn(path, "/");

	if (!*path) {
		visit(from, context);
		return;
	}
	cleanup_free char *name = xstrndup(path, length);

	element_foreach (child, from, name)
		read_each(child, path + length + (path[length] == '/'), visit, context);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers, sizes and CPU lists of a domain XML, as libvirt reads them. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/value.h"

struct value value_text(const struct element *element)
{
	return (struct value){ element ? element->text : NULL, element, NULL };
}

struct value value_attribute(const struct element *element, const char *attribute)
{
	return (struct value){ element_attribute(element, attribute), element,
			       attribute };
}

bool value_wrong(const struct reader *reader, struct value value, const char *instead)
{
	const struct attribute *attribute = value.attribute ? element_attribute_find(
								      value.element,
								      value.attribute)
							    : NULL;
	struct place place = attribute ? doc_place(reader->doc, attribute->value_start)
				       : value.element->place;
	cleanup_free char *what = value.attribute
					  ? xasprintf("%s of <%s>", value.attribute,
						      value.element->name)
					  : xasprintf("<%s>", value.element->name);

	if (value.text)
		diag_error(reader->diag, place, NULL, "%s is \"%s\"; %s", what,
			   value.text, instead);
	else
		diag_error(reader->diag, place, NULL, "%s is missing; %s", what, instead);
	return false;
}

/* libvirt reads numbers by strtoull, which allows space before them and a plus; we allow
 * space behind them too, as its schema does. */
static bool parse_number(const char *text, unsigned long long *ret_number)
{
	text += strspn(text, " \t\r\n");
	size_t length = strcspn(text, " \t\r\n");
	if (text[length + strspn(text + length, " \t\r\n")])
		return false;
	cleanup_free char *digits = xstrndup(text, length);
	return text_number(digits + (*digits == '+'), ret_number);
}

bool value_number(const struct reader *reader, struct value value, unsigned min,
		  unsigned max, unsigned *ret_number)
{
	unsigned long long number;

	if (!value.text || !parse_number(value.text, &number) || number < min ||
	    number > max) {
		cleanup_free char *instead = xasprintf("a number from %u to %u goes here",
						       min, max);
		return value_wrong(reader, value, instead);
	}
	*ret_number = (unsigned)number;
	return true;
}

bool value_optional(const struct reader *reader, struct value value, unsigned min,
		    unsigned max, unsigned *number)
{
	return !value.text || value_number(reader, value, min, max, number);
}

bool value_size(const struct reader *reader, struct value value, const char *unit,
		uint64_t *ret_bytes)
{
	unsigned long long number;

	if (unit && !*unit)
		unit = NULL;
	if (unit && !strcasecmp(unit, "byte"))
		unit = "bytes";
	if (!value.text || !parse_number(value.text, &number))
		return value_wrong(reader, value, "a whole number goes here");
	if (!size_scale(number, unit, ret_bytes) || *ret_bytes > INT64_MAX) {
		cleanup_free char *instead = xasprintf(
			"with the unit %s that is no size in memory",
			unit ? unit : "KiB");
		return value_wrong(reader, value, instead);
	}
	*ret_bytes = (*ret_bytes + KIB - 1) / KIB * KIB;
	return true;
}

/* libvirt allows spaces in a list, and a comma at its end; cpuset_parse() does not. A
 * space between digits stays, to be refused. */
static char *tidy_list(const char *list)
{
	struct text out = TEXT_INIT;

	for (; *list; list++) {
		size_t space = strspn(list, " \t\r\n");
		bool digits = out.length && isdigit((unsigned char)list[space]) &&
			      isdigit((unsigned char)out.data[out.length - 1]);

		if (space && !digits)
			list += space;
		if (!*list)
			break;
		text_add_bytes(&out, list, 1);
	}
	if (out.length && out.data[out.length - 1] == ',')
		out.data[out.length - 1] = '\0';
	return text_take(&out);
}

bool value_cpus(const struct reader *reader, struct value value, struct cpuset *ret_set)
{
	const char *error;

	if (!value.text)
		return value_wrong(reader, value, "a list of CPUs goes here, like 1-3,7");
	cleanup_free char *list = tidy_list(value.text);
	if (cpuset_parse(list, ret_set, &error, NULL))
		return true;
	return value_wrong(reader, value, error);
}

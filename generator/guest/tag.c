/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a tag. */
#include <string.h>

#include "guest/tag.h"

static size_t skip_until(const char *text, size_t at, size_t limit, const char *end)
{
	while (at < limit && !strchr(end, text[at]))
		at++;
	return at;
}

size_t tag_skip_space(const char *text, size_t at, size_t limit)
{
	while (at < limit && text[at] && strchr(" \t\r\n", text[at]))
		at++;
	return at;
}

size_t tag_skip_name(const char *text, size_t at, size_t limit)
{
	return skip_until(text, at, limit, " \t\r\n/>");
}

bool tag_attribute_next(const char *text, size_t *at, size_t limit,
			struct tag_attribute *ret_attribute)
{
	size_t name = tag_skip_space(text, *at, limit);
	size_t name_end = skip_until(text, name, limit, " \t\r\n=");
	size_t quote = tag_skip_space(text, name_end, limit);

	if (name_end == name || quote == limit || text[quote] != '=')
		return false;
	quote = tag_skip_space(text, quote + 1, limit);
	if (quote == limit || (text[quote] != '\'' && text[quote] != '"'))
		return false;
	size_t value = quote + 1;
	const char *close = memchr(text + value, text[quote], limit - value);
	if (!close)
		return false;
	size_t value_end = (size_t)(close - text);
	*ret_attribute = (struct tag_attribute){
		*at, value_end + 1, name, name_end, value, value_end,
	};
	*at = value_end + 1;
	return true;
}

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

static bool starts(const char *text, size_t at, size_t limit, const char *with)
{
	size_t length = strlen(with);

	return limit - at >= length && memcmp(text + at, with, length) == 0;
}

/* Behind END, or LIMIT. */
static size_t skip_past(const char *text, size_t at, size_t limit, const char *end)
{
	const char *found = memmem(text + at, limit - at, end, strlen(end));

	return found ? (size_t)(found - text) + strlen(end) : limit;
}

/* AT is the "<" of something that is no tag. */
static size_t skip_other(const char *text, size_t at, size_t limit)
{
	if (starts(text, at, limit, "<!--"))
		return skip_past(text, at + 4, limit, "-->");
	if (starts(text, at, limit, "<![CDATA["))
		return skip_past(text, at, limit, "]]>");
	return starts(text, at, limit, "<?") ? skip_past(text, at, limit, "?>") : limit;
}

/* The ">" that is between no quotes, or LIMIT. */
static size_t find_close(const char *text, size_t at, size_t limit)
{
	for (; at < limit && text[at] != '>'; at++) {
		if (text[at] != '"' && text[at] != '\'')
			continue;
		const char *quote = memchr(text + at + 1, text[at], limit - at - 1);
		if (!quote)
			return limit;
		at = (size_t)(quote - text);
	}
	return at;
}

bool tag_next(const char *text, size_t *at, size_t limit, struct tag *ret_tag)
{
	const char *open;

	while ((open = memchr(text + *at, '<', limit - *at))) {
		size_t start = (size_t)(open - text), close;
		bool ends = starts(text, start, limit, "</");

		if (starts(text, start, limit, "<!") ||
		    starts(text, start, limit, "<?")) {
			*at = skip_other(text, start, limit);
			continue;
		}
		close = find_close(text, start, limit);
		*at = close == limit ? limit : close + 1;
		if (close == limit)
			return false;
		*ret_tag = (struct tag){
			.kind = ends			 ? TAG_END
				: text[close - 1] == '/' ? TAG_EMPTY
							 : TAG_START,
			.start = start,
			.end = close + 1,
			.name = start + (ends ? 2 : 1),
		};
		return true;
	}
	return false;
}

bool tag_is_named(const char *text, const struct tag *tag, const char *name)
{
	size_t end = tag->name + strlen(name);

	return starts(text, tag->name, tag->end, name) && end < tag->end &&
	       tag_skip_name(text, end, end + 1) == end;
}

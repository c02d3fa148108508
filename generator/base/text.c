/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that grows, and the few questions we ask of strings. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void text_done(struct text *text)
{
	free(text->data);
	*text = (struct text)TEXT_INIT;
}

static void text_reserve(struct text *text, size_t more)
{
	size_t need = text->length + more + 1;

	if (need <= text->room)
		return;
	text->room = need < 64 ? 64 : need * 2;
	text->data = xreallocarray(text->data, text->room, 1);
}

void text_add_bytes(struct text *text, const void *bytes, size_t count)
{
	text_reserve(text, count);
	memcpy(text->data + text->length, bytes, count);
	text->length += count;
	text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *piece)
{
	text_add_bytes(text, piece, strlen(piece));
}

/* Claims are numbers for the most part; printf() takes ten times as long. */
void text_add_number(struct text *text, unsigned long long number)
{
	char digits[20], *end = digits + sizeof(digits), *at = end;

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	text_add_bytes(text, at, (size_t)(end - at));
}

/* Most of the time there is room, and it is printed once. */
void text_printf(struct text *text, const char *format, ...)
{
	size_t room = text->room - text->length;
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(room ? text->data + text->length : NULL, room, format,
			       arguments);
	va_end(arguments);
	if (length < 0)
		abort();
	if ((size_t)length >= room) {
		text_reserve(text, (size_t)length);
		va_start(arguments, format);
		vsnprintf(text->data + text->length, (size_t)length + 1, format,
			  arguments);
		va_end(arguments);
	}
	text->length += (size_t)length;
}

char *text_take(struct text *text)
{
	char *data = text->data ? text->data : xstrdup("");

	*text = (struct text)TEXT_INIT;
	return data;
}

bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

size_t text_mark(const char *text)
{
	static const char mark[] = "\xef\xbb\xbf";

	return text_starts(text, mark) ? strlen(mark) : 0;
}

static const char *entity(char character)
{
	switch (character) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '\'':
		return "&apos;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

char *text_escape_xml(const char *text)
{
	struct text out = TEXT_INIT;

	for (; *text; text++) {
		const char *name = entity(*text);

		if (name)
			text_add(&out, name);
		else
			text_add_bytes(&out, text, 1);
	}
	return text_take(&out);
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein distance of words of fewer than 64 characters. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; *a; i++, a++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1,
				       diagonal + (*a != b[j - 1]));
			diagonal = above;
		}
	}
	return row[length];
}

const char *text_nearest(const char *word, const char *const *candidates)
{
	size_t length = strlen(word), best = length / 3 + 1;
	const char *nearest = NULL;

	for (; length < 63 && *candidates; candidates++) {
		size_t d = strlen(*candidates) < 63 ? distance(word, *candidates) : 63;

		if (d < best) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}

bool text_number(const char *text, unsigned long long *ret_number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*ret_number = number;
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text that is parsed: UTF-8, and lines and columns in it. */
#include <stdint.h>
#include <string.h>

#include "policy/source.h"
#include "policy/yaml.h"

/* A binary file has a bad byte on every line; these many lines tell as much. */
enum { BAD_LINES = 10 };

static const struct cursor first = { 0, 0, 1, 1 };

/* What LEAD, the first byte of a character, says of its length. */
static size_t width_of(unsigned char lead)
{
	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

static bool printed(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r' ||
	       (code >= ' ' && code <= '~') || code == 0x85 ||
	       (code >= 0xa0 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd) ||
	       (code >= 0x10000 && code <= 0x10ffff);
}

size_t source_character(const char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char lead = (unsigned char)*at;

	if (lead < 0x80)
		return printed(lead);
	size_t width = width_of(lead);
	if (width == 1 || lead > 0xf4 || width > left)
		return 0;
	uint32_t code = lead & (0x7fU >> width);
	for (size_t i = 1; i < width; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code >= least[width] && printed(code) ? width : 0;
}

/* One good character on; a line ends with CR, LF or both. */
static void step(const struct source *source, struct cursor *at)
{
	char c = source->text[at->offset];

	if (source_plain(c)) {
		at->offset++;
		at->index++;
		at->column++;
		return;
	}
	size_t width = width_of((unsigned char)c), next = at->offset + width;
	bool crlf = c == '\r' && next < source->length && source->text[next] == '\n';
	bool breaks = c == '\n' || (c == '\r' && !crlf);

	at->column = breaks ? 1 : at->column + (unsigned)width;
	at->line += breaks;
	at->index++;
	at->offset = next;
}

struct place source_place(struct source *source, size_t index)
{
	if (index < source->at.index)
		source->at = first;
	while (source->at.index < index && source->at.offset < source->length)
		step(source, &source->at);
	return (struct place){ source->file, source->at.line, source->at.column };
}

static bool is_plain(const struct source *source)
{
	for (size_t i = 0; i < source->length; i++)
		if (!source_plain(source->text[i]) && source->text[i] != '\n')
			return false;
	return true;
}

static void clean(struct source *source, struct diag *diag)
{
	if ((source->plain = is_plain(source)))
		return;
	unsigned last_line = 0, bad_lines = 0;

	for (struct cursor at = first; at.offset < source->length; step(source, &at)) {
		char *here = &source->text[at.offset];
		struct place place = { source->file, at.line, at.column };

		if (source_plain(*here) ||
		    source_character(here, source->length - at.offset))
			continue;
		if (at.line != last_line && bad_lines++ < BAD_LINES)
			diag_error(diag, place, NULL,
				   "byte 0x%02x is no printable UTF-8 text",
				   (unsigned)(unsigned char)*here);
		last_line = at.line;
		*here = '?';
	}
}

static bool begins(const char *text, size_t length, const char *with)
{
	size_t count = strlen(with);

	return length >= count && memcmp(text, with, count) == 0;
}

bool source_init(struct source *source, const char *file, const char *text, size_t length,
		 struct diag *diag)
{
	size_t skip = begins(text, length, "\xef\xbb\xbf") ? 3 : 0;

	*source = (struct source){ .file = file, .at = first };
	if (length > YAML_BYTES) {
		diag_error(diag, (struct place){ file, 0, 0 }, NULL,
			   "the file has %zu bytes, more than the %d that are read",
			   length, YAML_BYTES);
		return false;
	}
	if (begins(text, length, "\xff\xfe") || begins(text, length, "\xfe\xff")) {
		diag_error(diag, (struct place){ file, 1, 1 }, NULL,
			   "the file is in UTF-16; save it as UTF-8");
		return false;
	}
	source->length = length - skip;
	source->text = xmalloc(source->length);
	if (source->length)
		memcpy(source->text, text + skip, source->length);
	clean(source, diag);
	return true;
}

void source_done(struct source *source)
{
	free(source->text);
}

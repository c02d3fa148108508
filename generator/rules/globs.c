/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patterns are read into parts, and all pairs of a part of one and a part of the other
 * that a common name can reach are walked through, each once. */
#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "rules/globs.h"

/* What one byte of a name may be, or with STAR any number of bytes. */
struct part {
	bool star;
	uint64_t bytes[4];
};

struct glob {
	size_t count;
	struct part parts[];
};

static bool has(const struct part *part, unsigned char byte)
{
	return part->bytes[byte / 64] >> byte % 64 & 1;
}

static void add(struct part *part, unsigned char byte)
{
	part->bytes[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* The length of the [ ] that PATTERN begins with; 0: not one that is looked at. */
static size_t bracket(const char *pattern)
{
	size_t at = 1;

	if (pattern[at] == '!' || pattern[at] == '^')
		at++;
	for (size_t first = at; pattern[at] && (pattern[at] != ']' || at == first);
	     at++) {
		if (pattern[at] == '[' && pattern[at + 1] &&
		    strchr(":=.", pattern[at + 1]))
			return 0;
		if (pattern[at] == '\\' && !pattern[++at])
			return 0;
	}
	return pattern[at] ? at + 1 : 0;
}

/* fnmatch() itself says which bytes the first LENGTH bytes of PATTERN match. */
static bool read_bracket(const char *pattern, size_t length, struct part *part)
{
	char alone[4 * GLOB_PARTS];

	if (!length || length >= sizeof(alone))
		return false;
	memcpy(alone, pattern, length);
	alone[length] = '\0';
	for (unsigned byte = 1; byte < 256; byte++)
		if (fnmatch(alone, (char[]){ (char)byte, '\0' }, 0) == 0)
			add(part, (unsigned char)byte);
	return true;
}

/* The length of what becomes PART; 0: it is none. */
static size_t read_part(const char *pattern, struct part *part)
{
	size_t length = *pattern == '[' ? bracket(pattern) : 1;

	*part = (struct part){ .star = *pattern == '*' };
	if (*pattern == '[')
		return read_bracket(pattern, length, part) ? length : 0;
	if (*pattern == '?')
		memset(part->bytes, 0xff, sizeof(part->bytes));
	else if (*pattern == '\\')
		length = *++pattern ? 2 : 0;
	if (*pattern != '?' || length == 2)
		add(part, (unsigned char)*pattern);
	return length;
}

static bool spend(size_t *steps, size_t cost)
{
	*steps = *steps > cost ? *steps - cost : 0;
	return *steps;
}

struct glob *glob_read(const char *pattern, size_t *steps)
{
	enum { BRACKET = 1000 }; /* fnmatch() of all bytes */
	struct part parts[GLOB_PARTS];
	size_t count = 0, length = 0;

	for (; *pattern; pattern += length, count++)
		if (count == GLOB_PARTS || !spend(steps, *pattern == '[' ? BRACKET : 1) ||
		    !(length = read_part(pattern, &parts[count])))
			return NULL;
	struct glob *glob = xcalloc(1, sizeof(*glob) + count * sizeof(*parts));

	glob->count = count;
	memcpy(glob->parts, parts, count * sizeof(*parts));
	return glob;
}

struct meeting {
	const struct glob *a, *b;
	bool seen[GLOB_PARTS + 1][GLOB_PARTS + 1];
	size_t *steps;
	char *sample;
};

/* A byte that both may be, letters before all others, or 0. */
static char common(const struct part *a, const struct part *b)
{
	struct part both = { .star = false };
	uint64_t any = 0;

	for (size_t i = 0; i < ARRAY_SIZE(both.bytes); i++) {
		both.bytes[i] = (a->star ? UINT64_MAX : a->bytes[i]) &
				(b->star ? UINT64_MAX : b->bytes[i]);
		any |= both.bytes[i];
	}
	for (unsigned i = 0; any && i < 256; i++)
		if ('a' + i != 256 && has(&both, (unsigned char)('a' + i)))
			return (char)('a' + i);
	return '\0';
}

static bool walk(struct meeting *meeting, size_t a, size_t b, size_t length)
{
	const struct part *one = &meeting->a->parts[a], *other = &meeting->b->parts[b];
	bool end_a = a == meeting->a->count, end_b = b == meeting->b->count;

	meeting->sample[length] = '\0';
	if (meeting->seen[a][b] || !spend(meeting->steps, 1))
		return false;
	meeting->seen[a][b] = true;
	if (end_a && end_b)
		return true;
	if (!end_a && one->star && walk(meeting, a + 1, b, length))
		return true;
	if (!end_b && other->star && walk(meeting, a, b + 1, length))
		return true;
	if (end_a || end_b || (one->star && other->star) ||
	    !(meeting->sample[length] = common(one, other)))
		return false;
	return walk(meeting, a + !one->star, b + !other->star, length + 1);
}

bool globs_meet(const struct glob *a, const struct glob *b, size_t *steps,
		char ret_sample[static GLOB_SAMPLE])
{
	struct meeting meeting = { .a = a, .b = b, .steps = steps, .sample = ret_sample };

	return walk(&meeting, 0, 0, 0);
}

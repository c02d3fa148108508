/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patterns meet where fnmatch() finds a name for both, among all short ones. */
#include <fnmatch.h>

#include "base/mem.h"
#include "random.h"
#include "rules/globs.h"
#include "tap.h"

enum { ROUNDS = 40000, LONGEST = 4, STEPS = 100000 };

/* Those that do not end come last, and are rare. */
static const char *const pieces[] = {
	"a",	 "b",	 "-",	 "*",	"?",   "[ab]",	"[!a]",	 "[^b]",
	"[a-]",	 "[]a]", "[!]]", "\\*", "\\a", "[a-b]", "[\\]]", "[[a]",
	"[b-a]", "]",	 "[",	 "[!",	"\\",  "[]",	"[a\\",	 "[[:alpha:]]",
};

static void any_pattern(char pattern[static 128])
{
	size_t choice = below(10) ? ARRAY_SIZE(pieces) - 6 : ARRAY_SIZE(pieces);

	*pattern = '\0';
	for (unsigned left = 1 + below(4); left; left--)
		strcat(pattern, pieces[below((unsigned)choice)]);
}

/* Of the bytes that the patterns speak of, and one that they do not. */
static bool any_name(const char *a, const char *b, char *name, size_t length)
{
	name[length] = '\0';
	if (length && fnmatch(a, name, 0) == 0 && fnmatch(b, name, 0) == 0)
		return true;
	for (const char *c = length < LONGEST ? "ab-]*[\\x" : ""; *c; c++) {
		name[length] = *c;
		if (any_name(a, b, name, length + 1))
			return true;
	}
	return false;
}

static bool meet(const char *a, const char *b, size_t steps,
		 char ret_sample[static GLOB_SAMPLE])
{
	cleanup_free struct glob *one = glob_read(a, &steps);
	cleanup_free struct glob *other = glob_read(b, &steps);

	return one && other && globs_meet(one, other, &steps, ret_sample);
}

/* Those that globs.h says are not looked at, and [b-a], which nothing matches. */
static bool left_out(const char *pattern)
{
	char sample[GLOB_SAMPLE];

	return *pattern && !meet(pattern, pattern, STEPS, sample);
}

static void prove_pairs(void)
{
	unsigned wrong = 0, missed = 0, met = 0, apart = 0, out = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		char a[128], b[128], sample[GLOB_SAMPLE], name[LONGEST + 1];

		any_pattern(a);
		any_pattern(b);
		if (meet(a, b, STEPS, sample)) {
			met++;
			if (fnmatch(a, sample, 0) == 0 && fnmatch(b, sample, 0) == 0)
				continue;
			wrong++;
			note("%s and %s do not meet in %s", a, b, sample);
		} else if (left_out(a) || left_out(b)) {
			out++;
		} else if (any_name(a, b, name, 0)) {
			missed++;
			note("%s and %s meet in %s", a, b, name);
		} else {
			apart++;
		}
	}
	note("%u meet, %u do not, %u are not looked at", met, apart, out);
	ok(!wrong, "each name that is found matches both");
	ok(!missed, "where a short name matches both, one is found");
	ok(met > ROUNDS / 10 && apart > ROUNDS / 10, "both happen");
}

static void prove_bound(void)
{
	char a[GLOB_PARTS + 1], b[GLOB_PARTS + 1], sample[GLOB_SAMPLE];
	enum { ALL = GLOB_PARTS * GLOB_PARTS + 4 * GLOB_PARTS };

	for (size_t i = 0; i < GLOB_PARTS; i++) {
		a[i] = i % 2 ? 'a' : '*';
		b[i] = i % 2 ? 'b' : '*';
	}
	a[GLOB_PARTS] = b[GLOB_PARTS] = '\0';
	ok(!meet(a, b, ALL, sample), "ends in a and b do not meet");
	b[GLOB_PARTS - 1] = '*';
	ok(meet(a, b, ALL, sample), "the longest meet, however many stars they have");
	ok(!meet(a, b, 3 * GLOB_PARTS, sample), "but not where there are no steps left");
}

int main(void)
{
	prove_pairs();
	prove_bound();
	return tap_done();
}

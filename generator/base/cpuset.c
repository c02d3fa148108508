/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of small numbers. */
#include <string.h>

#include "base/cpulist.h"
#include "base/cpuset.h"

static uint64_t bit(unsigned number)
{
	return UINT64_C(1) << (number % 64);
}

static void use(struct cpuset *set, unsigned word)
{
	if (set->used <= word)
		set->used = word + 1;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

void cpuset_set(struct cpuset *set, unsigned number)
{
	if (number >= CPUSET_MAX)
		return;
	use(set, number / 64);
	set->words[number / 64] |= bit(number);
}

void cpuset_clear(struct cpuset *set, unsigned number)
{
	if (number < CPUSET_MAX)
		set->words[number / 64] &= ~bit(number);
}

/* Word by word: a hostile list has its largest range half a million times. */
void cpuset_set_range(struct cpuset *set, unsigned first, unsigned last)
{
	if (last >= CPUSET_MAX)
		last = CPUSET_MAX - 1;
	if (first > last)
		return;
	use(set, last / 64);
	for (unsigned word = first / 64; word <= last / 64; word++) {
		uint64_t bits = ~UINT64_C(0);

		if (word == first / 64)
			bits &= ~UINT64_C(0) << (first % 64);
		if (word == last / 64)
			bits &= ~UINT64_C(0) >> (63 - last % 64);
		set->words[word] |= bits;
	}
}

bool cpuset_has(const struct cpuset *set, unsigned number)
{
	return number < CPUSET_MAX && (set->words[number / 64] & bit(number));
}

unsigned cpuset_next(const struct cpuset *set, unsigned from)
{
	unsigned word = from / 64;

	if (word >= set->used)
		return CPUSET_MAX;
	uint64_t rest = set->words[word] & (~UINT64_C(0) << (from % 64));
	while (!rest && ++word < set->used)
		rest = set->words[word];
	return rest ? word * 64 + (unsigned)__builtin_ctzll(rest) : (unsigned)CPUSET_MAX;
}

unsigned cpuset_count(const struct cpuset *set)
{
	unsigned count = 0;

	/* many words are empty, and to count the others takes a call */
	for (unsigned i = 0; i < set->used; i++)
		if (set->words[i])
			count += (unsigned)__builtin_popcountll(set->words[i]);
	return count;
}

bool cpuset_empty(const struct cpuset *set)
{
	return cpuset_next(set, 0) == CPUSET_MAX;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	unsigned used = a->used > b->used ? a->used : b->used;

	return memcmp(a->words, b->words, used * sizeof(a->words[0])) == 0;
}

bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b)
{
	for (unsigned i = 0; i < least(a->used, b->used); i++)
		if (a->words[i] & b->words[i])
			return true;
	return false;
}

bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	for (unsigned i = 0; i < inner->used; i++)
		if (inner->words[i] & ~outer->words[i])
			return false;
	return true;
}

void cpuset_or(struct cpuset *a, const struct cpuset *b)
{
	for (unsigned i = 0; i < b->used; i++)
		a->words[i] |= b->words[i];
	if (b->used)
		use(a, b->used - 1);
}

void cpuset_and(struct cpuset *a, const struct cpuset *b)
{
	for (unsigned i = 0; i < a->used; i++)
		a->words[i] &= b->words[i];
}

void cpuset_andnot(struct cpuset *a, const struct cpuset *b)
{
	for (unsigned i = 0; i < least(a->used, b->used); i++)
		a->words[i] &= ~b->words[i];
}

/* A number at *AT, which is moved behind it; an error or NULL. */
static const char *number(const char *text, size_t *at, unsigned *ret_number)
{
	unsigned value = 0;
	size_t start = *at;

	if (text[start] < '0' || text[start] > '9')
		return text[start] ? "a number is expected here"
				   : "ends where a number is expected";
	for (; text[*at] >= '0' && text[*at] <= '9'; ++*at) {
		value = value * 10 + (unsigned)(text[*at] - '0');
		if (value >= CPUSET_MAX) {
			*at = start;
			return "the number is beyond 16383, the highest that libvirt "
			       "takes";
		}
	}
	*ret_number = value;
	return NULL;
}

/* "7", "7-19" or "^9" at *AT. */
static const char *item(const char *text, size_t *at, struct cpuset *set)
{
	unsigned first, last;
	size_t start = *at;
	bool out = text[*at] == '^';

	if (out && cpuset_empty(set))
		return "there is nothing yet to leave a number out of";
	*at += out;
	const char *error = number(text, at, &first);
	if (error)
		return error;
	last = first;
	if (!out && text[*at] == '-') {
		++*at;
		error = number(text, at, &last);
		if (error)
			return error;
	}
	if (last < first) {
		*at = start;
		return "the range runs downwards";
	}
	if (out)
		cpuset_clear(set, first);
	else
		cpuset_set_range(set, first, last);
	return NULL;
}

static void skip_spaces(const char *text, size_t *at)
{
	while (text[*at] == ' ')
		++*at;
}

static const char *list(const char *text, size_t *at, struct cpuset *set)
{
	for (;;) {
		skip_spaces(text, at);
		const char *error = item(text, at, set);
		if (error)
			return error;
		skip_spaces(text, at);
		if (!text[*at])
			return cpuset_empty(set) ? "nothing is left in the list" : NULL;
		if (text[*at] != ',')
			return "a comma is expected here";
		++*at;
	}
}

bool cpuset_parse(const char *text, struct cpuset *ret_set, const char **ret_error,
		  size_t *ret_at)
{
	struct cpuset set = CPUSET_INIT;
	size_t at = 0;
	const char *error = list(text, &at, &set);

	if (!error) {
		*ret_set = set;
		return true;
	}
	if (ret_error)
		*ret_error = error;
	if (ret_at)
		*ret_at = at;
	return false;
}

char *cpuset_format(const struct cpuset *set)
{
	struct cpulist list = cpulist_of(set);
	char *text = cpulist_format(&list);

	cpulist_done(&list);
	return text;
}

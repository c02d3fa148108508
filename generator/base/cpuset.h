/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of small numbers: host CPUs, host nodes, guest vCPUs.
 *
 * Plain values that are copied and need no freeing. libvirt refuses numbers from 16384 up
 * ("Failed to parse bitmap"), so that is all they hold.
 */
#ifndef VMGEN_CPUSET_H
#define VMGEN_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUSET_MAX = 16384, CPUSET_WORDS = CPUSET_MAX / 64 };

struct cpuset {
	unsigned used; /* words from there on are 0: most hosts need a few */
	uint64_t words[CPUSET_WORDS];
};

#define CPUSET_INIT       \
	{                 \
		.used = 0 \
	}

/* for (unsigned cpu : set), upwards */
#define cpuset_foreach(cpu, set)                                     \
	for (unsigned cpu = cpuset_next((set), 0); cpu < CPUSET_MAX; \
	     cpu = cpuset_next((set), cpu + 1))

void cpuset_set(struct cpuset *set, unsigned number);
void cpuset_clear(struct cpuset *set, unsigned number);
void cpuset_set_range(struct cpuset *set, unsigned first, unsigned last);
bool cpuset_has(const struct cpuset *set, unsigned number);

/* The first member not below FROM, or CPUSET_MAX. */
unsigned cpuset_next(const struct cpuset *set, unsigned from);
unsigned cpuset_count(const struct cpuset *set);
bool cpuset_empty(const struct cpuset *set);

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b);
bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer);

/* a |= b, a &= b, a &= ~b */
void cpuset_or(struct cpuset *a, const struct cpuset *b);
void cpuset_and(struct cpuset *a, const struct cpuset *b);
void cpuset_andnot(struct cpuset *a, const struct cpuset *b);

/*
 * A list as libvirt writes it, "1-3,7-19,^9", read strictly: numbers, ranges upwards, and
 * after at least one of those "^number" to leave one out again; no spaces except around
 * the commas; never empty. hwloc's parser takes "0-3x" for 0-3, libvirt's takes more than
 * it says; this one takes neither. On failure *ret_error is a static sentence fragment
 * ("ends in a comma") and *ret_at the offset in TEXT that it speaks of; both may be NULL.
 */
bool cpuset_parse(const char *text, struct cpuset *ret_set, const char **ret_error,
		  size_t *ret_at);

/* As "1-3,7-19" ("" when empty); the caller frees it. */
char *cpuset_format(const struct cpuset *set);

#endif

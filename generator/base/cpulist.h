/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of small numbers as the ranges that they are written in: where hundreds are kept
 * at once, a cpuset of 2 KiB each is memory that takes longer to touch than to read. */
#ifndef VMGEN_CPULIST_H
#define VMGEN_CPULIST_H

#include "base/cpuset.h"

struct cpurange {
	uint16_t first, last;
};

/* Upwards, never adjacent. {0} is the empty set; owns its ranges. */
struct cpulist {
	struct cpurange *items;
	size_t count;
};

struct cpulist cpulist_of(const struct cpuset *set);
struct cpuset cpulist_set(const struct cpulist *list);
struct cpulist cpulist_copy(const struct cpulist *list);
void cpulist_move(struct cpulist *to, struct cpulist *from); /* which is empty then */
void cpulist_done(struct cpulist *list);		     /* so is LIST */

/* What cpuset_parse() takes; on failure *ret_error is its sentence fragment. */
bool cpulist_parse(const char *text, struct cpulist *ret_list, const char **ret_error);

/* As "1-3,7-19" ("" when empty); the caller frees it. */
char *cpulist_format(const struct cpulist *list);

/* set |= list */
void cpulist_add(struct cpuset *set, const struct cpulist *list);

#endif

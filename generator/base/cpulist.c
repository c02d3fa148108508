/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of small numbers as ranges. */
#include "base/cpulist.h"
#include "base/text.h"

struct cpulist cpulist_of(const struct cpuset *set)
{
	struct cpulist list = { NULL, 0 };

	for (unsigned first = cpuset_next(set, 0); first < CPUSET_MAX;) {
		unsigned last = first;

		while (cpuset_has(set, last + 1))
			last++;
		*append(list.items, list.count) = (struct cpurange){
			.first = (uint16_t)first,
			.last = (uint16_t)last,
		};
		first = cpuset_next(set, last + 1);
	}
	return list;
}

void cpulist_add(struct cpuset *set, const struct cpulist *list)
{
	for (size_t i = 0; i < list->count; i++)
		cpuset_set_range(set, list->items[i].first, list->items[i].last);
}

struct cpuset cpulist_set(const struct cpulist *list)
{
	struct cpuset set = CPUSET_INIT;

	cpulist_add(&set, list);
	return set;
}

struct cpulist cpulist_copy(const struct cpulist *list)
{
	struct cpulist copy = { NULL, 0 };

	for (size_t i = 0; i < list->count; i++)
		*append(copy.items, copy.count) = list->items[i];
	return copy;
}

void cpulist_move(struct cpulist *to, struct cpulist *from)
{
	cpulist_done(to);
	*to = *from;
	*from = (struct cpulist){ NULL, 0 };
}

void cpulist_done(struct cpulist *list)
{
	free(list->items);
	*list = (struct cpulist){ NULL, 0 };
}

bool cpulist_parse(const char *text, struct cpulist *ret_list, const char **ret_error)
{
	struct cpuset set;

	if (!cpuset_parse(text, &set, ret_error, NULL))
		return false;
	*ret_list = cpulist_of(&set);
	return true;
}

char *cpulist_format(const struct cpulist *list)
{
	struct text out = TEXT_INIT;

	for (size_t i = 0; i < list->count; i++) {
		const struct cpurange *range = &list->items[i];

		if (i)
			text_add(&out, ",");
		text_add_number(&out, range->first);
		if (range->last == range->first)
			continue;
		text_add(&out, "-");
		text_add_number(&out, range->last);
	}
	return text_take(&out);
}

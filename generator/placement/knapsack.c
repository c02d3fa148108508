/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of many nodes hold a guest between them. */
#include "base/mem.h"
#include "placement/knapsack.h"

/* How an item came to be among those of a state. */
enum how { LEFT_OUT, TAKEN, WITH_EMULATOR, BESIDE_EMULATOR };

/*
 * A state: so many items, with or without a place for the emulator, that hold so many
 * vCPUs or more. What counts is the most memory that they can have.
 */
struct knapsack {
	const struct knapsack_item *items;
	unsigned n, limit, vcpus;
	uint64_t units;
	bool emulator;
	size_t n_states;
	uint64_t *most; /* by state: units and 1, or 0 where there is no such choice */
	uint8_t *how;	/* by item and state, once the items before it were looked at */
};

static size_t state_of(const struct knapsack *knapsack, unsigned count, bool emulator,
		       unsigned vcpus)
{
	return ((size_t)count * 2 + emulator) * ((size_t)knapsack->vcpus + 1) + vcpus;
}

/* What is left to find once an item with ROOM is in. */
static size_t state_before(const struct knapsack *knapsack, unsigned count, bool emulator,
			   unsigned vcpus, unsigned room)
{
	return state_of(knapsack, count - 1, emulator, vcpus > room ? vcpus - room : 0);
}

static uint64_t more_units(uint64_t most, uint64_t units)
{
	return !most ? 0 : units > UINT64_MAX - most ? UINT64_MAX : most + units;
}

/* The most that a state can have with ITEM in it, and how that comes. */
static uint64_t with_item(const struct knapsack *knapsack,
			  const struct knapsack_item *item, unsigned count, bool emulator,
			  unsigned vcpus, uint8_t *ret_how)
{
	const uint64_t *most = knapsack->most;
	uint64_t alone = 0, beside = 0;

	if (!emulator || item->carries) {
		*ret_how = TAKEN;
		return most[state_before(knapsack, count, false, vcpus, item->vcpus[0])];
	}
	if (item->vcpus[1])
		alone = most[state_before(knapsack, count, false, vcpus, item->vcpus[1])];
	beside = most[state_before(knapsack, count, true, vcpus, item->vcpus[0])];
	*ret_how = alone > beside ? WITH_EMULATOR : BESIDE_EMULATOR;
	return alone > beside ? alone : beside;
}

/* Larger counts first: an item is taken once. */
static void look_at(struct knapsack *knapsack, unsigned index)
{
	const struct knapsack_item *item = &knapsack->items[index];
	uint8_t *how = &knapsack->how[index * knapsack->n_states];

	if (!item->vcpus[0] || (knapsack->units && !item->units))
		return;
	for (unsigned count = knapsack->limit; count; count--)
		for (unsigned emulator = 0; emulator < 2; emulator++)
			for (unsigned vcpus = 0; vcpus <= knapsack->vcpus; vcpus++) {
				size_t at = state_of(knapsack, count, emulator, vcpus);
				uint8_t by;
				uint64_t most = more_units(with_item(knapsack, item,
								     count, emulator,
								     vcpus, &by),
							   item->units);

				if (most <= knapsack->most[at])
					continue;
				knapsack->most[at] = most;
				how[at] = by;
			}
}

struct knapsack *knapsack_new(const struct knapsack_item *items, unsigned n,
			      unsigned limit, unsigned vcpus, uint64_t units,
			      bool emulator)
{
	struct knapsack *knapsack = xcalloc(1, sizeof(*knapsack));

	*knapsack = (struct knapsack){ items,	 n, limit, vcpus, units,
				       emulator, 0, NULL,  NULL };
	knapsack->n_states = state_of(knapsack, limit + 1, false, 0);
	knapsack->most = xcalloc(knapsack->n_states, sizeof(*knapsack->most));
	knapsack->how = xcalloc(n, knapsack->n_states);
	knapsack->most[state_of(knapsack, 0, false, 0)] = 1;
	for (unsigned i = 0; i < n; i++)
		look_at(knapsack, i);
	return knapsack;
}

void knapsack_free(struct knapsack *knapsack)
{
	if (!knapsack)
		return;
	free(knapsack->most);
	free(knapsack->how);
	free(knapsack);
}

bool knapsack_pick(const struct knapsack *knapsack, unsigned count, unsigned *ret_items)
{
	bool emulator = knapsack->emulator;
	unsigned vcpus = knapsack->vcpus;

	if (knapsack->most[state_of(knapsack, count, emulator, vcpus)] <= knapsack->units)
		return false;
	for (unsigned i = knapsack->n; i-- && count;) {
		size_t at = state_of(knapsack, count, emulator, vcpus);
		enum how how = knapsack->how[i * knapsack->n_states + at];
		unsigned room = knapsack->items[i].vcpus[how == WITH_EMULATOR];

		if (how == LEFT_OUT)
			continue;
		ret_items[--count] = i;
		vcpus = vcpus > room ? vcpus - room : 0;
		emulator = how == BESIDE_EMULATOR;
	}
	return true;
}

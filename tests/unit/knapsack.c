/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A knapsack picks nodes that hold the guest exactly where some do: by brute force, over
 * every set of random nodes. */
#include "placement/knapsack.h"
#include "random.h"
#include "tap.h"

enum { CASES = 20000, ITEMS = 9 };

struct question {
	struct knapsack_item items[ITEMS];
	unsigned n, vcpus;
	uint64_t units;
	bool emulator;
};

/* Much room for vCPUs where there is little for memory, mostly. */
static struct question random_question(void)
{
	struct question q = { .n = 1 + below(ITEMS), .emulator = below(2) };
	unsigned vcpus = 0, units = 0;

	for (unsigned i = 0; i < q.n; i++) {
		struct knapsack_item *item = &q.items[i];

		item->vcpus[0] = below(10);
		item->vcpus[1] = item->vcpus[0] - (item->vcpus[0] && below(2));
		item->units = below(4) ? 10 - item->vcpus[0] : below(20);
		if (below(20) == 0)
			item->units = UINT64_MAX;
		else
			units += (unsigned)item->units;
		item->carries = below(6) == 0;
		vcpus += item->vcpus[0];
	}
	q.vcpus = 1 + below(vcpus + 2);
	q.units = below(units + 2);
	return q;
}

/* The items of SET hold it all, with the emulator's own CPU on EMULATOR (n: on none). */
static bool holds(const struct question *q, unsigned set, unsigned emulator)
{
	unsigned vcpus = 0;
	unsigned __int128 units = 0;
	bool carries = !q->emulator || emulator < q->n;

	for (unsigned i = 0; i < q->n; i++) {
		const struct knapsack_item *item = &q->items[i];
		unsigned here = item->vcpus[i == emulator];

		if (!(set >> i & 1))
			continue;
		if (!here || !item->vcpus[0] || (q->units && !item->units))
			return false;
		carries |= item->carries;
		vcpus += here;
		units += item->units;
	}
	return carries && vcpus >= q->vcpus && units >= q->units;
}

static bool set_holds(const struct question *q, unsigned set)
{
	bool held = holds(q, set, q->n);

	for (unsigned i = 0; i < q->n && q->emulator; i++)
		held |= (set >> i & 1) && holds(q, set, i);
	return held;
}

static bool any_holds(const struct question *q, unsigned count)
{
	for (unsigned set = 0; set < 1U << q->n; set++)
		if ((unsigned)__builtin_popcount(set) == count && set_holds(q, set))
			return true;
	return false;
}

int main(void)
{
	unsigned picked = 0, refused = 0, wrong = 0, bad = 0;

	for (unsigned i = 0; i < CASES; i++) {
		struct question q = random_question();
		struct knapsack *knapsack = knapsack_new(q.items, q.n, q.n, q.vcpus,
							 q.units, q.emulator);

		for (unsigned count = 1; count <= q.n; count++) {
			unsigned items[ITEMS], set = 0;
			bool got = knapsack_pick(knapsack, count, items);

			wrong += got != any_holds(&q, count);
			for (unsigned k = 0; k < count && got; k++)
				set |= 1U << items[k];
			bad += got && ((unsigned)__builtin_popcount(set) != count ||
				       !set_holds(&q, set));
			picked += got;
			refused += !got;
		}
		knapsack_free(knapsack);
	}
	note("%d machines: %u picks, %u refusals", CASES, picked, refused);
	ok(!wrong && picked && refused, "picked exactly where some hold it (%u wrong)",
	   wrong);
	ok(!bad, "what is picked holds it (%u do not)", bad);
	return tap_done();
}

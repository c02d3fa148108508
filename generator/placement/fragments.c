/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cores of a node leave the fewest half used.
 *
 * Core by core, the cheapest way to have so many vCPUs on the cores so far is made of
 * the cheapest ways to have fewer of them on the cores before: what counts (emulator
 * beside vCPUs, L3 domains, fragments) adds up. A way is remembered by what the rest
 * depends on.
 */
#include <string.h>

#include "placement/fragments.h"

/* What a way has done: placed the emulator, left one vCPU alone (smt: require allows it
 * to an odd number), begun the present L3 domain. */
enum { EMULATOR = 1, ALONE = 2, DOMAIN = 4, KINDS = 8 };

#define NO_WAY UINT64_MAX
#define ONE_SIBLING (UINT64_C(1) << 40)
#define ONE_DOMAIN (UINT64_C(1) << 20)

/* How a way came to a state at a core. */
struct step {
	uint16_t takes;
	uint8_t before; /* its kind */
	bool emulator;
};

struct table {
	const struct place_request *request;
	const struct core *cores;
	unsigned count, need;
	bool sharing; /* cores of other guests may be used */
	/* By vCPUs and kind: the costs with the cores so far, and with one more. */
	uint64_t *costs, *next;
	struct step *steps; /* by core, vCPUs and kind */
};

bool fragments_leaves(const struct place_request *request, const struct core *core,
		      unsigned takes, bool emulator)
{
	bool isolated = takes && request->smt == SMT_ISOLATE;
	unsigned used = isolated ? core->n_threads : takes;

	used += emulator && !core->spare;
	return (used || emulator) && core->whole && used < core->n_threads;
}

static void offer(struct table *table, unsigned core, unsigned vcpus, unsigned kind,
		  uint64_t cost, struct step step)
{
	size_t at = (size_t)vcpus * KINDS + kind;

	if (cost >= table->next[at])
		return;
	table->next[at] = cost;
	table->steps[(size_t)core * (table->need + 1) * KINDS + at] = step;
}

/* All that a core can take where VCPUS are on those before, reached as KIND. */
static void extend(struct table *table, unsigned index, unsigned vcpus, unsigned kind,
		   bool emulator)
{
	const struct place_request *request = table->request;
	const struct core *core = &table->cores[index];
	bool begins = !index || core->l3 != core[-1].l3;
	unsigned here = begins ? kind & ~(unsigned)DOMAIN : kind;
	unsigned most = cores_room(request, core,
				   core->free - (emulator && !core->spare));

	if (most > table->need - vcpus)
		most = table->need - vcpus;
	for (unsigned takes = 0; takes <= most; takes++) {
		bool alone = takes == 1 && request->smt == SMT_REQUIRE;
		unsigned busy = request->shared ? 0 : takes;
		uint64_t cost = table->costs[(size_t)vcpus * KINDS + kind];

		if (alone && (here & ALONE || table->need % 2 == 0))
			continue;
		cost += busy && emulator ? ONE_SIBLING : 0;
		cost += takes && !(here & DOMAIN) ? ONE_DOMAIN : 0;
		cost += fragments_leaves(request, core, busy, emulator);
		offer(table, index, vcpus + takes,
		      here | (emulator ? EMULATOR : 0) | (alone ? ALONE : 0) |
			      (takes ? DOMAIN : 0),
		      cost, (struct step){ (uint16_t)takes, (uint8_t)kind, emulator });
	}
}

/* A core of another guest that is not to be used stays in the order, and takes nothing.
 */
static void pass(struct table *table, unsigned index, unsigned vcpus, unsigned kind)
{
	const struct core *core = &table->cores[index];
	bool begins = !index || core->l3 != core[-1].l3;

	offer(table, index, vcpus, begins ? kind & ~(unsigned)DOMAIN : kind,
	      table->costs[(size_t)vcpus * KINDS + kind],
	      (struct step){ 0, (uint8_t)kind, false });
}

/* From the table with the cores before INDEX to that with INDEX. */
static void add_core(struct table *table, unsigned index)
{
	const struct core *core = &table->cores[index];
	uint64_t *costs = table->costs;

	memset(table->next, 0xff, (table->need + 1) * KINDS * sizeof(*costs));
	for (unsigned state = 0; state < (table->need + 1) * KINDS; state++) {
		unsigned vcpus = state / KINDS, kind = state % KINDS;

		if (costs[state] == NO_WAY)
			continue;
		if (core->shared && !table->sharing) {
			pass(table, index, vcpus, kind);
			continue;
		}
		extend(table, index, vcpus, kind, false);
		if (core->own && !(kind & EMULATOR))
			extend(table, index, vcpus, kind, true);
	}
	table->costs = table->next;
	table->next = costs;
}

/* The cheapest way to all that is needed. */
static unsigned cheapest(const struct table *table, bool emulator)
{
	const uint64_t *costs = table->costs + (size_t)table->need * KINDS;
	unsigned best = KINDS;

	for (unsigned kind = 0; kind < KINDS; kind++)
		if (!(kind & EMULATOR) == !emulator && costs[kind] != NO_WAY &&
		    (best == KINDS || costs[kind] < costs[best]))
			best = kind;
	return best;
}

static void trace(const struct table *table, unsigned kind, struct cores_choice *choice)
{
	unsigned vcpus = table->need;

	choice->emulator = CORES_NONE;
	for (unsigned index = table->count; index--;) {
		const struct step *step =
			&table->steps[((size_t)index * (table->need + 1) + vcpus) *
					      KINDS +
				      kind];

		choice->takes[index] = step->takes;
		if (step->emulator)
			choice->emulator = index;
		vcpus -= step->takes;
		kind = step->before;
	}
}

bool fragments_lessen(const struct sites *sites, const struct site *site, unsigned need,
		      struct cores_choice *choice)
{
	const struct cost *was = &choice->cost;
	size_t states = (size_t)(need + 1) * KINDS;

	if (!was->columns[COST_FRAGMENTS] ||
	    (uint64_t)site->n_cores * (need + 1) > FRAGMENTS_STATES)
		return false;
	cleanup_free uint64_t *costs = xcalloc(2 * states, sizeof(*costs));
	cleanup_free struct step *steps = xcalloc(site->n_cores * states, sizeof(*steps));
	struct table table = {
		.request = sites->request,
		.cores = &sites->cores[site->first],
		.count = site->n_cores,
		.need = need,
		.sharing = was->columns[COST_SHARING] != 0,
		.costs = costs,
		.next = costs + states,
		.steps = steps,
	};
	memset(costs, 0xff, states * sizeof(*costs));
	costs[0] = 0;
	for (unsigned i = 0; i < site->n_cores; i++)
		add_core(&table, i);
	unsigned kind = cheapest(&table, choice->emulator != CORES_NONE);
	if (kind == KINDS || table.costs[need * KINDS + kind] >=
				     was->columns[COST_SIBLING] * ONE_SIBLING +
					     was->columns[COST_L3] * ONE_DOMAIN +
					     was->columns[COST_FRAGMENTS])
		return false;
	trace(&table, kind, choice);
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A free split: which nodes, and how many of the vCPUs and how much memory on each.
 *
 * On given nodes memory is split as the vCPUs are, and those equally or as equally as the
 * room allows; only where nothing else fits are vCPUs dealt by the room for them alone,
 * and memory by the room for it.
 */
#include <string.h>

#include "placement/knapsack.h"
#include "placement/memory.h"
#include "placement/search.h"

struct split {
	struct search *search;
	unsigned n_sites, n_nodes; /* of the host; that are looked for */
	unsigned grain;		   /* vCPUs that stay together */
	uint64_t units;		   /* of the guest */
	unsigned *most[2]; /* by site: vCPUs that fit, without and with the emulator */
	uint64_t *room;	   /* by site: units */
	unsigned *order;   /* sites, those that most of the guest fits on first */
	/* Of k * (n_sites + 1) + i: what k of the sites from i on have at most. */
	uint64_t *reach[2];	     /* vCPUs; units */
	unsigned limit;		     /* nodes that the guest may span */
	struct knapsack_item *items; /* the sites, vCPUs by the grain */
	struct knapsack *knapsack;   /* NULL until it is needed */
};

/* vCPUs that fit on a node with their share of the memory; that rounded up, or down. */
static unsigned fed(const struct split *split, unsigned site, bool emulator, bool up)
{
	unsigned vcpus = split->search->sites->request->vcpus;
	unsigned most = split->most[emulator][site];
	uint64_t room = split->room[site], fed;

	if (room >= split->units)
		return most;
	fed = up ? memory_share(room, vcpus, split->units)
		 : memory_share_below(room + 1, vcpus, split->units);
	if (fed < most)
		most = (unsigned)fed;
	return most - most % split->grain;
}

static void find_room(struct split *split)
{
	const struct sites *sites = split->search->sites;
	const struct place_request *request = sites->request;

	for (unsigned i = 0; i < split->n_sites; i++) {
		const struct site *site = &sites->items[i];
		bool own = request->own && !site->housekeeping;

		if (!site->allowed)
			continue;
		for (unsigned emulator = 0; emulator < 2; emulator++) {
			unsigned most = cores_most(
				sites, site, emulator || (own && request->own_each));

			split->most[emulator][i] = most - most % split->grain;
		}
		split->room[i] = memory_room(sites, site);
		split->items[i] = (struct knapsack_item){
			{ split->most[0][i] / split->grain,
			  split->most[1][i] / split->grain },
			split->room[i],
			site->housekeeping,
		};
	}
}

/* TOTAL dealt out as equally as ROOM allows, on top of SHARES; yields what is left. */
static unsigned deal(const unsigned *room, unsigned count, unsigned total, unsigned grain,
		     unsigned *shares)
{
	while (total) {
		unsigned open = 0, grains = total / grain;

		for (unsigned i = 0; i < count; i++)
			open += shares[i] < room[i];
		if (!open)
			break;
		unsigned each = grains > open ? grains / open * grain : grain;
		for (unsigned i = 0; i < count && total; i++) {
			unsigned more = room[i] > shares[i] ? room[i] - shares[i] : 0;

			more = more < each ? more : each;
			shares[i] += more;
			total -= more;
		}
	}
	return total;
}

/* The parts' vCPUs on the nodes that they name. */
static bool deal_out(struct split *split, bool up)
{
	struct search *search = split->search;
	struct part *parts = search->parts.items;
	unsigned room[PLACE_CELLS_MAX] = { 0 }, vcpus[PLACE_CELLS_MAX] = { 0 };
	unsigned count = split->n_nodes, left = search->sites->request->vcpus;

	for (unsigned i = 0; i < count; i++) {
		room[i] = fed(split, parts[i].site->index, parts[i].emulator, up);
		vcpus[i] = split->grain; /* no part without vCPUs */
		left -= split->grain;
	}
	left = deal(room, count, left, split->grain, vcpus);
	for (unsigned i = 0; i < count; i++) {
		room[i] = split->most[parts[i].emulator][parts[i].site->index];
		if (!room[i])
			return false;
	}
	if (deal(room, count, left, split->grain, vcpus))
		return false;
	for (unsigned i = 0; i < count; i++)
		parts[i].vcpus = vcpus[i];
	return true;
}

/* Offers the parts with their vCPUs; NODES is what the choice of nodes costs. */
static void offer(struct split *split, const struct cost *nodes)
{
	struct search *search = split->search;
	struct part *parts = search->parts.items;
	struct cost cost = *nodes;
	unsigned least = UINT32_MAX, largest = 0;
	uint64_t remote;

	search->steps += split->n_nodes;
	if (!memory_split(search->sites, parts, split->n_nodes, &remote))
		return;
	for (unsigned i = 0; i < split->n_nodes; i++) {
		struct part *part = &parts[i];
		struct local here = search_local(search, part->site, part->vcpus,
						 part->emulator);

		if (!here.fits)
			return;
		least = part->vcpus < least ? part->vcpus : least;
		largest = part->vcpus > largest ? part->vcpus : largest;
		part->used = here.used;
		costs_add(&cost, &here.cost);
	}
	cost.columns[COST_UNEVEN] += largest - least;
	cost.columns[COST_REMOTE] += remote;
	search_offer(search, cost);
}

/* A guest core more on one node, one less on another. */
static void shift(struct split *split, const struct cost *nodes)
{
	struct part *parts = split->search->parts.items;

	for (unsigned i = 0; i < split->n_nodes; i++)
		for (unsigned k = 0; k < split->n_nodes; k++) {
			if (i == k || parts[k].vcpus <= split->grain ||
			    !search_goes_on(split->search))
				continue;
			parts[i].vcpus += split->grain;
			parts[k].vcpus -= split->grain;
			offer(split, nodes);
			parts[i].vcpus -= split->grain;
			parts[k].vcpus += split->grain;
		}
}

static void offer_split(struct split *split, const struct cost *nodes, bool up)
{
	if (!deal_out(split, up))
		return;
	offer(split, nodes);
	shift(split, nodes);
}

/* The nodes are chosen: the best place for the emulator and the best split. */
static void finish(struct split *split)
{
	struct search *search = split->search;
	struct part *parts = search->parts.items;
	enum emulators emulators = search_emulators(search, split->n_nodes);
	struct cost nodes = search_nodes_cost(parts, split->n_nodes);

	for (unsigned i = 0; i < split->n_nodes; i++)
		parts[i].emulator = emulators == EMULATORS_EACH &&
				    !parts[i].site->housekeeping;
	if (emulators != EMULATORS_ONE) {
		offer_split(split, &nodes, true);
		offer_split(split, &nodes, false);
		return;
	}
	for (unsigned i = 0; i < split->n_nodes; i++) {
		if (search->found && !search_goes_on(search))
			break;
		parts[i].emulator = true;
		offer_split(split, &nodes, true);
		offer_split(split, &nodes, false);
		parts[i].emulator = false;
	}
}

/* The roomiest nodes, with the emulator on SITE if that has no housekeeping CPUs. */
static bool roomiest(struct split *split, unsigned site)
{
	const struct place_request *request = split->search->sites->request;
	const struct site *sites = split->search->sites->items;
	bool one = request->own && !request->own_each && !sites[site].housekeeping;
	unsigned sum = fed(split, site, one, true), count = 1;
	bool ok = sum != 0;

	split->search->parts.items[0].site = &sites[site];
	for (unsigned i = 0; count < split->n_nodes && i < split->n_sites && ok; i++) {
		unsigned next = split->order[i];

		if (next == site)
			continue;
		ok = fed(split, next, false, true) != 0;
		sum += fed(split, next, false, true);
		split->search->parts.items[count++].site = &sites[next];
	}
	return ok && count == split->n_nodes && sum >= request->vcpus;
}

/* What is chosen already has, and what the rest can have at most, is enough. */
static bool reaches(const struct split *split, unsigned missing, unsigned from,
		    unsigned vcpus, uint64_t units)
{
	size_t at = (size_t)missing * (split->n_sites + 1) + from;
	uint64_t sum;

	if (__builtin_add_overflow(units, split->reach[1][at], &sum))
		sum = UINT64_MAX;
	return vcpus + split->reach[0][at] >= split->search->sites->request->vcpus &&
	       sum >= split->units;
}

static void choose(struct split *split, unsigned chosen, unsigned from, unsigned vcpus,
		   uint64_t units)
{
	struct search *search = split->search;
	unsigned missing = split->n_nodes - chosen;

	if (!missing) {
		finish(split);
		return;
	}
	for (unsigned i = from; i < split->n_sites && search_goes_on(search) &&
				reaches(split, missing, i, vcpus, units);
	     i++) {
		unsigned here = split->most[0][i];
		uint64_t sum;

		if (__builtin_add_overflow(units, split->room[i], &sum))
			sum = UINT64_MAX;
		if (!here || !reaches(split, missing - 1, i + 1, vcpus + here, sum))
			continue;
		search->steps += chosen + 1;
		search->parts.items[chosen].site = &search->sites->items[i];
		struct cost bound = search_bound(search, chosen + 1, split->n_nodes);
		if (search_better(search, &bound))
			choose(split, chosen + 1, i + 1, vcpus + here, sum);
	}
}

/* Nodes that hold the guest, if any do, however unlike its vCPUs and its memory lie. */
static void pick(struct split *split)
{
	struct search *search = split->search;
	const struct place_request *request = search->sites->request;
	unsigned picked[PLACE_CELLS_MAX];

	if (!split->knapsack)
		split->knapsack = knapsack_new(split->items, split->n_sites, split->limit,
					       request->vcpus / split->grain,
					       split->units,
					       request->own && !request->own_each);
	if (!knapsack_pick(split->knapsack, split->n_nodes, picked))
		return;
	for (unsigned i = 0; i < split->n_nodes; i++)
		search->parts.items[i].site = &search->sites->items[picked[i]];
	finish(split);
}

static void split_over(struct split *split, unsigned n_nodes)
{
	struct search *search = split->search;
	struct cost bound;

	split->n_nodes = n_nodes;
	search->parts.count = n_nodes;
	bound = search_bound(search, 0, n_nodes);
	if (!search_better(search, &bound) || !reaches(split, n_nodes, 0, 0, 0))
		return;
	for (unsigned site = 0; site < split->n_sites && !search->found; site++)
		if (roomiest(split, site))
			finish(split);
	if (!search->found)
		pick(split);
	if (search->found)
		choose(split, 0, 0, 0, 0);
}

static int order_of(const void *left, const void *right, void *context)
{
	const struct split *split = context;
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
	unsigned room_a = fed(split, a, false, true), room_b = fed(split, b, false, true);

	if (room_a != room_b)
		return room_a > room_b ? -1 : 1;
	return (a > b) - (a < b);
}

static void find_order(struct split *split)
{
	for (unsigned i = 0; i < split->n_sites; i++)
		split->order[i] = i;
	qsort_r(split->order, split->n_sites, sizeof(*split->order), order_of, split);
}

/* Site I is among the K best from there on, or it is not. */
static void find_reach(struct split *split)
{
	size_t row = split->n_sites + 1;

	for (unsigned k = 1; k <= split->limit; k++)
		for (unsigned i = split->n_sites; i--;) {
			uint64_t has[2] = { split->most[0][i], split->room[i] };

			for (unsigned what = 0; what < 2; what++) {
				uint64_t *reach = split->reach[what], with;

				if (__builtin_add_overflow(reach[(k - 1) * row + i + 1],
							   has[what], &with))
					with = UINT64_MAX;
				reach[k * row + i] = reach[k * row + i + 1];
				if (with > reach[k * row + i])
					reach[k * row + i] = with;
			}
		}
}

static unsigned nodes_limit(const struct place_request *request, unsigned n_sites)
{
	unsigned limit = request->vcpus / nodes_grain(request);

	limit = limit < request->max_nodes ? limit : request->max_nodes;
	limit = limit < n_sites ? limit : n_sites;
	return limit < PLACE_CELLS_MAX ? limit : PLACE_CELLS_MAX;
}

void split_freely(struct search *search)
{
	const struct place_request *request = search->sites->request;
	unsigned n_sites = search->sites->count, limit = nodes_limit(request, n_sites);
	size_t cells = ((size_t)limit + 1) * (n_sites + 1);
	cleanup_free unsigned *without = xcalloc(n_sites, sizeof(*without));
	cleanup_free unsigned *with = xcalloc(n_sites, sizeof(*with));
	cleanup_free unsigned *order = xcalloc(n_sites, sizeof(*order));
	cleanup_free uint64_t *room = xcalloc(n_sites, sizeof(*room));
	cleanup_free uint64_t *vcpus = xcalloc(cells, sizeof(*vcpus));
	cleanup_free uint64_t *units = xcalloc(cells, sizeof(*units));
	cleanup_free struct knapsack_item *items = xcalloc(n_sites, sizeof(*items));
	struct split split = { .search = search,
			       .n_sites = n_sites,
			       .grain = nodes_grain(request),
			       .units = memory_units(request),
			       .most = { without, with },
			       .room = room,
			       .order = order,
			       .reach = { vcpus, units },
			       .limit = limit,
			       .items = items };

	find_room(&split);
	find_order(&split);
	find_reach(&split);
	for (unsigned n = 1; n <= limit && (!search->found || search_goes_on(search));
	     n++)
		split_over(&split, n);
	knapsack_free(split.knapsack);
}

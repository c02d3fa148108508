/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A free split: which nodes, and how many of the vCPUs and how much memory on each.
 *
 * On given nodes memory is split as the vCPUs are, and those equally or as equally as the
 * room allows; only where nothing else fits are vCPUs dealt by the room for them alone,
 * and memory by the room for it.
 */
#include <string.h>

#include "placement/search.h"

struct split {
	struct search *search;
	unsigned n_sites, n_nodes; /* of the host; that are looked for */
	unsigned grain;		   /* vCPUs that stay together */
	uint64_t units;		   /* of the guest */
	unsigned *most[2]; /* by site: vCPUs that fit, without and with the emulator */
	uint64_t *room;	   /* by site: units */
	unsigned roomiest; /* of most[0] */
};

__extension__ typedef unsigned __int128 wide;

static uint64_t share(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)((wide)whole * part / parts);
}

/* The most that is less than whole * part / parts. */
static uint64_t share_below(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)(((wide)whole * part - 1) / parts);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Normal memory is split by MiB, where the guest's size is one of MiB. */
static uint64_t memory_unit(const struct place_request *request)
{
	if (request->page_size)
		return request->page_size;
	return request->memory % (1 << 20) == 0 ? 1 << 20
	       : request->memory % 1024 == 0	? 1024
						: 1;
}

static uint64_t memory_room(const struct sites *sites, const struct site *site)
{
	return site->units == UINT64_MAX
		       ? UINT64_MAX
		       : site->units / (memory_unit(sites->request) / sites->unit);
}

/* vCPUs that fit on a node with their share of the memory; that rounded up, or down. */
static unsigned fed(const struct split *split, unsigned site, bool emulator, bool up)
{
	unsigned vcpus = split->search->sites->request->vcpus;
	unsigned most = split->most[emulator][site];
	uint64_t room = split->room[site], fed;

	if (room >= split->units)
		return most;
	fed = up ? share(room, vcpus, split->units)
		 : share_below(room + 1, vcpus, split->units);
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
		if (split->most[0][i] > split->roomiest)
			split->roomiest = split->most[0][i];
		split->room[i] = memory_room(sites, site);
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

/* As deal(), for units of memory. */
static uint64_t deal_units(const uint64_t *room, unsigned count, uint64_t total,
			   uint64_t *shares)
{
	while (total) {
		uint64_t open = 0;

		for (unsigned i = 0; i < count; i++)
			open += shares[i] < room[i];
		if (!open)
			break;
		uint64_t each = total / open ? total / open : 1;
		for (unsigned i = 0; i < count && total; i++) {
			uint64_t more = room[i] > shares[i] ? room[i] - shares[i] : 0;

			more = least_of(least_of(more, each), total);
			shares[i] += more;
			total -= more;
		}
	}
	return total;
}

/* A unit for each part, then up to its fair share rounded down, then up, then whatever
 * its node has. */
static bool deal_fairly(const struct sites *sites, const struct part *parts,
			unsigned count, uint64_t total, uint64_t *ret_units)
{
	uint64_t room[PLACE_CELLS_MAX] = { 0 }, limit[PLACE_CELLS_MAX] = { 0 };
	uint64_t left = total - count;

	if (total < count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		room[i] = memory_room(sites, parts[i].site);
		if (!room[i])
			return false;
		ret_units[i] = 1;
	}
	for (unsigned more = 0; more < 2; more++) {
		for (unsigned i = 0; i < count; i++) {
			uint64_t fair = share(total, parts[i].vcpus,
					      sites->request->vcpus);

			limit[i] = least_of(room[i], fair + more);
		}
		left = deal_units(limit, count, left, ret_units);
	}
	return !deal_units(room, count, left, ret_units);
}

bool split_memory(const struct sites *sites, struct part *parts, unsigned count,
		  uint64_t *ret_remote)
{
	const struct place_request *request = sites->request;
	uint64_t unit = memory_unit(request), left = request->memory;
	uint64_t total = left / unit + (left % unit != 0), units[PLACE_CELLS_MAX];

	*ret_remote = 0;
	if (total && !deal_fairly(sites, parts, count, total, units))
		return false;
	for (unsigned i = 0; i < count; i++) {
		uint64_t fair = share(total, parts[i].vcpus, request->vcpus) + 1;

		parts[i].memory = total ? least_of(units[i] * unit, left) : 0;
		left -= parts[i].memory;
		*ret_remote += total && units[i] > fair ? units[i] - fair : 0;
	}
	return true;
}

/* The parts' vCPUs and memory on the nodes that they name. */
static bool deal_out(struct split *split, bool up, struct cost *cost)
{
	struct search *search = split->search;
	struct part *parts = search->parts.items;
	unsigned room[PLACE_CELLS_MAX] = { 0 }, vcpus[PLACE_CELLS_MAX] = { 0 };
	unsigned least = UINT32_MAX, largest = 0, count = split->n_nodes;
	unsigned left = search->sites->request->vcpus;
	uint64_t remote;

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
	for (unsigned i = 0; i < count; i++) {
		parts[i].vcpus = vcpus[i];
		least = vcpus[i] < least ? vcpus[i] : least;
		largest = vcpus[i] > largest ? vcpus[i] : largest;
	}
	if (!split_memory(search->sites, parts, count, &remote))
		return false;
	cost->columns[COST_UNEVEN] += largest - least;
	cost->columns[COST_REMOTE] += remote;
	return true;
}

static void offer(struct split *split, const struct cost *nodes, bool up)
{
	struct search *search = split->search;
	struct cost cost = *nodes;

	if (!deal_out(split, up, &cost))
		return;
	for (unsigned i = 0; i < split->n_nodes; i++) {
		struct part *part = &search->parts.items[i];
		struct local here = search_local(search, part->site, part->vcpus,
						 part->emulator);

		if (!here.fits)
			return;
		part->used = here.used;
		costs_add(&cost, &here.cost);
	}
	search_offer(search, cost);
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
		offer(split, &nodes, true);
		offer(split, &nodes, false);
		return;
	}
	for (unsigned i = 0; i < split->n_nodes; i++) {
		parts[i].emulator = true;
		offer(split, &nodes, true);
		offer(split, &nodes, false);
		parts[i].emulator = false;
	}
}

/* The roomiest nodes, with the emulator on SITE if that has no housekeeping CPUs. */
static bool roomiest(struct split *split, unsigned site)
{
	const struct place_request *request = split->search->sites->request;
	const struct site *sites = split->search->sites->items;
	bool one = request->own && !request->own_each && !sites[site].housekeeping;
	unsigned sum = fed(split, site, one, true);
	bool ok = sum != 0;

	split->search->parts.items[0].site = &sites[site];
	for (unsigned n = 1; n < split->n_nodes && ok; n++) {
		unsigned best = split->n_sites, room = 0;

		for (unsigned i = 0; i < split->n_sites; i++) {
			bool used = false;

			for (unsigned j = 0; j < n; j++)
				used |= split->search->parts.items[j].site == &sites[i];
			unsigned here = fed(split, i, false, true);
			if (!used && here > room) {
				room = here;
				best = i;
			}
		}
		ok = best < split->n_sites;
		if (ok)
			split->search->parts.items[n].site = &sites[best];
		sum += room;
	}
	return ok && sum >= request->vcpus;
}

static void choose(struct split *split, unsigned chosen, unsigned from, unsigned room)
{
	struct search *search = split->search;
	unsigned want = search->sites->request->vcpus;
	unsigned missing = split->n_nodes - chosen;

	if (!missing) {
		finish(split);
		return;
	}
	for (unsigned i = from; i < split->n_sites && search->steps < NODES_STEPS; i++) {
		unsigned here = split->most[0][i];
		uint64_t reach = (uint64_t)room + here +
				 (uint64_t)(missing - 1) * split->roomiest;

		if (!here || reach < want)
			continue;
		search->steps += chosen + 1;
		search->parts.items[chosen].site = &search->sites->items[i];
		struct cost bound = search_bound(search, chosen + 1, split->n_nodes);
		if (search_better(search, &bound))
			choose(split, chosen + 1, i + 1, room + here);
	}
}

static void split_over(struct split *split, unsigned n_nodes)
{
	struct search *search = split->search;
	struct cost bound;

	split->n_nodes = n_nodes;
	search->parts.count = n_nodes;
	bound = search_bound(search, 0, n_nodes);
	if (!search_better(search, &bound))
		return;
	for (unsigned site = 0; site < split->n_sites && !search->found; site++)
		if (roomiest(split, site))
			finish(split);
	choose(split, 0, 0, 0);
}

void split_freely(struct search *search)
{
	const struct sites *sites = search->sites;
	const struct place_request *request = sites->request;
	unsigned n_sites = sites->count, grain = nodes_grain(request);
	unsigned limit = request->vcpus / grain;
	cleanup_free unsigned *without = xcalloc(n_sites, sizeof(*without));
	cleanup_free unsigned *with = xcalloc(n_sites, sizeof(*with));
	cleanup_free uint64_t *room = xcalloc(n_sites, sizeof(*room));
	uint64_t unit = memory_unit(request);
	struct split split = { .search = search,
			       .n_sites = n_sites,
			       .grain = grain,
			       .units = request->memory / unit +
					(request->memory % unit != 0),
			       .most = { without, with },
			       .room = room };

	find_room(&split);
	limit = limit < request->max_nodes ? limit : request->max_nodes;
	limit = limit < n_sites ? limit : n_sites;
	limit = limit < PLACE_CELLS_MAX ? limit : PLACE_CELLS_MAX;
	for (unsigned n = 1; n <= limit; n++)
		split_over(&split, n);
}

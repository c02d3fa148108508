/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which nodes a guest gets: what the searches for cells and for a free split share. */
#include <string.h>

#include "placement/search.h"

static unsigned cache_slot(const struct site *site, unsigned vcpus, bool emulator)
{
	return (site->index * 0x9e3779b1U + vcpus * 0x85ebca6bU + emulator) %
	       SEARCH_CACHE;
}

struct local search_local(struct search *search, const struct site *site, unsigned vcpus,
			  bool emulator)
{
	struct cached *cached = &search->cache[cache_slot(site, vcpus, emulator)];

	if (cached->site != site || cached->vcpus != vcpus ||
	    cached->emulator != emulator) {
		struct cores_choice choice = { .takes = search->takes };
		bool fits = cores_choose(search->sites, site, vcpus, emulator, &choice);

		*cached = (struct cached){
			site, vcpus, emulator, { fits, choice.used, choice.cost }
		};
	}
	return cached->local;
}

struct local search_cheapest(struct search *search, const struct site *site,
			     unsigned vcpus)
{
	const struct place_request *request = search->sites->request;
	bool own = request->own && !site->housekeeping;
	struct local without = search_local(search, site, vcpus,
					    own && request->own_each);

	if (!own || request->own_each || !without.fits)
		return without;
	struct local with = search_local(search, site, vcpus, true);
	return with.fits && costs_compare(&with.cost, &without.cost, request->pack) < 0
		       ? with
		       : without;
}

static void lower(uint64_t *column, uint64_t value)
{
	if (value < *column)
		*column = value;
}

/* Wishes are met by the node that meets them best. */
static void wish(struct cost *cost, const struct site *site)
{
	for (unsigned i = 0; i < COST_NEAR_MAX; i++)
		lower(&cost->columns[COST_NEAR + i], site->near[i]);
	lower(&cost->columns[COST_WITH], site->with);
}

static const struct cost unmet = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
				     UINT64_MAX, UINT64_MAX, UINT64_MAX,
				     UINT64_MAX, [COST_WITH] = UINT64_MAX } };

struct cost search_nodes_cost(const struct part *parts, unsigned count)
{
	struct cost cost = unmet;

	for (unsigned i = 0; i < count; i++) {
		wish(&cost, parts[i].site);
		for (unsigned j = 0; j < i; j++)
			cost.columns[COST_DISTANCE] +=
				(uint64_t)parts[i].site->distances[parts[j].site->index] +
				parts[j].site->distances[parts[i].site->index];
	}
	cost.columns[COST_NODES] = count;
	return cost;
}

/* No placement on COUNT nodes that begins with PARTS costs less in the columns that the
 * choice of nodes decides. */
struct cost search_bound(const struct search *search, unsigned placed, unsigned count)
{
	struct cost cost = search_nodes_cost(search->parts.items, placed);
	uint64_t pairs = (uint64_t)count * (count - 1) -
			 (uint64_t)placed * (placed - !!placed);

	for (unsigned i = COST_NEAR; i <= COST_WITH && placed < count; i++)
		lower(&cost.columns[i], search->least.columns[i]);
	cost.columns[COST_NODES] = count;
	cost.columns[COST_DISTANCE] += pairs * search->least.columns[COST_DISTANCE];
	return cost;
}

static void find_least(struct search *search)
{
	const struct sites *sites = search->sites;
	uint64_t *distance = &search->least.columns[COST_DISTANCE];

	search->least = unmet;
	*distance = UINT64_MAX;
	for (unsigned i = 0; i < sites->count; i++) {
		if (!sites->items[i].allowed)
			continue;
		wish(&search->least, &sites->items[i]);
		for (unsigned j = 0; j < sites->count; j++)
			if (i != j && sites->items[j].allowed)
				lower(distance, sites->items[i].distances[j]);
	}
	if (*distance == UINT64_MAX)
		*distance = 0;
}

bool search_better(const struct search *search, const struct cost *cost)
{
	return !search->found ||
	       costs_compare(cost, &search->best.cost, search->sites->request->pack) < 0;
}

void search_offer(struct search *search, struct cost cost)
{
	if (!search_better(search, &cost))
		return;
	cost.columns[COST_ROOM] = room_cost(&search->room, search->parts.items,
					    search->parts.count);
	if (!search_better(search, &cost))
		return;
	search->best = search->parts;
	search->best.cost = cost;
	search->found = true;
}

/* Which parts get a CPU for the emulator: none, each without housekeeping CPUs, or (then
 * the caller tries each part) one. */
enum emulators search_emulators(const struct search *search, unsigned count)
{
	const struct place_request *request = search->sites->request;
	bool housekeeping = false;

	for (unsigned i = 0; i < count; i++)
		housekeeping |= search->parts.items[i].site->housekeeping;
	if (!request->own)
		return EMULATORS_NONE;
	if (request->own_each)
		return EMULATORS_EACH;
	return housekeeping ? EMULATORS_NONE : EMULATORS_ONE;
}

unsigned nodes_grain(const struct place_request *request)
{
	return request->threads > 1 && request->vcpus % request->threads == 0
		       ? request->threads
		       : 1;
}

static bool search_nodes(const struct sites *sites, bool any, struct parts *ret_parts)
{
	cleanup_free struct cached *cache = xcalloc(SEARCH_CACHE, sizeof(*cache));
	cleanup_free unsigned *takes = xcalloc(sites->largest, sizeof(*takes));
	struct search search = {
		.sites = sites, .cache = cache, .takes = takes, .any = any
	};

	room_init(&search.room, sites);
	find_least(&search);
	if (sites->request->cells)
		assign_cells(&search);
	else
		split_freely(&search);
	if (search.found)
		*ret_parts = search.best;
	ret_parts->steps = search.steps;
	room_done(&search.room);
	return search.found;
}

bool nodes_choose(const struct sites *sites, struct parts *ret_parts)
{
	return search_nodes(sites, false, ret_parts);
}

bool nodes_fit(const struct sites *sites)
{
	struct parts parts;

	return search_nodes(sites, true, &parts);
}

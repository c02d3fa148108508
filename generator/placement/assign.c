/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Given cells, each on a node of its own: a matching says whether, a search where best.
 */
#include <string.h>

#include "placement/search.h"

#define NOWHERE_YET UINT32_MAX

struct assignment {
	struct search *search;
	unsigned n_cells, n_sites;
	/* Of cell * n_sites + site: it fits there; it does, and emulator threads have a
	 * place there too. */
	bool *fits, *hosts;
	unsigned *on;	    /* by site: the cell on it, or NOWHERE_YET */
	bool *seen;	    /* sites, within one augmentation */
	struct cost *least; /* of the cells from each on: what each costs at least */
};

static bool fits_on(struct assignment *a, unsigned cell, const struct site *site,
		    bool emulator)
{
	const struct sites *sites = a->search->sites;
	const struct place_cell *want = &sites->request->cells[cell];

	return sites_allow(sites, cell, site) &&
	       sites_units(sites, want->memory) <= site->units &&
	       search_local(a->search, site, want->vcpus, emulator).fits;
}

static void find_fits(struct assignment *a)
{
	const struct sites *sites = a->search->sites;
	const struct place_request *request = sites->request;

	for (unsigned cell = a->n_cells; cell--;) {
		struct cost least = { { 0 } };
		bool any = false;

		for (unsigned i = 0; i < a->n_sites; i++) {
			const struct site *site = &sites->items[i];
			bool own = request->own && !site->housekeeping;
			size_t at = (size_t)cell * a->n_sites + i;

			a->hosts[at] = fits_on(a, cell, site, own);
			a->fits[at] = fits_on(a, cell, site, own && request->own_each);
			if (!a->fits[at])
				continue;
			struct local here = search_cheapest(a->search, site,
							    request->cells[cell].vcpus);
			if (!any || costs_compare(&here.cost, &least, request->pack) < 0)
				least = here.cost;
			any = true;
		}
		a->least[cell] = a->least[cell + 1];
		costs_add(&a->least[cell], &least);
	}
}

/* An augmenting path from CELL; CARRIER is the cell that the emulator must find a place
 * beside, or NOWHERE_YET. */
static bool augment(struct assignment *a, unsigned cell, unsigned carrier)
{
	const bool *fits = cell == carrier ? a->hosts : a->fits;

	for (unsigned i = 0; i < a->n_sites; i++) {
		if (a->seen[i] || !fits[(size_t)cell * a->n_sites + i])
			continue;
		a->seen[i] = true;
		if (a->on[i] == NOWHERE_YET || augment(a, a->on[i], carrier)) {
			a->on[i] = cell;
			return true;
		}
	}
	return false;
}

static bool match_cell(struct assignment *a, unsigned cell, unsigned carrier)
{
	memset(a->seen, 0, a->n_sites * sizeof(*a->seen));
	return augment(a, cell, carrier);
}

static bool match(struct assignment *a)
{
	for (unsigned i = 0; i < a->n_sites; i++)
		a->on[i] = NOWHERE_YET;
	for (unsigned cell = 0; cell < a->n_cells; cell++)
		if (!match_cell(a, cell, NOWHERE_YET))
			return false;
	return true;
}

/* As match(), with a place for the emulator beside CARRIER: its cell moves, and whichever
 * it pushes. */
static bool rematch(struct assignment *a, const unsigned *matched, unsigned carrier)
{
	memcpy(a->on, matched, a->n_sites * sizeof(*matched));
	for (unsigned i = 0; i < a->n_sites; i++)
		if (a->on[i] == carrier)
			a->on[i] = NOWHERE_YET;
	return match_cell(a, carrier, carrier);
}

static bool match_with_emulator(struct assignment *a)
{
	const struct place_request *request = a->search->sites->request;
	cleanup_free unsigned *matched = NULL;

	if (!match(a))
		return false;
	if (!request->own || request->own_each)
		return true;
	matched = xcalloc(a->n_sites, sizeof(*matched));
	memcpy(matched, a->on, a->n_sites * sizeof(*matched));
	for (unsigned carrier = 0; carrier < a->n_cells; carrier++)
		if (rematch(a, matched, carrier))
			return true;
	return false;
}

/* Puts the emulator beside PART or takes it away, and what that changes into TOTAL. */
static void move_emulator(struct search *search, struct part *part, bool emulator,
			  struct cost *total)
{
	struct local before = search_local(search, part->site, part->vcpus, !emulator);
	struct local after = search_local(search, part->site, part->vcpus, emulator);

	costs_add(total, &after.cost);
	costs_subtract(total, &before.cost);
	part->emulator = emulator;
	part->used = after.used;
}

/* The cells are where parts say: the best place for the emulator, and what it all costs.
 */
static void finish(struct assignment *a)
{
	struct search *search = a->search;
	struct part *parts = search->parts.items;
	enum emulators emulators = search_emulators(search, a->n_cells);
	struct cost total = search_nodes_cost(parts, a->n_cells);

	search->steps += a->n_cells;
	for (unsigned i = 0; i < a->n_cells; i++) {
		bool emulator = emulators == EMULATORS_EACH &&
				!parts[i].site->housekeeping;
		struct local here = search_local(search, parts[i].site, parts[i].vcpus,
						 emulator);

		parts[i].emulator = emulator;
		parts[i].used = here.used;
		costs_add(&total, &here.cost);
	}
	if (emulators != EMULATORS_ONE) {
		search_offer(search, total);
		return;
	}
	for (unsigned i = 0; i < a->n_cells; i++) {
		if (!a->hosts[(size_t)i * a->n_sites + parts[i].site->index])
			continue;
		move_emulator(search, &parts[i], true, &total);
		search_offer(search, total);
		move_emulator(search, &parts[i], false, &total);
	}
}

static bool same_cell(const struct place_cell *a, const struct place_cell *b)
{
	return a->vcpus == b->vcpus && a->memory == b->memory;
}

static bool used(const struct assignment *a, unsigned cell, const struct site *site)
{
	for (unsigned i = 0; i < cell; i++)
		if (a->search->parts.items[i].site == site)
			return true;
	return false;
}

/* All ways to go on from CELL; SPENT is what the cells before it cost on their nodes. */
static void assign(struct assignment *a, unsigned cell, const struct cost *spent)
{
	struct search *search = a->search;
	const struct place_cell *cells = search->sites->request->cells;
	struct part *part = &search->parts.items[cell];
	unsigned from = 0;

	if (cell == a->n_cells) {
		finish(a);
		return;
	}
	if (cell &&
	    same_cell(&cells[cell], &cells[cell - 1])) /* either order is the same */
		from = part[-1].site->index + 1;
	for (unsigned i = from; i < a->n_sites && search_goes_on(search); i++) {
		const struct site *site = &search->sites->items[i];
		struct cost sum = *spent;

		if (!a->fits[(size_t)cell * a->n_sites + i] || used(a, cell, site))
			continue;
		search->steps += cell + 1;
		part->site = site;
		struct local here = search_cheapest(search, site, part->vcpus);
		costs_add(&sum, &here.cost);
		struct cost bound = search_bound(search, cell + 1, a->n_cells);
		costs_add(&bound, &sum);
		costs_add(&bound, &a->least[cell + 1]);
		if (search_better(search, &bound))
			assign(a, cell + 1, &sum);
	}
}

static void take_match(struct assignment *a)
{
	for (unsigned i = 0; i < a->n_sites; i++)
		if (a->on[i] != NOWHERE_YET)
			a->search->parts.items[a->on[i]].site =
				&a->search->sites->items[i];
}

void assign_cells(struct search *search)
{
	const struct place_request *request = search->sites->request;
	unsigned n_cells = (unsigned)request->n_cells, n_sites = search->sites->count;
	size_t pairs = (size_t)n_cells * n_sites;
	const struct cost nothing = { { 0 } };

	if (request->n_cells > PLACE_CELLS_MAX || request->n_cells > n_sites)
		return;
	cleanup_free bool *fits = xcalloc(pairs, sizeof(*fits));
	cleanup_free bool *hosts = xcalloc(pairs, sizeof(*hosts));
	cleanup_free unsigned *on = xcalloc(n_sites, sizeof(*on));
	cleanup_free bool *seen = xcalloc(n_sites, sizeof(*seen));
	cleanup_free struct cost *least = xcalloc(n_cells + 1, sizeof(*least));
	struct assignment a = { .search = search,
				.n_cells = n_cells,
				.n_sites = n_sites,
				.fits = fits,
				.hosts = hosts,
				.on = on,
				.seen = seen,
				.least = least };

	search->parts.count = n_cells;
	for (unsigned i = 0; i < n_cells; i++)
		search->parts.items[i] = (struct part){
			.vcpus = request->cells[i].vcpus,
			.memory = request->cells[i].memory
		};
	find_fits(&a);
	if (!match_with_emulator(&a))
		return;
	take_match(&a);
	finish(&a);
	if (search_goes_on(search))
		assign(&a, 0, &nothing);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much smaller a guest's given cells would fit. The assignment that keeps the most is
 * found by shortest augmenting paths with potentials (the Hungarian method, in the form
 * of Jonker and Volgenant, Computing 38, 1987).
 */
#include <string.h>

#include "base/size.h"
#include "placement/cores.h"
#include "placement/nodes.h"
#include "placement/shrink.h"

/* What a cell loses on a node; sums of it. */
__extension__ typedef __int128 wide;

#define NEVER ((wide)1 << 100)

struct shrink {
	const struct sites *sites;
	bool pages; /* what shrinks, else vCPUs */
	unsigned n_cells;
	bool one;	    /* some cell has the emulator's own CPU beside it */
	uint64_t *keeps[2]; /* of cell * sites->count + site, and 1; 0: nothing fits.
			       In the second with the emulator beside it, if ONE. */
	unsigned carrier;   /* that cell, or n_cells */
	wide *cell_price, *site_price;
	unsigned *on; /* by site: the cell on it, or n_cells */
};

static bool fits(const struct sites *sites, const struct site *site, unsigned vcpus,
		 bool emulator)
{
	cleanup_free unsigned *takes = xcalloc(sites->largest, sizeof(*takes));
	struct cores_choice choice = { .takes = takes };

	return cores_choose(sites, site, vcpus, emulator, &choice);
}

/* vCPUs that CELL keeps on SITE, and 1. */
static uint64_t kept_vcpus(const struct sites *sites, const struct place_cell *cell,
			   const struct site *site, bool emulator)
{
	unsigned grain = nodes_grain(sites->request);
	unsigned most = (unsigned)size_least(cores_most(sites, site, emulator),
					     cell->vcpus);

	if (cell->vcpus % grain == 0)
		most -= most % grain;
	if (sites_units(sites, cell->memory) > site->units || (cell->vcpus && !most) ||
	    !fits(sites, site, most, emulator))
		return 0;
	return (uint64_t)most + 1;
}

static uint64_t kept_pages(const struct sites *sites, const struct place_cell *cell,
			   const struct site *site, bool emulator)
{
	uint64_t wanted = sites_units(sites, cell->memory);

	if ((wanted && !site->units) || !fits(sites, site, cell->vcpus, emulator))
		return 0;
	return size_least(wanted, site->units) + 1;
}

static void find_keeps(struct shrink *shrink)
{
	const struct sites *sites = shrink->sites;
	const struct place_request *request = sites->request;
	unsigned tables = shrink->one ? 2 : 1;

	for (unsigned i = 0; i < shrink->n_cells * sites->count; i++) {
		size_t number = i / sites->count;
		const struct place_cell *cell = &request->cells[number];
		const struct site *site = &sites->items[i % sites->count];
		bool own = request->own && !site->housekeeping;

		if (!sites_allow(sites, number, site))
			continue;
		for (unsigned beside = 0; beside < tables; beside++) {
			bool emulator = own && (beside || request->own_each);

			shrink->keeps[beside][i] = (shrink->pages ? kept_pages
								  : kept_vcpus)(
				sites, cell, site, emulator);
		}
	}
}

static wide loss(const struct shrink *shrink, unsigned cell, unsigned site)
{
	uint64_t keeps = shrink->keeps[cell == shrink->carrier]
				      [cell * shrink->sites->count + site];

	return keeps ? -(wide)keeps : NEVER;
}

/* One search: from a cell, over sites already taken, to the nearest free one. */
struct path {
	wide *far;	/* by site: how far it is */
	unsigned *from; /* by site: the site before it, or the number of sites */
	bool *done;
};

/* Looks at the sites beyond SITE, whose cell is CELL; yields the nearest not done. */
static unsigned step(struct shrink *shrink, struct path *path, unsigned cell,
		     unsigned site, wide base)
{
	unsigned count = shrink->sites->count, nearest = count;

	for (unsigned i = 0; i < count; i++) {
		if (path->done[i])
			continue;
		wide far = base + loss(shrink, cell, i) - shrink->cell_price[cell] -
			   shrink->site_price[i];

		if (far < path->far[i]) {
			path->far[i] = far;
			path->from[i] = site;
		}
		if (nearest == count || path->far[i] < path->far[nearest])
			nearest = i;
	}
	return nearest;
}

static void set_prices(struct shrink *shrink, const struct path *path, unsigned cell,
		       wide length)
{
	shrink->cell_price[cell] += length;
	for (unsigned i = 0; i < shrink->sites->count; i++)
		if (path->done[i]) {
			shrink->cell_price[shrink->on[i]] += length - path->far[i];
			shrink->site_price[i] -= length - path->far[i];
		}
}

/* Finds CELL a site, and moves others where that keeps most. */
static void assign_cell(struct shrink *shrink, struct path *path, unsigned cell)
{
	unsigned count = shrink->sites->count, site = count, next = cell;
	wide base = 0;

	for (unsigned i = 0; i < count; i++) {
		path->far[i] = NEVER * 1024;
		path->done[i] = false;
	}
	while ((site = step(shrink, path, next, site, base)) < count &&
	       shrink->on[site] < shrink->n_cells) {
		path->done[site] = true;
		base = path->far[site];
		next = shrink->on[site];
	}
	set_prices(shrink, path, cell, path->far[site]);
	for (unsigned before; site < count; site = before) {
		before = path->from[site];
		shrink->on[site] = before < count ? shrink->on[before] : cell;
	}
}

static void assign_all(struct shrink *shrink)
{
	unsigned count = shrink->sites->count;
	cleanup_free wide *far = xcalloc(count, sizeof(*far));
	cleanup_free unsigned *from = xcalloc(count, sizeof(*from));
	cleanup_free bool *done = xcalloc(count, sizeof(*done));
	struct path path = { far, from, done };

	memset(shrink->cell_price, 0, shrink->n_cells * sizeof(wide));
	memset(shrink->site_price, 0, count * sizeof(wide));
	for (unsigned i = 0; i < count; i++)
		shrink->on[i] = shrink->n_cells;
	for (unsigned cell = 0; cell < shrink->n_cells; cell++)
		assign_cell(shrink, &path, cell);
}

/* What is kept in all, if that is more than MOST; then the cells' are in RET_CELLS. */
static uint64_t better(struct shrink *shrink, uint64_t most, uint64_t *ret_cells)
{
	uint64_t cells[PLACE_CELLS_MAX], sum = 0;

	assign_all(shrink);
	for (unsigned i = 0; i < shrink->sites->count; i++) {
		unsigned cell = shrink->on[i];

		if (cell == shrink->n_cells)
			continue;
		wide lost = loss(shrink, cell, i);
		if (lost == NEVER)
			return most;
		cells[cell] = (uint64_t)-lost - 1;
		sum += cells[cell];
	}
	if (sum <= most)
		return most;
	memcpy(ret_cells, cells, shrink->n_cells * sizeof(*cells));
	return sum;
}

static uint64_t keep_most(const struct sites *sites, bool pages, uint64_t *ret_cells)
{
	const struct place_request *request = sites->request;
	unsigned n_cells = (unsigned)request->n_cells;
	uint64_t most = 0;

	if (request->n_cells > sites->count || request->n_cells > PLACE_CELLS_MAX)
		return 0;
	size_t pairs = (size_t)n_cells * sites->count;
	cleanup_free uint64_t *plain = xcalloc(pairs, sizeof(*plain));
	cleanup_free uint64_t *beside = xcalloc(pairs, sizeof(*beside));
	cleanup_free wide *cell_price = xcalloc(n_cells, sizeof(*cell_price));
	cleanup_free wide *site_price = xcalloc(sites->count, sizeof(*site_price));
	cleanup_free unsigned *on = xcalloc(sites->count, sizeof(*on));
	struct shrink shrink = { .sites = sites,
				 .pages = pages,
				 .n_cells = n_cells,
				 .one = request->own && !request->own_each,
				 .keeps = { plain, beside },
				 .cell_price = cell_price,
				 .site_price = site_price,
				 .on = on };

	find_keeps(&shrink);
	for (shrink.carrier = shrink.one ? 0 : n_cells;
	     shrink.carrier < n_cells + !shrink.one; shrink.carrier++)
		most = better(&shrink, most, ret_cells);
	return most;
}

uint64_t shrink_vcpus(const struct sites *sites, uint64_t *ret_cells)
{
	return keep_most(sites, false, ret_cells);
}

uint64_t shrink_pages(const struct sites *sites, uint64_t *ret_cells)
{
	return keep_most(sites, true, ret_cells);
}

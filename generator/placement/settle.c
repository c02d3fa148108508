/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes for guest cells without vCPUs, where the others' CPUs are given. */
#include <string.h>

#include "placement/settle.h"

bool settle_carries(const struct sites *sites, const struct site *site)
{
	bool own = false;

	for (unsigned i = 0; i < site->n_cores; i++)
		own |= sites->cores[site->first + i].own != 0;
	return own || site->housekeeping;
}

bool settle_takes(const struct sites *sites, const struct site *site,
		  const struct placement *placement, const struct placed_cell *cell)
{
	const struct place_request *request = sites->request;

	return sites_allow(sites, (size_t)(cell - placement->cells), site) &&
	       site->units >= sites_units(sites, cell->memory) &&
	       (!request->own || !request->own_each || settle_carries(sites, site));
}

/* Cells without vCPUs on their way to nodes; all by index of sites->items. */
struct settling {
	const struct sites *sites;
	const struct placement *placement;
	struct placed_cell **on; /* which of them is there, or NULL */
	bool *fixed;		 /* another cell is there, and stays */
	bool *seen;		 /* within one augmentation */
};

/* The least of the nodes not looked at that have the memory for CELL, or NULL. */
static const struct site *least_site(const struct settling *settling,
				     const struct placed_cell *cell)
{
	const struct site *best = NULL;

	for (unsigned i = 0; i < settling->sites->count; i++) {
		const struct site *site = &settling->sites->items[i];

		if (!settling->fixed[i] && !settling->seen[i] &&
		    settle_takes(settling->sites, site, settling->placement, cell) &&
		    (!best || site->units < best->units))
			best = site;
	}
	return best;
}

/* An augmenting path from CELL: whoever is on its node finds another. */
static bool settle(struct settling *settling, struct placed_cell *cell)
{
	const struct site *site;

	while ((site = least_site(settling, cell))) {
		struct placed_cell **there = &settling->on[site->index];

		settling->seen[site->index] = true;
		if (*there && !settle(settling, *there))
			continue;
		*there = cell;
		cell->node = site->number;
		return true;
	}
	return false;
}

void settle_all(const struct sites *sites, struct placement *placement,
		const struct placed_cell *settled)
{
	cleanup_free struct placed_cell **on = xcalloc(sites->count, sizeof(*on));
	cleanup_free bool *fixed = xcalloc(sites->count, sizeof(*fixed));
	cleanup_free bool *seen = xcalloc(sites->count, sizeof(*seen));
	struct settling settling = { sites, placement, on, fixed, seen };

	for (size_t i = 0; i < placement->n_cells; i++) {
		struct placed_cell *cell = &placement->cells[i];
		unsigned index = sites_index(sites, cell->node);

		if ((!cpuset_empty(&cell->vcpus) || cell == settled) &&
		    index < sites->count)
			fixed[index] = true;
	}
	for (size_t i = 0; i < placement->n_cells; i++) {
		struct placed_cell *cell = &placement->cells[i];

		memset(seen, 0, sites->count * sizeof(*seen));
		if (cpuset_empty(&cell->vcpus) && cell != settled &&
		    !settle(&settling, cell))
			cell->node = placement->cells[0].node;
	}
}

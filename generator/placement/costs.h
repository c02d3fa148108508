/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a placement costs: one number for each thing that placement cares about.
 * Placements are compared by the first column in which they differ, in the order of the
 * table in costs.c, which also says why and where the figures come from.
 */
#ifndef VMGEN_COSTS_H
#define VMGEN_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* Of what the policy wants near, the first so many count. */
enum { COST_NEAR_MAX = 8 };

enum column {
	COST_NEAR, /* and the columns behind it: distance to each thing wanted near */
	COST_WITH = COST_NEAR + COST_NEAR_MAX, /* distance to the guests it goes with */
	COST_NODES,			       /* host nodes */
	COST_REMOTE,	/* pages that are not where their share of the vCPUs is */
	COST_UNEVEN,	/* vCPUs by which the largest part exceeds the smallest */
	COST_DISTANCE,	/* sum of the distances between its nodes */
	COST_SIBLING,	/* own emulator CPUs that are siblings of its own vCPUs */
	COST_SHARING,	/* nodes on which it shares a core with another guest */
	COST_L3,	/* L3 domains that its vCPUs are on */
	COST_OWN,	/* CPUs taken for the emulator */
	COST_FRAGMENTS, /* cores that were whole and are left half used */
	COST_ROOM,	/* as the host policy packs or spreads: see costs_room() */
	COST_COLUMNS,
};

struct cost {
	uint64_t columns[COST_COLUMNS];
};

struct cost_row {
	const char *name; /* "distance" */
	const char *why;  /* with the source of its figures */
};

/* The columns in the order in which they count, COST_NEAR for all of its columns; ends
 * with COST_COLUMNS. */
const enum column *costs_order(bool pack);
const struct cost_row *costs_row(enum column column);

/* < 0, 0, > 0 */
int costs_compare(const struct cost *a, const struct cost *b, bool pack);
void costs_add(struct cost *sum, const struct cost *more);
void costs_subtract(struct cost *sum, const struct cost *less);

#endif

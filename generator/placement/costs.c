/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order in which placements are compared, and why. */
#include <stddef.h>

#include "placement/costs.h"

/*
 * How much each thing is worth, where it was measured:
 *
 *	vCPU's node not the NIC's or vhost's	44 % of the packets (9.0 to 5.0 Mpps), 66
 *% when they are copied (V)
 *	memory on another node			1 % (9.0 to 8.9 Mpps) (V)
 *	memory latency, guest on one node	20 % (xapi, CA-420968)
 *	a core shared with a stranger		40 to 75 % (xapi, CA-420968)
 *
 * V: vhost zero-copy practice, two sockets over QPI.
 */
#define NEAR                                                                            \
	{                                                                               \
		COST_NEAR, "near",                                                      \
			"a vCPU away from its device costs 44 to 66 % of the packets, " \
			"more than "                                                    \
			"anything "                                                     \
			"below (V)"                                                     \
	}
#define WITH                                                                          \
	{                                                                             \
		COST_WITH, "with",                                                    \
			"guests that talk to each other do so at the speed of their " \
			"path: 18 us and "                                            \
			"25 Gb/s are for the same socket (S)"                         \
	}
#define NODES                                                                         \
	{                                                                             \
		COST_NODES, "nodes",                                                  \
			"one node keeps all memory local: 20 % of its latency (xapi " \
			"CA-420968)"                                                  \
	}
#define UNEVEN                                                                    \
	{                                                                         \
		COST_UNEVEN, "uneven",                                            \
			"guests deal their work out evenly; equal cells let them" \
	}
#define REMOTE                                                                          \
	{                                                                               \
		COST_REMOTE, "remote",                                                  \
			"memory follows the vCPUs; away from them it costs 1 % of the " \
			"packets (V) and "                                              \
			"20 % of latency (xapi)"                                        \
	}
#define DISTANCE                                                                       \
	{                                                                              \
		COST_DISTANCE, "distance",                                             \
			"the firmware's SLIT: what a crossing between its nodes costs" \
	}
#define SIBLING                                                                          \
	{                                                                                \
		COST_SIBLING, "sibling",                                                 \
			"an emulator thread beside a vCPU takes 40 to 75 % of its core " \
			"(xapi "                                                         \
			"CA-420968)"                                                     \
	}
#define SHARING                                                                   \
	{                                                                         \
		COST_SHARING, "sharing",                                          \
			"another guest on the core takes 40 to 75 % of it (xapi " \
			"CA-420968)"                                              \
	}
#define L3                                                                             \
	{                                                                              \
		COST_L3, "l3", "vCPUs that share a cache pass data without the fabric" \
	}
#define OWN                                                                          \
	{                                                                            \
		COST_OWN, "own",                                                     \
			"housekeeping CPUs are there for emulators; others are for " \
			"vCPUs"                                                      \
	}
#define FRAGMENTS                                                                   \
	{                                                                           \
		COST_FRAGMENTS, "fragments",                                        \
			"a half-used core before a fresh one: whole cores are for " \
			"later guests"                                              \
	}
#define ROOM                                                                           \
	{                                                                              \
		COST_ROOM, "room",                                                     \
			"spread: nodes that stay half empty, the emptiest first, and " \
			"past that "                                                   \
			"(and with pack always) the fullest first, so that large "     \
			"guests find room"                                             \
	}
#define END                              \
	{                                \
		COST_COLUMNS, NULL, NULL \
	}

static const struct cost_row spread_order[] = {
	NEAR,	 WITH, NODES, REMOTE,	 UNEVEN, DISTANCE, SIBLING,
	SHARING, L3,   OWN,   FRAGMENTS, ROOM,	 END,
};

/* A full host takes more guests when a shared core is no reason to open another node. */
static const struct cost_row pack_order[] = {
	NEAR, WITH, NODES, REMOTE,  UNEVEN,    DISTANCE, SIBLING,
	L3,   OWN,  ROOM,  SHARING, FRAGMENTS, END,
};

const struct cost_row *costs_order(bool pack)
{
	return pack ? pack_order : spread_order;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int costs_compare(const struct cost *a, const struct cost *b, bool pack)
{
	int order = 0;

	for (unsigned i = COST_NEAR; i < COST_WITH && !order; i++)
		order = compare(a->columns[i], b->columns[i]);
	for (const struct cost_row *row = costs_order(pack) + 1; row->name && !order;
	     row++)
		order = compare(a->columns[row->column], b->columns[row->column]);
	return order;
}

void costs_add(struct cost *sum, const struct cost *more)
{
	for (unsigned i = 0; i < COST_COLUMNS; i++)
		sum->columns[i] += more->columns[i];
}

void costs_subtract(struct cost *sum, const struct cost *less)
{
	for (unsigned i = 0; i < COST_COLUMNS; i++)
		sum->columns[i] -= less->columns[i];
}

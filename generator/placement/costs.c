/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order in which placements are compared, and why. */
#include <stddef.h>

#include "placement/costs.h"

/* clang-format off */
/*
 * What was measured of a guest's vCPUs, memory and NIC on two sockets (V: vhost zero-copy
 * practice; S: a storage appliance's performance guide; xapi: CA-420968, Intel MLC):
 *
 *	vCPUs away from vhost's node	-44 % of the packets (9.0 to 5.0 Mpps), V
 *	the same when vhost copies	-66 % (9.0 to 3.1 Mpps), V
 *	vCPUs away from vhost's node,
 *	against the NIC away		-11 % (11.3 to 10.1 Mpps), V
 *	memory away			-1 % (9.0 to 8.9 Mpps), V
 *	memory on the guest's node	20 % of idle latency gained, xapi
 *	two busy threads on a core	40 to 75 % of its capacity lost, xapi
 */
/* clang-format on */
static const struct cost_row rows[] = {
	[COST_NEAR] = { "near", "away from its device a guest loses 11 to 66 % (V)" },
	[COST_WITH] = { "with",
			"guests that talk do so within a socket in 18 us, at 25 Gb/s "
			"(S)" },
	[COST_NODES] = { "nodes",
			 "one node keeps all memory local: 20 % of latency (xapi)" },
	[COST_REMOTE] = { "remote",
			  "memory goes where its vCPUs are: 1 % of the packets (V), "
			  "20 % of latency (xapi)" },
	[COST_UNEVEN] = { "uneven",
			  "guests deal work out evenly, so equal cells serve best" },
	[COST_DISTANCE] = { "distance", "what a crossing costs, by the firmware's SLIT" },
	[COST_SIBLING] = { "sibling",
			   "an emulator thread beside a vCPU takes 40 to 75 % of "
			   "its core (xapi)" },
	[COST_SHARING] = { "sharing", "another guest on the core takes 40 to 75 % of it "
				      "(xapi)" },
	[COST_L3] = { "l3", "vCPUs of one cache pass data without the fabric" },
	[COST_OWN] = { "own",
		       "emulators have housekeeping CPUs; the others are for vCPUs" },
	[COST_FRAGMENTS] = { "fragments",
			     "whole cores are for later guests: a half-used one "
			     "goes first" },
	[COST_ROOM] = { "room",
			"spread or pack; then most kinds of later guests still fit" },
};

#define FIRST                                                                      \
	COST_NEAR, COST_WITH, COST_NODES, COST_REMOTE, COST_UNEVEN, COST_DISTANCE, \
		COST_SIBLING

static const enum column spread_order[] = {
	FIRST, COST_SHARING, COST_L3, COST_OWN, COST_FRAGMENTS, COST_ROOM, COST_COLUMNS,
};

/* To pack is to share cores rather than to open another node. */
static const enum column pack_order[] = {
	FIRST, COST_L3, COST_OWN, COST_ROOM, COST_SHARING, COST_FRAGMENTS, COST_COLUMNS,
};

const enum column *costs_order(bool pack)
{
	return pack ? pack_order : spread_order;
}

const struct cost_row *costs_row(enum column column)
{
	return &rows[column];
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int costs_compare(const struct cost *a, const struct cost *b, bool pack)
{
	const enum column *column = costs_order(pack) + 1;
	int order = 0;

	for (unsigned i = COST_NEAR; i < COST_WITH && !order; i++)
		order = compare(a->columns[i], b->columns[i]);
	for (; *column != COST_COLUMNS && !order; column++)
		order = compare(a->columns[*column], b->columns[*column]);
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

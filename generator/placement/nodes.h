/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which nodes a guest gets.
 *
 * That one exists is decided exactly and at once: by a matching of cells to nodes, or,
 * when the split is free, by the roomiest nodes and then by a knapsack. Then branch and
 * bound looks for the best, for at most NODES_STEPS steps (looks at a node): within that
 * the answer is the best one, beyond it the best one seen. Two cells on 100 nodes, or any
 * guest on six, stay within.
 */
#ifndef VMGEN_NODES_H
#define VMGEN_NODES_H

#include "placement/sites.h"

enum { NODES_STEPS = 1 << 16 };

/* A guest cell on its node. */
struct part {
	const struct site *site;
	unsigned vcpus;
	uint64_t memory; /* bytes */
	bool emulator;	 /* gets a CPU of its own here */
	unsigned used;	 /* CPUs that this takes from vCPUs */
};

struct parts {
	struct part items[PLACE_CELLS_MAX];
	unsigned count;
	struct cost cost;
	unsigned steps; /* that the search took */
};

/* False when there is no placement. */
bool nodes_choose(const struct sites *sites, struct parts *ret_parts);
/* The same without looking for the best. */
bool nodes_fit(const struct sites *sites);

/* vCPUs that are never parted between nodes: those of a guest core. */
unsigned nodes_grain(const struct place_request *request);

#endif

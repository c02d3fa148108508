/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branch and bound over nodes: what assign.c (given cells) and split.c (a free split)
 * share. Inner header of nodes.c. */
#ifndef VMGEN_SEARCH_H
#define VMGEN_SEARCH_H

#include "placement/cores.h"
#include "placement/nodes.h"
#include "placement/room.h"

enum { SEARCH_CACHE = 1 << 12 };

/* What one node decides. */
struct local {
	bool fits;
	unsigned used; /* CPUs that are no longer free for vCPUs */
	struct cost cost;
};

struct cached {
	const struct site *site; /* NULL: nothing yet */
	unsigned vcpus;
	bool emulator;
	struct local local;
};

struct search {
	const struct sites *sites;
	struct cached *cache;
	unsigned *takes; /* scratch */
	struct room room;
	struct cost least;  /* of each column that nodes decide, over all nodes */
	struct parts parts; /* being built */
	struct parts best;
	bool found;
	bool any; /* the first that is found will do */
	unsigned steps;
};

enum emulators { EMULATORS_NONE, EMULATORS_EACH, EMULATORS_ONE };

/* Of VCPUS on SITE, and the emulator's CPU if EMULATOR; memory is not looked at. */
struct local search_local(struct search *search, const struct site *site, unsigned vcpus,
			  bool emulator);
/* The least that VCPUS cost on SITE, wherever the emulator goes. */
struct local search_cheapest(struct search *search, const struct site *site,
			     unsigned vcpus);
struct cost search_nodes_cost(const struct part *parts, unsigned count);
struct cost search_bound(const struct search *search, unsigned placed, unsigned count);
/* Neither is the bound reached nor what is wanted found. */
static inline bool search_goes_on(const struct search *search)
{
	return search->steps < NODES_STEPS && !(search->any && search->found);
}
bool search_better(const struct search *search, const struct cost *cost);
/* Keeps the parts being built if they are the best so far; COST is theirs but for
 * COST_ROOM. */
void search_offer(struct search *search, struct cost cost);
enum emulators search_emulators(const struct search *search, unsigned count);

void assign_cells(struct search *search);
void split_freely(struct search *search);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * COST_ROOM: what a placement leaves for the guests that come after it.
 *
 * Where CPUs are free matters more than how many: of two nodes with 4 free CPUs each and
 * two with 8 and 0, the first can take a guest of 4+4 and the second one of 8. So the
 * room that is left is the kinds of guests that still fit, each by how common it is:
 * guests of s vCPUs on one node and of s+s on two, with and without a CPU for the
 * emulator, a kind of n vCPUs counting 1/n^2 (small guests are the common ones), half of
 * that on two nodes; that a kind fits counts 1, that it fits many times a tenth more at
 * most.
 *
 * On streams like those of the placement benchmark this accepts 0.3 % more guests than
 * filling the fullest node first, and 2 % more than spreading.
 */
#ifndef VMGEN_ROOM_H
#define VMGEN_ROOM_H

#include "placement/nodes.h"

enum {
	ROOM_SIZES = 128
}; /* kinds of guests by their vCPUs on a node; room for the emulator */

struct room {
	const struct sites *sites;
	unsigned largest;  /* CPUs of the largest node, at most ROOM_SIZES */
	unsigned *by_free; /* indexes of sites, those with most free CPUs first */
	unsigned fits[ROOM_SIZES + 2]; /* how many parts of that size fit on all nodes */
};

void room_init(struct room *room, const struct sites *sites);
void room_done(struct room *room);

/*
 * Of PARTS. Spread takes nodes that no guest is on, the roomiest first; where there are
 * none, and with pack (which avoids those), what counts is the room that is left, then
 * how full its nodes are.
 */
uint64_t room_cost(const struct room *room, const struct part *parts, unsigned count);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of many nodes hold a guest between them: a knapsack of two dimensions, vCPUs and
 * memory, exact by dynamic programming. */
#ifndef VMGEN_KNAPSACK_H
#define VMGEN_KNAPSACK_H

#include <stdbool.h>
#include <stdint.h>

/* A node. One without room for a vCPU, or for memory where some is asked for, is never
 * picked. */
struct knapsack_item {
	unsigned vcpus[2]; /* that fit, without and with the emulator's own CPU */
	uint64_t units;	   /* of memory */
	bool carries;	   /* the emulator needs no CPU of its own there */
};

struct knapsack;

/* For at most LIMIT of the N items, borrowed, which are to hold VCPUS (not 0) and UNITS;
 * EMULATOR: and the emulator on one of them. N * LIMIT * VCPUS steps, as many bytes. */
struct knapsack *knapsack_new(const struct knapsack_item *items, unsigned n,
			      unsigned limit, unsigned vcpus, uint64_t units,
			      bool emulator);
void knapsack_free(struct knapsack *knapsack);

/* COUNT items, in order, that hold it all; false when no COUNT of them do. */
bool knapsack_pick(const struct knapsack *knapsack, unsigned count, unsigned *ret_items);

#endif

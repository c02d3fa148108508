/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a guest does not fit, and the nearest change with which it would. */
#ifndef VMGEN_REFUSE_H
#define VMGEN_REFUSE_H

#include "placement/place.h"

/* One change to a request, in the order in which they are looked for. */
enum nearest_kind {
	NEAREST_SMT,	 /* value: the enum smt that fits */
	NEAREST_NODESET, /* any host node, whatever nodeset and apart say */
	NEAREST_NODES,	 /* value: the fewest nodes to span */
	NEAREST_PAGES,	 /* value: the largest smaller page size, 0: normal pages */
	NEAREST_MEMORY,	 /* value: the most bytes of memory, in whole pages */
	NEAREST_VCPUS,	 /* value: the most vCPUs */
	NEAREST_NONE,	 /* no one change is enough */
};

struct nearest {
	enum nearest_kind kind;
	uint64_t value;
	/* Of memory and vCPUs, where the guest's cells are given: what each keeps. Each
	 * keeps some of what it has, and the sum is the most. Else n_cells is 0. */
	size_t n_cells;
	uint64_t cells[PLACE_CELLS_MAX];
};

/* The first change that makes REQUEST, which is refused, fit. Of a list of CPUs fewer
 * vCPUs take the first ones. */
struct nearest refuse_nearest(const struct place_request *request,
			      const struct place_state *state);

/* Reports the refusal at AT: what was needed, what each node has, the nearest change.
 * WHY, or NULL: the sentence that a list of CPUs fails by. */
void refuse(const struct place_request *request, const struct place_state *state,
	    const char *why, struct place at, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest's NUMA cells as placement is asked for them: several may share a host node, and
 * the guest's own <numatune> may name the nodes. */
#ifndef VMGEN_CELLS_H
#define VMGEN_CELLS_H

#include "guest/guest.h"
#include "placement/place.h"

/* What a request borrows for its cells. */
struct cells {
	/* By the guest's cells, or one if it has none: the host nodes that it is bound
	 * to, empty: any; and the cell of the request that it becomes a part of. */
	struct cpuset *bound;
	size_t *group;
	size_t count;
	struct place_cell *items; /* the request's cells, */
	struct cpuset *numbers;	  /* their vCPUs, */
	struct cpuset *nodes;	  /* and cell_nodes */
};

struct cells cells_of(const struct guest *guest);
void cells_done(struct cells *cells);

/* Binds vCPUs to where the guest's own <numatune> binds the memory they use; memory alone
 * may be on nodes without CPUs. What is only preferred goes to *RET_WISHED. False if
 * nothing is bound. */
bool cells_bind(struct cells *cells, const struct guest *guest, const struct host *host,
		struct cpuset *ret_wished);
void cells_unbind(struct cells *cells);

/* Puts the guest's cells into REQUEST: in GROUPS of neighbours as equal as can be, or so
 * that those bound to the same nodes share one. False: bindings within a group have no
 * node in common. */
bool cells_ask(struct cells *cells, const struct guest *guest, size_t groups,
	       struct place_request *request);
void cells_ask_by_binding(struct cells *cells, const struct guest *guest,
			  struct place_request *request);

/* Each other way to make GROUPS of them, after cells_first(): false when there is none
 * left. Eight cells have 4,140 ways in all (Bell's number). */
enum { CELLS_WAYS = 4140 };
void cells_first(struct cells *cells);
bool cells_ask_next(struct cells *cells, const struct guest *guest, size_t groups,
		    struct place_request *request);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a guest goes on a host: a pure function, complete (it refuses only if no
 * placement exists), deterministic, and best by the order that costs.h gives.
 */
#ifndef VMGEN_PLACE_H
#define VMGEN_PLACE_H

#include <stdint.h>

#include "base/cpuset.h"
#include "base/diag.h"
#include "base/text.h"
#include "host/host.h"
#include "policy/policy.h"

/* QEMU's MAX_NODES. */
enum { PLACE_CELLS_MAX = 128 };

/* A guest NUMA cell that needs a host node of its own. */
struct place_cell {
	unsigned vcpus;	 /* 0: a cell of memory only; may go to a node without CPUs */
	uint64_t memory; /* bytes */
	const struct cpuset *numbers; /* which vCPUs; NULL: the next ones in order */
};

struct place_request {
	/* Either cells (in the guest's order; PLACE_CELLS_MAX at most), each on a node of
	 * its own, or NULL and the number of host nodes that the guest may span: the
	 * split is placement's choice then, equal halves where they fit. */
	const struct place_cell *cells;
	size_t n_cells;
	unsigned max_nodes;
	unsigned vcpus;
	uint64_t memory;    /* bytes */
	uint64_t page_size; /* bytes; 0: normal pages */

	bool shared; /* vCPUs float over pool, none is owned */
	enum smt smt;
	unsigned threads; /* vCPUs of a guest core if the guest has a topology, else 0 */
	/* CPUs that vCPUs may get: online, not reserved ...; housekeeping CPUs never are
	 * a vCPU's, in pool or not */
	struct cpuset pool;
	/* vCPU i gets list[i] (in pool, each once); NULL: placement chooses from pool */
	const unsigned *list;

	/* Emulator and I/O threads: on housekeeping CPUs of the guest's nodes where there
	 * are any, else (and if own is set) on a CPU of their own from own_pool on one of
	 * its nodes, else on the housekeeping CPUs of other nodes. own_each: a CPU of
	 * their own on each of its nodes that has no housekeeping CPU (before 9.4.0
	 * libvirt cannot allocate on a node where the emulator may not run). */
	struct cpuset housekeeping;
	bool own;
	bool own_each;
	struct cpuset own_pool;

	struct cpuset nodeset; /* host nodes it may use */
	/* Of each cell, in their order, those of them it may use, an empty set: all;
	 * NULL: all for all. */
	const struct cpuset *cell_nodes;
	/* Nodes by what the policy wants near, most important first: the guest should be
	 * on one of near[i]; empty sets say nothing. */
	const struct cpuset *near;
	size_t n_near;
	struct cpuset
		with; /* nodes of the guests it should share a node with, or be near */
	struct cpuset apart; /* nodes that it must not use */
	bool pack;	     /* else spread */
	/* Where it is now, or NULL: kept while feasible. */
	const struct placement *standing;
};

/* What is already taken. */
struct place_state {
	const struct host *host;
	struct cpuset owned; /* CPUs with an owner */
	struct cpuset busy;  /* owned, or a vCPU of another guest runs there */
	/* By index into host->nodes: bytes of normal pages, and pages of the request's
	 * size, that others will still take of what the host says is free (of its total
	 * where it does not say what is free). May be NULL. */
	const uint64_t *memory_taken;
	const uint64_t *pages_taken;
	/* What the guest itself holds there already, bytes or pages as it asks for. */
	const uint64_t *own;
};

struct placed_cell {
	unsigned node;	     /* host node */
	struct cpuset vcpus; /* guest vCPUs */
	uint64_t memory;     /* bytes */
};

struct placement {
	unsigned *cpus; /* host CPU of each vCPU; NULL when shared */
	size_t n_vcpus;
	struct cpuset shared;	   /* where the vCPUs float, when shared */
	struct placed_cell *cells; /* at least one; in the guest's order */
	size_t n_cells;
	size_t *group; /* which of cells each cell of the guest is a part of; NULL: itself
			*/
	struct cpuset nodes;	/* = the nodes of cells */
	struct cpuset emulator; /* where emulator and I/O threads may run */
	bool emulator_own;	/* on CPUs of its own, not on housekeeping CPUs */
	struct cpuset owned;	/* CPUs, idle siblings and own emulator CPU included */
	unsigned threads; /* SMT siblings that consecutive vCPUs sit on: 1, 2, 4, 8 */
};

#define cleanup_placement cleanup(placement_free_pointer)

/* NULL and an error "placement" at PLACE, with notes that say what each node has and the
 * nearest change that would fit. */
struct placement *place(const struct place_request *request,
			const struct place_state *state, struct place at,
			struct diag *diag);
/* The same without a report. WHY, or NULL: gets a sentence when it is the request that
 * cannot be met, not the room that is lacking. */
struct placement *place_quietly(const struct place_request *request,
				const struct place_state *state, struct text *why);

/* Whether place() would succeed; sooner told than where. */
bool place_fits(const struct place_request *request, const struct place_state *state);

void placement_free(struct placement *placement);
void placement_free_pointer(struct placement **placement);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A placement whose CPUs are given: by the policy's list, or because they stand. */
#ifndef VMGEN_PINNED_H
#define VMGEN_PINNED_H

#include "base/text.h"
#include "placement/nodes.h"

/*
 * vCPU i on CPUS[i] (NULL: they float), in the request's cells, else in CELLS (N_CELLS of
 * them), else in one for each node that the CPUs are on. KEEP, or NULL: CPUs that the
 * emulator keeps where it may. NULL and one sentence in WHY when the request does not
 * allow it.
 */
struct placement *pinned(struct sites *sites, const unsigned *cpus,
			 const struct placed_cell *cells, size_t n_cells,
			 const struct cpuset *keep, struct text *why);

/* Adds to *RET_OWN the CPUs that the emulator gets, if any, beside the vCPUs of
 * PLACEMENT, which has its cells and CPUs. */
bool pinned_emulator(struct sites *sites, const struct placement *placement,
		     const struct cpuset *keep, struct cpuset *ret_own, struct text *why);

/* By core of the host: how many of the vCPUs of SET are on it; the caller frees it. */
unsigned *pinned_takes(struct sites *sites, const unsigned *cpus,
		       const struct cpuset *set);

/* Fills in what follows from the CPUs, the cells and the emulator's own CPUs: emulator,
 * nodes, owned, shared, threads. */
void pinned_finish(struct sites *sites, struct placement *placement,
		   const struct cpuset *own);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the host's nodes that claims will still take of what the host says is free.
 */
#ifndef VMGEN_TAKEN_H
#define VMGEN_TAKEN_H

#include "host/host.h"
#include "placement/claims.h"

/* By index into host->nodes: pages, or bytes where the size of pages is 0. */
struct taken {
	uint64_t *others; /* that other guests will still take */
	uint64_t *own;	  /* that the guest itself has, and the host does not call free */
};

/*
 * CLAIMS may be NULL; OWN is the guest's, one of them, or NULL.
 *
 * Where the host says what is free, guests that run have theirs already and take nothing
 * more of it. But what they have not touched yet seems free too: so the total must have
 * room for all. Where it does not, all that is claimed is taken.
 */
struct taken taken_memory(const struct host *host, const struct claims *claims,
			  const struct claim *own, uint64_t page_size);
void taken_done(struct taken *taken);

#endif

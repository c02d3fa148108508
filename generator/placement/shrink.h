/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much smaller a guest's given cells would fit: by the dearest assignment of cells to
 * nodes. */
#ifndef VMGEN_SHRINK_H
#define VMGEN_SHRINK_H

#include "placement/sites.h"

/* Each cell on a node of its own, with fewer vCPUs than it asks for (in whole guest cores
 * if it is made of such), or with fewer pages, but never with none of what it has: the
 * most that fit in all, cell by cell in RET_CELLS. 0 when none do. */
uint64_t shrink_vcpus(const struct sites *sites, uint64_t *ret_cells);
uint64_t shrink_pages(const struct sites *sites, uint64_t *ret_cells);

#endif

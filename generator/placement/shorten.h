/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much smaller a guest's given cells would fit where a list gives their CPUs, too:
 * vCPUs go from its end, memory from any cell. As in shrink.h each cell keeps some of what
 * it has; 0 when that does not fit, else the sum, and what each keeps in RET_CELLS.
 */
#ifndef VMGEN_SHORTEN_H
#define VMGEN_SHORTEN_H

#include "placement/place.h"

uint64_t shorten_vcpus(const struct place_request *request,
		       const struct place_state *state, uint64_t *ret_cells);
/* In pages of the request's size. */
uint64_t shorten_pages(const struct place_request *request,
		       const struct place_state *state, uint64_t *ret_cells);

#endif

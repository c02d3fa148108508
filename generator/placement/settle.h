/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes for guest cells without vCPUs, where the others' CPUs are given. */
#ifndef VMGEN_SETTLE_H
#define VMGEN_SETTLE_H

#include "placement/sites.h"

/* The emulator has a place on SITE, which has none of the vCPUs. */
bool settle_carries(const struct sites *sites, const struct site *site);

/* CELL, one of PLACEMENT's without vCPUs, may be on SITE, as far as that alone goes. */
bool settle_takes(const struct sites *sites, const struct site *site,
		  const struct placement *placement, const struct placed_cell *cell);

/* Puts the cells without vCPUs, but for SETTLED (NULL: for none), on nodes of their own,
 * by a matching. Where there is none, on any: that its memory is lacking is found later.
 */
void settle_all(const struct sites *sites, struct placement *placement,
		const struct placed_cell *settled);

#endif

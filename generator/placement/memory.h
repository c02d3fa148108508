/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A guest's memory on several nodes, in units: hugepages, or as much of normal memory as
 * is kept together.
 */
#ifndef VMGEN_MEMORY_H
#define VMGEN_MEMORY_H

#include "placement/nodes.h"

/* Units that the request's memory takes; those that SITE has, UINT64_MAX: unknown. */
uint64_t memory_units(const struct place_request *request);
uint64_t memory_room(const struct sites *sites, const struct site *site);

/* How the request's memory is dealt to PARTS, whose nodes and vCPUs are given: as those
 * are where it fits, else as the nodes have it; false when they have not enough. Units
 * that are not where their share of the vCPUs is are counted. */
bool memory_split(const struct sites *sites, struct part *parts, unsigned count,
		  uint64_t *ret_remote);

/* whole * part / parts, rounded down; the most that is less than that. */
uint64_t memory_share(uint64_t whole, uint64_t part, uint64_t parts);
uint64_t memory_share_below(uint64_t whole, uint64_t part, uint64_t parts);

#endif

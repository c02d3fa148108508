/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a guest's memory goes, as its XML says: for the rules on NUMA and hugepages. */
#ifndef VMGEN_NUMA_H
#define VMGEN_NUMA_H

#include "rules/rules.h"

/* A guest cell's binding, or the whole guest's where it has no cells. */
struct numa_binding {
	const struct element *element; /* <memnode> or <memory>; NULL: bound by nothing */
	const char *mode;	       /* "strict" unless it says otherwise */
	struct cpuset nodes; /* of the host; empty if not bound or left to numad */
	struct cpuset vcpus;
	uint64_t memory; /* bytes */
};

/* One for each guest cell, in their order, or one for the guest; the caller frees them.
 */
struct numa_binding *numa_bindings(const struct guest *guest, size_t *ret_count);

/* Host nodes that CPUS are on, as far as the host knows them. */
struct cpuset numa_nodes(const struct host *host, const struct cpuset *cpus);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which host nodes a guest's memory comes from, as its own <numatune> says. */
#ifndef VMGEN_BINDINGS_H
#define VMGEN_BINDINGS_H

#include "guest/guest.h"

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

/* The mode of a <memory> or <memnode>. */
const char *numa_mode(const struct element *element);

/* NULL: there is none. */
const struct guest_cell *guest_cell_find(const struct guest *guest,
					 unsigned long long id);

#endif

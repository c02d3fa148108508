/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked of placement: from policy, guest, host and claims to a place_request. */
#ifndef VMGEN_REQUEST_H
#define VMGEN_REQUEST_H

#include "guest/guest.h"
#include "placement/claims.h"
#include "placement/place.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

/* All borrowed; host_policy and claims may be NULL. */
struct request_source {
	const struct policy *policy;
	const struct host *host;
	const struct host_policy *host_policy;
	const struct claims *claims;
	const struct guest *guest;
	uint64_t libvirt; /* the target's version, 0: unknown */
	bool replace;	  /* forget where the guest is now */
	bool fixed;	  /* the guest\'s hardware stays what it is: no cells are made */
	bool running;	  /* it has its memory, which stays where it is */
	const struct cpuset *usable; /* CPUs that guests may use at all; NULL: all */
	bool away;		     /* stay off the nodes that the policy wants near */
};

/*
 * Where the guest goes, or NULL and a report. The guest's own NUMA cells go to nodes of
 * their own if policy and host allow it, else several share a node: neighbours, or if
 * that does not fit any that do (of eight cells every way is tried, of more the first
 * CELLS_WAYS); placement.cells are then fewer than the guest's. *ret_why (the caller
 * frees it) says in one line why it is these nodes.
 */
struct placement *request_placement(const struct request_source *source, char **ret_why,
				    struct diag *diag);

/* The host node that the guest's cell CELL (an index) was put on. */
unsigned request_cell_node(const struct placement *placement, size_t cell);

/* Where emulator or I/O threads run, by SAID (cputune's emulatorpin or iothreadpin). */
struct cpuset request_helpers(const struct request_source *source,
			      const struct placement *placement,
			      const struct value *said);

/* The size in bytes of the pages that back the guest, 0: normal pages. */
uint64_t request_page_size(const struct policy *policy, const struct guest *guest);

/* What the guest takes once it runs; the caller frees it with claim_done(). */
struct claim request_claim(const struct request_source *source,
			   const struct placement *placement);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a guest does not fit. */
#include "placement/cores.h"
#include "placement/refuse.h"

void refuse(const struct place_request *request, const struct place_state *state,
	    const char *why, struct place at, struct diag *diag)
{
	if (why)
		diag_error(diag, at, "placement", "%s", why);
	else
		diag_error(diag, at, "placement",
			   "no node has room for %u vCPUs and their memory",
			   request->vcpus);
	cleanup_sites struct sites *sites = sites_new(request, state);
	for (unsigned i = 0; i < sites->count; i++)
		diag_note(diag, NOWHERE, "node %u has %u CPUs free",
			  sites->items[i].number, sites->items[i].free);
}

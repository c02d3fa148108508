/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Claims: which guest owns which CPUs, memory and hugepages of the host. Values and their
 * text form, without clock or files; those are machine/'s.
 *
 * The text is one line a guest, sorted by UUID, readable with cat:
 *
 *	vmgen-claims 1
 *	UUID state=running cpus=1-3,7-19 vcpus=1-3,7-19 nodes=0 memory=0:8388608
 *		pages=0:1048576:8 name=iops-0
 *
 * (on one line), in this order; what is empty is left out. cpus are its own, vcpus those
 * that its vCPUs may run on; memory is NODE:KiB of normal pages, pages is
 * NODE:SIZE-KiB:COUNT, both lists; name is last and runs to the end of the line, with
 *\xNN for backslash and control characters.
 */
#ifndef VMGEN_CLAIMS_H
#define VMGEN_CLAIMS_H

#include <stdint.h>

#include "base/cpuset.h"
#include "base/diag.h"

enum claim_state { CLAIM_HELD, CLAIM_INCOMING, CLAIM_STARTING, CLAIM_RUNNING };

/* What a guest takes of one node. */
struct claim_memory {
	unsigned node;
	uint64_t page_size; /* bytes; 0: normal pages */
	uint64_t bytes;
};

struct claim {
	char uuid[37];
	char *name;
	enum claim_state state;
	struct cpuset cpus;	/* exclusively its own, idle SMT siblings included */
	struct cpuset vcpus_on; /* CPUs that its vCPUs may run on; exclusive or not */
	struct cpuset nodes;	/* where it is */
	struct claim_memory *memory;
	size_t n_memory;
};

struct claims {
	struct claim *items; /* by UUID */
	size_t count;
};

#define cleanup_claims cleanup(claims_free_pointer)

/* A malformed line is reported and NULL returned: half a ledger is worse than none. */
struct claims *claims_parse(const char *file, const char *text, size_t length,
			    struct diag *diag);
void claims_free(struct claims *claims);
void claims_free_pointer(struct claims **claims);
char *claims_format(const struct claims *claims); /* the caller frees it */

/* NULL when there is none. */
const struct claim *claims_find(const struct claims *claims, const char *uuid);
const struct claim *claims_find_name(const struct claims *claims, const char *name);
/* Puts CLAIM in (taking what it owns), in place of the one with its UUID. */
void claims_put(struct claims *claims, struct claim *claim);
void claims_drop(struct claims *claims, const char *uuid);
void claim_done(struct claim *claim);

#endif

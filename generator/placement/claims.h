/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Claims: which guest owns which CPUs, memory and hugepages of the host. Values and their
 * text form, without clock or files; those are machine/'s.
 *
 * The text is one line a guest, sorted by UUID, readable with cat:
 *
 *	vmgen-claims 1
 *	UUID state=running cpus=1-3,7-19 vcpus=1-3,7-19 nodes=0 memory=0:8388608
 *		pages=0:1048576:8 policy=storage-iops owner=4711:982451 until=120
 *		status=733:1764547200000000000 failure="it is gone" name=iops-0
 *
 * (on one line), in this order; what is empty is left out. cpus are its own, vcpus those
 * that its vCPUs may run on; memory is NODE:KiB of normal pages, pages is
 * NODE:SIZE-KiB:COUNT, both lists; owner is PID:START, status INODE:MTIME. name is last
 * and runs to the end of the line. In names and reasons backslash and control characters
 * are \xNN, and so is the space in a policy's name and the quote in a failure.
 */
#ifndef VMGEN_CLAIMS_H
#define VMGEN_CLAIMS_H

#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"

enum claim_state {
	CLAIM_HELD,	/* by a worker that brings the definition up to its policy */
	CLAIM_INCOMING, /* by a restore or migration, until prepare takes it over */
	CLAIM_STARTING, /* by the daemon that called prepare */
	CLAIM_RUNNING,	/* by QEMU */
	CLAIM_FAILED,	/* by nobody: a worker's failure, kept for `vmgen claims`; owns
			   nothing */
	CLAIM_STATES
};

extern const char *const claim_state_words[CLAIM_STATES]; /* "held" ... */

/* A process that cannot be mistaken for a later one with its number. pid 0: none. */
struct process {
	unsigned pid;
	uint64_t start; /* clock ticks after boot: field 22 of /proc/PID/stat */
};

/* A file that cannot be mistaken for its successor. inode 0: none. */
struct stamp {
	uint64_t inode;
	uint64_t mtime; /* nanoseconds */
};

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
	struct cpulist cpus;	 /* exclusively its own: of vCPUs, of an emulator without
				    housekeeping CPUs, idle SMT siblings */
	struct cpulist vcpus_on; /* CPUs that its vCPUs may run on; exclusive or not */
	struct cpulist nodes;	 /* where it is */
	struct claim_memory *memory;
	size_t n_memory;
	struct process owner; /* worker, daemon or QEMU, by state */
	uint64_t until;	      /* seconds after boot; 0: no limit but its owner's life */
	struct stamp status;  /* libvirt's status file when it was read last */
	char *policy;	      /* name, or NULL: a guest without one */
	char *failure;	      /* why a worker gave up, or NULL */
};

struct claims {
	struct claim *items; /* by UUID */
	size_t count;
};

#define cleanup_claims cleanup(claims_free_pointer)

/* Far more than guests on any host. */
enum { CLAIMS_MAX = 16384 };

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
struct claim claim_copy(const struct claim *claim); /* its own, to be freed */

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of claims: a pure function of them, of what runs, and of the clock. */
#ifndef VMGEN_EXPIRY_H
#define VMGEN_EXPIRY_H

#include "placement/claims.h"

/* A failure is shown for so long; nothing without a process to answer for it lasts
 * longer. Seconds. */
enum { EXPIRY_DAY = 86400 };

/*
 * Brings CLAIMS up to the truth. LIVE (taken from: its claims go over) are guests whose
 * QEMU runs and that were read anew from libvirt's status files; OWNER_LIVES says for
 * each claim by its index whether its owner still runs; NOW is seconds after boot.
 *
 *	running, starting	end with their owner
 *	held			ends when its time is over, and not with its worker: that
 *				it was there keeps the next start from calling another
 *	incoming, failed	end when their time is over
 *	of a guest in LIVE	is running, whatever it was
 *	a guest in LIVE		without a claim gets one
 *
 * A guest without a policy has what it is seen to have. One with a policy keeps what it
 * was given, since a worker may be about to move it there, and has also what it was seen
 * to have; where it was seen before, CPUs that its vCPUs have left since are free.
 */
void expiry_apply(struct claims *claims, const bool *owner_lives, struct claims *live,
		  uint64_t now);

/* Whether stopped and release leave the claim: it is held for a worker, or belongs to
 * what comes next, not to what has ended. */
bool expiry_outlives_stop(const struct claim *claim);

#endif

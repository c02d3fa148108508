/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * This machine's claims as apply and the worker see and change them. Nobody may call
 * libvirt with the ledger open: libvirt may wait for a hook that waits for the ledger. So
 * each of these opens it, and lets it go.
 */
#ifndef VMGEN_RESERVE_H
#define VMGEN_RESERVE_H

#include "placement/claims.h"

/* All of them, healed if MAY_HEAL (root's right), else as they stand; the caller frees
 * them. NULL and a report. */
struct claims *reserve_claims(bool may_heal, struct diag *diag);

/* Before the threads of a running guest are moved, it has what it had and what WANTED
 * has; afterwards it has what WANTED has. Its memory does not move. False and a report
 * when another guest was given some of these CPUs meanwhile. */
bool reserve_both(const struct claim *wanted, const char *policy, struct diag *diag);
bool reserve_new(const struct claim *wanted, struct diag *diag);

/* The worker's claim: taken over from the hook that held it (NULL and a report when it is
 * gone; else its name, which the caller frees); given to the guest's next start, with
 * what WANTED has; or failed, with a reason for `vmgen claims`. */
char *reserve_take_over(const char *uuid, struct diag *diag);
bool reserve_hand_over(const struct claim *wanted, const char *policy, struct diag *diag);
bool reserve_fail(const char *uuid, const char *reason, struct diag *diag);

#endif

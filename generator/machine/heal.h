/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Claims brought up to what the machine shows. */
#ifndef VMGEN_HEAL_H
#define VMGEN_HEAL_H

#include "machine/ledger.h"

/*
 * Reads libvirt's status files that are not as a claim remembers them, asks proc who
 * still lives, and lets expiry.h decide. A status file that cannot be read is a warning.
 * False and a report when proc cannot be looked at: everybody would seem dead.
 */
bool heal(struct claims *claims, const struct ledger_places *places, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cores of a node leave the fewest half used: the exact choice, core by core. */
#ifndef VMGEN_FRAGMENTS_H
#define VMGEN_FRAGMENTS_H

#include "placement/cores.h"

/* Cores times vCPUs of a node beyond which nothing is looked for: 512 and 511 within. */
enum { FRAGMENTS_STATES = 1 << 18 };

/* Changes CHOICE (takes and emulator) to one for as many vCPUs, NEED, with fewer cores
 * that were whole and are left half used, and no more of what counts before that in
 * costs.h. False: there is none. */
bool fragments_lessen(const struct sites *sites, const struct site *site, unsigned need,
		      struct cores_choice *choice);

/* Does the emulator's CPU or so many vCPUs leave CORE half used that was whole? */
bool fragments_leaves(const struct place_request *request, const struct core *core,
		      unsigned takes, bool emulator);

#endif

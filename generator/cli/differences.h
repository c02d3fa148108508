/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edits for a person to review, a line each. */
#ifndef VMGEN_DIFFERENCES_H
#define VMGEN_DIFFERENCES_H

#include "edits/edits.h"

/* On standard output those that reach from FIRST to LAST; WHY: each with its reason, and
 * the policy's line. */
void differences_print(const struct edits *edits, enum reach first, enum reach last,
		       bool why);

#endif

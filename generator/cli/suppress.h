/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings that a comment in the file allows, with a reason:
 *
 *	size: 80 GB  # vmgen: allow policy-hugepages: measured, no difference
 *	<!-- vmgen: allow pin-overlap: two idle vCPUs -->
 *
 * on the finding's line or the one above it. Without a reason it counts for nothing.
 */
#ifndef VMGEN_SUPPRESS_H
#define VMGEN_SUPPRESS_H

#include "base/diag.h"

/* Takes out of DIAG what comments in the TEXT of FILE allow. */
void suppress(struct diag *diag, const char *file, const char *text);

/* Line LINE (from 1) of TEXT, or NULL; the caller frees it. */
char *suppress_line(const char *text, unsigned line);

#endif

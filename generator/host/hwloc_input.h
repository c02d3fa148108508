/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What hwloc is given, looked at before: it builds whatever it is asked for. */
#ifndef VMGEN_HWLOC_INPUT_H
#define VMGEN_HWLOC_INPUT_H

#include "base/diag.h"

/* hwloc's XML. */
struct hwloc_input {
	char *text;    /* as this hwloc reads it */
	char *version; /* as it was written; NULL: older than versions */
	char *arch;    /* NULL: not noted */
	bool bits;     /* types of OS devices are bits, as since version 3 */
};

#define cleanup_hwloc_input cleanup(hwloc_input_done)

void hwloc_input_done(struct hwloc_input *input);

/*
 * False and a report when TEXT is not well-formed or would take hwloc too long. Where
 * READS_3 is false, version 3 is marked as version 2, from which it differs in those bits
 * and in what hwloc 2 skips.
 */
bool hwloc_input_xml(const char *file, const char *text, size_t length, bool reads_3,
		     struct hwloc_input *ret_input, struct diag *diag);

/* False and a report when the synthetic DESCRIPTION would take hwloc too long. */
bool hwloc_input_synthetic(const char *description, struct diag *diag);

#endif

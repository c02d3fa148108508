/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a guest does not fit, and the nearest change with which it would. */
#ifndef VMGEN_REFUSE_H
#define VMGEN_REFUSE_H

#include "placement/place.h"

/* Reports the refusal at AT; WHY, or NULL: the sentence that a list of CPUs fails by. */
void refuse(const struct place_request *request, const struct place_state *state,
	    const char *why, struct place at, struct diag *diag);

#endif

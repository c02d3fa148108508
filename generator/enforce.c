/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a start whose guest does not conform. */
#include "enforce.h"

static bool any_live(const struct edits *edits)
{
	for (size_t i = 0; i < edits->count; i++)
		if (edits->items[i].reach->reach == REACH_LIVE)
			return true;
	return false;
}

static bool all_live(const struct edits *edits)
{
	for (size_t i = 0; i < edits->count; i++)
		if (edits->items[i].reach->reach != REACH_LIVE)
			return false;
	return true;
}

static enum verdict mend(const struct situation *situation)
{
	if (situation->mending)
		return VERDICT_MENDING;
	if (situation->mended || situation->transient)
		return VERDICT_REFUSE;
	return situation->enforce == ENFORCE_RESTART || situation->autostart
		       ? VERDICT_MEND_START
		       : VERDICT_MEND;
}

enum verdict enforce_verdict(const struct situation *situation, const struct edits *edits)
{
	if (!edits->count || situation->enforce == ENFORCE_REPORT)
		return VERDICT_PASS;
	if (situation->saved_state)
		return any_live(edits) ? VERDICT_PASS_LIVE : VERDICT_PASS;
	if (situation->enforce == ENFORCE_REFUSE)
		return VERDICT_REFUSE;
	return all_live(edits) && !situation->unstartable ? VERDICT_PASS_LIVE
							  : mend(situation);
}

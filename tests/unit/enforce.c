/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a start: every case of the table, and properties over all situations.
 */
#include "enforce.h"
#include "tap.h"

static const struct reach_entry live = { .reach = REACH_LIVE };
static const struct reach_entry cold = { .reach = REACH_COLD };

static struct edit live_edit = { .reach = &live };
static struct edit mixed_edits[] = { { .reach = &live }, { .reach = &cold } };
static struct edit cold_edit = { .reach = &cold };

static const struct edits none = { .count = 0 };
static const struct edits all_live = { .items = &live_edit, .count = 1 };
static const struct edits mixed = { .items = mixed_edits, .count = 2 };
static const struct edits all_cold = { .items = &cold_edit, .count = 1 };

static void is_verdict(struct situation situation, const struct edits *edits,
		       enum verdict want, const char *name)
{
	enum verdict got = enforce_verdict(&situation, edits);

	ok(got == want, "%s (%d, want %d)", name, (int)got, (int)want);
}

static void table(void)
{
	const struct situation rewrite = { .enforce = ENFORCE_REWRITE };
	struct situation s;

	is_verdict(rewrite, &none, VERDICT_PASS, "what conforms starts");
	is_verdict(rewrite, &all_live, VERDICT_PASS_LIVE, "live edits follow the start");
	is_verdict(rewrite, &mixed, VERDICT_MEND, "others need the definition mended");
	s = rewrite;
	s.enforce = ENFORCE_REPORT;
	is_verdict(s, &mixed, VERDICT_PASS, "report only reports");
	s.enforce = ENFORCE_REFUSE;
	is_verdict(s, &all_live, VERDICT_REFUSE, "refuse refuses even for live edits");
	s.enforce = ENFORCE_RESTART;
	is_verdict(s, &mixed, VERDICT_MEND_START, "restart starts it again");
	s = rewrite;
	s.autostart = true;
	is_verdict(s, &mixed, VERDICT_MEND_START, "so does autostart: nobody else would");
	s = rewrite;
	s.mending = true;
	is_verdict(s, &mixed, VERDICT_MENDING, "a start while the worker is at it waits");
	s = rewrite;
	s.mended = true;
	is_verdict(s, &mixed, VERDICT_REFUSE,
		   "a mended guest that differs: never a loop");
	s = rewrite;
	s.transient = true;
	is_verdict(s, &mixed, VERDICT_REFUSE, "a transient guest is never made anew");
	s = rewrite;
	s.unstartable = true;
	is_verdict(s, &all_live, VERDICT_MEND, "live edits would come too late");
	is_verdict(s, &none, VERDICT_PASS, "without edits there is nothing to mend");
	s.mended = true;
	is_verdict(s, &all_live, VERDICT_REFUSE, "nor do they once it was mended");
	s = rewrite;
	s.saved_state = true;
	is_verdict(s, &all_cold, VERDICT_PASS,
		   "saved state is not refused for cold edits");
	is_verdict(s, &mixed, VERDICT_PASS_LIVE, "its live edits are made");
	s.enforce = ENFORCE_REFUSE;
	is_verdict(s, &mixed, VERDICT_PASS_LIVE, "whatever the policy enforces");
}

/* Over all situations and edits: what is promised always. */
static void properties(void)
{
	static const struct edits *const edits[] = { &none, &all_live, &mixed,
						     &all_cold };
	unsigned broken = 0, count = 0;

	for (unsigned bits = 0; bits < 256; bits++)
		for (size_t i = 0; i < ARRAY_SIZE(edits); i++, count++) {
			struct situation s = { (enum enforce)(bits >> 6),
					       bits & 1,
					       bits & 2,
					       bits & 4,
					       bits & 8,
					       bits & 16,
					       bits & 32 };
			enum verdict v = enforce_verdict(&s, edits[i]);
			bool mends = v == VERDICT_MEND || v == VERDICT_MEND_START;
			bool passes = v == VERDICT_PASS || v == VERDICT_PASS_LIVE;

			broken += !edits[i]->count && v != VERDICT_PASS;
			broken += s.saved_state && !passes;
			broken += mends && (s.transient || s.mended || s.mending);
			broken += mends && s.enforce < ENFORCE_REWRITE;
			broken += s.enforce == ENFORCE_REPORT && v != VERDICT_PASS;
			broken += s.unstartable && !s.saved_state &&
				  v == VERDICT_PASS_LIVE;
		}
	ok(broken == 0 && count == 1024, "%u situations keep what is promised", count);
}

int main(void)
{
	table();
	properties();
	return tap_done();
}

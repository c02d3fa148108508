/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of claims. */
#include "base/text.h"
#include "placement/expiry.h"
#include "tap.h"

#define NOW 1000u

static const char uuid[] = "11111111-2222-3333-4444-555555555555";

static struct cpulist set(const char *text)
{
	struct cpulist list = { NULL, 0 };

	if (*text)
		cpulist_parse(text, &list, NULL);
	return list;
}

static struct claim claim(enum claim_state state, const char *cpus, const char *vcpus)
{
	struct claim claim = {
		.name = xstrdup("a"),
		.state = state,
		.cpus = set(cpus),
		.vcpus_on = set(vcpus),
	};

	memcpy(claim.uuid, uuid, sizeof(uuid));
	return claim;
}

static struct claims *just(struct claim one)
{
	struct claims *claims = xcalloc(1, sizeof(*claims));

	claims_put(claims, &one);
	return claims;
}

/* One claim, its owner, its time: does it stay? */
static void stays(enum claim_state state, bool owner, uint64_t until, bool want)
{
	struct claim one = claim(state, "1", "1");
	cleanup_claims struct claims *none = xcalloc(1, sizeof(*none));

	one.until = until;
	cleanup_claims struct claims *claims = just(one);
	expiry_apply(claims, &owner, none, NOW);
	ok(claims->count == want && (!want || claims->items[0].state == state),
	   "%s, owner %s, until %d: %s", claim_state_words[state],
	   owner ? "there" : "gone", (int)until, want ? "stays" : "ends");
}

static void fates(void)
{
	static const struct {
		enum claim_state state;
		bool owner;
		uint64_t until;
		bool want;
	} cases[] = {
		{ CLAIM_HELD, true, 0, true },
		{ CLAIM_HELD, true, NOW + 30, true },
		{ CLAIM_HELD, true, NOW + 1, true },
		{ CLAIM_HELD, true, NOW, false },
		{ CLAIM_HELD, true, NOW - 1, false },
		{ CLAIM_HELD, false, NOW + 30, true },
		{ CLAIM_HELD, false, 0, false },
		{ CLAIM_HELD, true, NOW + EXPIRY_DAY + 1, false },
		{ CLAIM_INCOMING, false, NOW + 1, true },
		{ CLAIM_INCOMING, false, NOW, false },
		{ CLAIM_INCOMING, true, NOW - 1, false },
		{ CLAIM_INCOMING, false, 0, false },
		{ CLAIM_INCOMING, false, UINT64_MAX, false },
		{ CLAIM_STARTING, true, 0, true },
		{ CLAIM_STARTING, true, NOW - 1, true },
		{ CLAIM_STARTING, false, 0, false },
		{ CLAIM_STARTING, false, NOW + 30, false },
		{ CLAIM_RUNNING, true, 0, true },
		{ CLAIM_RUNNING, true, NOW - 1, true },
		{ CLAIM_RUNNING, false, 0, false },
		{ CLAIM_FAILED, false, NOW + EXPIRY_DAY, true },
		{ CLAIM_FAILED, false, NOW, false },
		{ CLAIM_FAILED, false, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		stays(cases[i].state, cases[i].owner, cases[i].until, cases[i].want);
}

/* A claim WAS, of a guest that is now seen to run as SEEN; as text, without the heading.
 */
static char *after(struct claim was, struct claim seen)
{
	static const bool gone = false;
	cleanup_claims struct claims *claims = just(was);

	seen.owner = (struct process){ 4711, 99 };
	seen.status = (struct stamp){ 7, 8 };
	cleanup_claims struct claims *live = just(seen);
	expiry_apply(claims, &gone, live, NOW);
	cleanup_free char *text = claims_format(claims);
	return xstrdup(strchr(text, '=') + 1);
}

static void becomes(struct claim was, struct claim seen, const char *want,
		    const char *why)
{
	cleanup_free char *got = after(was, seen);
	cleanup_free char *line = xasprintf("%s owner=4711:99 status=7:8 name=a\n", want);

	is(got, line, "%s", why);
}

static struct claim given(const char *cpus, const char *vcpus, bool was_seen)
{
	struct claim given = claim(CLAIM_STARTING, cpus, vcpus);

	given.policy = xstrdup("p");
	given.until = NOW + 5;
	given.status.inode = was_seen;
	return given;
}

static void sights(void)
{
	for (enum claim_state state = CLAIM_HELD; state < CLAIM_STATES; state++)
		becomes(claim(state, "", ""), claim(CLAIM_RUNNING, "", ""), "running",
			claim_state_words[state]);
	becomes(claim(CLAIM_RUNNING, "1", "1"), claim(CLAIM_RUNNING, "", "4-5"),
		"running vcpus=4-5", "without a policy it has what it is seen to have");
	becomes(given("1-2,9-10", "1-2", false), claim(CLAIM_RUNNING, "1-2", "1-2"),
		"running cpus=1-2,9-10 vcpus=1-2 policy=p", "idle siblings stay");
	becomes(given("1-2", "1-2", false), claim(CLAIM_RUNNING, "5-6", "5-6"),
		"running cpus=1-2,5-6 vcpus=5-6 policy=p",
		"seen first where a worker will take it away: both are its own");
	becomes(given("1-2,5-6", "5-6", true), claim(CLAIM_RUNNING, "1,6", "1,6"),
		"running cpus=1-2,6 vcpus=1,6 policy=p", "the worker is half done");
	becomes(given("1-2,9-10", "1-2", true), claim(CLAIM_RUNNING, "1,5", "1,5"),
		"running cpus=1,5,9-10 vcpus=1,5 policy=p", "an administrator moved one");
	becomes(given("1-2", "1-2", true), claim(CLAIM_RUNNING, "", "1-4"),
		"running cpus=1-2 vcpus=1-4 policy=p",
		"it keeps what it was given, and may float");
}

static void memory(void)
{
	static const struct claim_memory one = { 1, 0, 1024 }, two = { 0, 0, 2048 };
	struct claim was = given("", "", true), seen = claim(CLAIM_RUNNING, "", "");

	*append(was.memory, was.n_memory) = one;
	was.nodes = set("1");
	becomes(was, seen, "running nodes=1 memory=1:1 policy=p",
		"memory that the XML does not tell of is where it was put");
	was = given("", "", true);
	*append(was.memory, was.n_memory) = one;
	seen = claim(CLAIM_RUNNING, "", "");
	*append(seen.memory, seen.n_memory) = two;
	seen.nodes = set("0");
	becomes(was, seen, "running nodes=0 memory=0:2 policy=p",
		"memory that it tells of is there");
}

/* Several at once: those that end leave no gap, new ones come in order. */
static void several(void)
{
	static const bool lives[] = { false, true, false, true };
	cleanup_claims struct claims *claims = xcalloc(1, sizeof(*claims));
	cleanup_claims struct claims *live = xcalloc(1, sizeof(*live));
	cleanup_text struct text names = TEXT_INIT;

	for (char letter = 'b'; letter < 'f'; letter++) {
		struct claim one = claim(CLAIM_RUNNING, "", "");

		one.uuid[0] = letter;
		claims_put(claims, &one);
	}
	for (const char *letter = "adf"; *letter; letter++) {
		struct claim one = claim(CLAIM_RUNNING, "", "");

		one.uuid[0] = *letter;
		claims_put(live, &one);
	}
	expiry_apply(claims, lives, live, NOW);
	for (size_t i = 0; i < claims->count; i++)
		text_printf(&names, "%c", claims->items[i].uuid[0]);
	is(names.data, "acdef", "of b to e, b and d lost their owner; a, d, f run");
}

static void stops(void)
{
	static const bool outlives[CLAIM_STATES] = {
		[CLAIM_HELD] = true,
		[CLAIM_INCOMING] = true,
		[CLAIM_FAILED] = true,
	};

	for (enum claim_state state = CLAIM_HELD; state < CLAIM_STATES; state++) {
		struct claim one = { .state = state };

		ok(expiry_outlives_stop(&one) == outlives[state], "stopped %s %s claim",
		   outlives[state] ? "leaves a" : "ends a", claim_state_words[state]);
	}
}

int main(void)
{
	fates();
	sights();
	memory();
	several();
	stops();
	return tap_done();
}

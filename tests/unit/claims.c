/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Claims and their text. */
#include "base/text.h"
#include "placement/claims.h"
#include "tap.h"

#define A "11111111-2222-3333-4444-555555555555"
#define B "aaaaaaaa-2222-3333-4444-555555555555"

static struct claims *parse(const char *text, struct diag *diag)
{
	return claims_parse("claims", text, strlen(text), diag);
}

static void survives(const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_claims struct claims *claims = parse(text, &diag);
	cleanup_free char *back = claims ? claims_format(claims) : NULL;

	is(back, text, "comes back as it was");
}

static void refused(const char *lines, unsigned line, const char *why)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = xasprintf("vmgen-claims 1\n%s", lines);
	cleanup_claims struct claims *claims = parse(text, &diag);

	if (ok(!claims && diag.errors == 1 && diag.findings[0].line == line,
	       "%s is refused", why))
		note("%s", diag.findings[0].text);
}

static void round_trips(void)
{
	survives("vmgen-claims 1\n");
	survives("vmgen-claims 1\n" A
		 " state=running cpus=1-3,7-19 vcpus=1-3,7-19 nodes=0 "
		 "memory=0:8388608,1:4 pages=0:1048576:8,1:2048:512 name=iops-0\n" B
		 " state=held name=a \\x5c \\x0a=b\n");
	survives("vmgen-claims 1\n" A " state=starting vcpus=0-5 nodes=0-1 name=\n");
	survives("vmgen-claims 1\n" A
		 " state=failed nodes=3 policy=a\\x20b owner=4711:0 until=86400 "
		 "status=7:1764547200000000001 failure=\"it said \\x22no\\x22\" "
		 "name=a\"\n");
}

#define CLAIM_NUMBER "00000000-0000-4000-8000-%012x state=held name=a\n"

/* Lines in whatever order, one more than a power of two of them. */
static void unsorted(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_text struct text text = TEXT_INIT, want = TEXT_INIT;

	text_add(&text, "vmgen-claims 1\n");
	text_add(&want, "vmgen-claims 1\n");
	for (unsigned i = 0; i < 1025; i++) {
		text_printf(&text, CLAIM_NUMBER, 1024 - i);
		text_printf(&want, CLAIM_NUMBER, i);
	}
	cleanup_claims struct claims *claims = parse(text.data, &diag);
	cleanup_free char *got = claims ? claims_format(claims) : NULL;
	is(got, want.data, "claims are sorted as they are read");
}

/* 16 MiB of lines would be a hundred gigabytes of claims. */
static void too_many(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	enum { LENGTH = 16 << 20 };
	cleanup_free char *text = xmalloc(LENGTH + 1);

	memset(text, '\n', LENGTH);
	memcpy(text, "vmgen-claims 1", 14);
	text[LENGTH] = '\0';
	ok(!parse(text, &diag) && diag.errors == 1, "sixteen million lines are refused");
}

static void malformed(void)
{
	refused(A "\n", 2, "a bare UUID");
	refused("X state=held name=a\n", 2, "what is no UUID");
	refused(A " state=held name=a\n" A " state=held name=b\n", 3, "a second claim");
	refused(A " state=asleep name=a\n", 2, "an unknown state");
	refused(A " state=held\n", 2, "a line without name");
	refused(A " state=held  name=a\n", 2, "two spaces");
	refused(A " state=held nodes=0 cpus=1 name=a\n", 2, "another order");
	refused(A " state=held cpus=1 cpus=2 name=a\n", 2, "a key twice");
	refused(A " state=held cpus=1-x name=a\n", 2, "a bad CPU list");
	refused(A " state=held cpus= name=a\n", 2, "an empty CPU list");
	refused(A " state=held memory=0 name=a\n", 2, "memory without an amount");
	refused(A " state=held memory=0:-1 name=a\n", 2, "a negative amount");
	refused(A " state=held memory=0:1, name=a\n", 2, "a trailing comma");
	refused(A " state=held memory=99999:1 name=a\n", 2, "an absurd node");
	refused(A " state=held memory=0:99999999999999999 name=a\n", 2, "absurd memory");
	refused(A " state=held pages=0:0:1 name=a\n", 2, "pages of no size");
	refused(A " state=held pages=0:4 name=a\n", 2, "pages without a count");
	refused(A " state=held colour=red name=a\n", 2, "an unknown key");
	refused(A " state=held owner=0:1 name=a\n", 2, "process 0");
	refused(A " state=held owner=9999999999:1 name=a\n", 2, "an absurd process");
	refused(A " state=held owner=1 name=a\n", 2, "a process without its start");
	refused(A " state=held until=0 name=a\n", 2, "a limit of nothing");
	refused(A " state=held until=-1 name=a\n", 2, "a limit that is no number");
	refused(A " state=held status=1:2:3 name=a\n", 2, "a stamp of three numbers");
	refused(A " state=held until=1 owner=1:1 name=a\n", 2, "another order");
	refused(A " state=held policy= name=a\n", 2, "an empty policy");
	refused(A " state=failed failure=no name=a\n", 2, "a failure without quotes");
	refused(A " state=failed failure=\"no name=a\n", 2, "an open quote");
	refused(A " state=failed failure=\"no\"name=a\n", 2, "a quote without a space");
	refused(A " state=failed failure=\"\" name=a\n", 2, "an empty failure");
	refused(A " state=held name=\\x00\n", 2, "a NUL in a name");
	refused(A " state=held name=\\n\n", 2, "an unknown escape");
	refused("\n", 2, "an empty line");
	refused(A " state=held name=a", 0, "a line that is cut off");
}

static struct claim claim(const char *uuid, const char *name)
{
	struct claim claim = { .name = xstrdup(name), .state = CLAIM_HELD };

	memcpy(claim.uuid, uuid, sizeof(claim.uuid));
	return claim;
}

static void values(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_claims struct claims *claims = parse("vmgen-claims 1\n", &diag);
	struct claim b = claim(B, "b"), a = claim(A, "a"), again = claim(B, "b2");

	claims_put(claims, &b);
	claims_put(claims, &a);
	claims_put(claims, &again);
	cleanup_free char *both = claims_format(claims);
	is(both, "vmgen-claims 1\n" A " state=held name=a\n" B " state=held name=b2\n",
	   "sorted by UUID, one a guest");
	ok(claims_find_name(claims, "a") == claims_find(claims, A), "found by name");
	claims_drop(claims, A);
	claims_drop(claims, A);
	ok(claims->count == 1 && !claims_find(claims, A), "dropped once");
}

/* Numbers that are the same on every machine. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct cpulist random_list(uint64_t *state)
{
	struct cpuset set = CPUSET_INIT;

	for (uint64_t n = next(state) % 4; n; n--) {
		unsigned first = (unsigned)(next(state) % CPUSET_MAX);
		unsigned last = first + (unsigned)(next(state) % 5);

		cpuset_set_range(&set, first, last < CPUSET_MAX ? last : first);
	}
	return cpulist_of(&set);
}

/* Any bytes that a string can hold, mostly those that matter here. */
static char *random_string(uint64_t *state, size_t min)
{
	static const char matter[] = " \\\"=\n\t,:x5\x7f\x01\xff";
	cleanup_text struct text string = TEXT_INIT;

	for (uint64_t n = min + next(state) % 12; n; n--) {
		uint64_t which = next(state);
		char any = (char)(which % 255 + 1);

		text_add_bytes(&string,
			       which & 256 ? &matter[which % (sizeof(matter) - 1)] : &any,
			       1);
	}
	return text_take(&string);
}

static struct claim random_claim(uint64_t *state)
{
	struct claim claim = {
		.state = (enum claim_state)(next(state) % CLAIM_STATES),
		.cpus = random_list(state),
		.vcpus_on = random_list(state),
		.nodes = random_list(state),
		.owner = { (unsigned)(next(state) % 3 * 2147483), next(state) },
		.until = next(state) % 3,
		.status = { next(state) % 2 * next(state), next(state) },
		.name = random_string(state, 0),
		.policy = next(state) % 2 ? random_string(state, 1) : NULL,
		.failure = next(state) % 2 ? random_string(state, 1) : NULL,
	};

	snprintf(claim.uuid, sizeof(claim.uuid), "%08x-0000-0000-0000-%012x",
		 (unsigned)next(state) % 64, 0u);
	for (uint64_t n = next(state) % 4; n; n--) {
		uint64_t page = next(state) % 2 * 2048 * 1024;

		*append(claim.memory, claim.n_memory) = (struct claim_memory){
			.node = (unsigned)(next(state) % 8),
			.page_size = page,
			.bytes = next(state) % 100 * (page ? page : 1024),
		};
	}
	return claim;
}

static bool same_list(const struct cpulist *a, const struct cpulist *b)
{
	cleanup_free char *one = cpulist_format(a), *other = cpulist_format(b);

	return text_equal(one, other);
}

static bool same_claim(const struct claim *a, const struct claim *b)
{
	bool same = text_equal(a->uuid, b->uuid) && text_equal(a->name, b->name) &&
		    a->state == b->state && same_list(&a->cpus, &b->cpus) &&
		    same_list(&a->vcpus_on, &b->vcpus_on) &&
		    same_list(&a->nodes, &b->nodes) && a->until == b->until &&
		    text_equal(a->policy, b->policy) &&
		    text_equal(a->failure, b->failure) && a->n_memory == b->n_memory &&
		    a->owner.pid == b->owner.pid && a->status.inode == b->status.inode;
	uint64_t total = 0;

	if (a->owner.pid)
		same &= a->owner.start == b->owner.start;
	if (a->status.inode)
		same &= a->status.mtime == b->status.mtime;
	/* In the text normal pages come before the others. */
	for (size_t i = 0; same && i < a->n_memory; i++)
		total += a->memory[i].bytes - b->memory[i].bytes;
	return same && !total;
}

static void random_claims(void)
{
	uint64_t state = 88172645463325252u;
	unsigned wrong = 0;

	for (unsigned run = 0; run < 300; run++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_claims struct claims *claims = parse("vmgen-claims 1\n", &diag);

		for (uint64_t n = next(&state) % 8; n; n--) {
			struct claim each = random_claim(&state);
			claims_put(claims, &each);
		}
		cleanup_free char *text = claims_format(claims);
		cleanup_claims struct claims *back = parse(text, &diag);
		cleanup_free char *again = back ? claims_format(back) : NULL;
		bool same = back && back->count == claims->count &&
			    text_equal(text, again);
		for (size_t i = 0; same && i < claims->count; i++)
			same = same_claim(&claims->items[i], &back->items[i]);
		wrong += !same;
	}
	ok(!wrong, "random claims come back as they were");
}

/* No byte of a ledger may be lost or changed unseen in a way that crashes. */
static void damaged(void)
{
	static const char text[] =
		"vmgen-claims 1\n" A " state=held cpus=1-3 memory=0:8,1:4 pages=0:2048:5 "
		"policy=p owner=1:2 until=3 status=4:5 failure=\"x y\" name=a\\x5c\n";
	unsigned changed = 0;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		for (int byte = 0; byte < 256; byte++) {
			cleanup_diag struct diag diag = DIAG_INIT;
			char copy[sizeof(text)];

			memcpy(copy, text, sizeof(text));
			copy[i] = (char)byte;
			cleanup_claims struct claims *claims = claims_parse(
				"claims", copy, sizeof(text) - 1, &diag);
			cleanup_free char *back = claims ? claims_format(claims) : NULL;
			cleanup_claims struct claims *same =
				back ? claims_parse("claims", back, strlen(back), &diag)
				     : NULL;
			changed += claims ? !same : !diag.errors;
		}
	ok(!changed, "each damaged byte is refused, or read and written the same");
}

int main(void)
{
	round_trips();
	malformed();
	unsorted();
	too_many();
	values();
	random_claims();
	damaged();
	return tap_done();
}

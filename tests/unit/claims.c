/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Claims and their text. */
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

/* No byte of a ledger may be lost or changed unseen in a way that crashes. */
static void damaged(void)
{
	static const char text[] = "vmgen-claims 1\n" A
				   " state=held cpus=1-3 memory=0:8,1:4 "
				   "pages=0:2048:5 name=a\\x5c\n";
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
	values();
	damaged();
	return tap_done();
}

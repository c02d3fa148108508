/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ledger of claims: what is printed of it reads as the same. */
#include "fuzz/fuzz.h"
#include "placement/claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);
	cleanup_claims struct claims *claims = claims_parse("input", text, size, &diag);

	must(!claims == !!diag.errors);
	if (!claims)
		return 0;
	cleanup_free char *first = claims_format(claims);
	cleanup_claims struct claims *again = claims_parse("again", first, strlen(first),
							   &diag);
	must(again);
	cleanup_free char *second = claims_format(again);
	must(text_equal(first, second));
	return 0;
}

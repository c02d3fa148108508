/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libvirt's status file of a guest that runs: the claim that it yields can be kept. */
#include "fuzz/fuzz.h"
#include "machine/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);
	struct claim claim;

	if (!status_parse("input", text, size, &claim, &diag)) {
		must(diag.errors);
		return 0;
	}
	struct claims one = { &claim, 1 };
	cleanup_free char *line = claims_format(&one);
	cleanup_claims struct claims *again = claims_parse("again", line, strlen(line),
							   &diag);
	diag_print(&diag, stderr, false);
	must(again && again->count == 1);
	claim_done(&claim);
	return 0;
}

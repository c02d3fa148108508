/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy: read, or refused with a reason; what is salvaged of it is sound. */
#include "fuzz/fuzz.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT, again = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);
	struct policy *policy = policy_parse("input", text, size, &diag);
	bool sound;
	struct policy *salvaged = policy_salvage("input", text, size, &sound, &again);

	must(!policy == !!diag.errors && sound == !!policy);
	must(salvaged && salvaged->name.text);
	policy_free(salvaged);
	policy_free(policy);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A host policy: read, or refused with a reason. */
#include "fuzz/fuzz.h"
#include "policy/host_policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);
	struct host_policy *policy = host_policy_parse("input", text, size, &diag);

	must(!policy == !!diag.errors);
	host_policy_free(policy);
	return 0;
}

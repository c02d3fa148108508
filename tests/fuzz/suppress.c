/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comments that allow findings, in any text with a finding on each of its lines. */
#include "cli/suppress.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);

	for (unsigned line = 0; line < 100; line++) {
		cleanup_free char *found = suppress_line(text, line);

		diag_error(&diag, (struct place){ "input", line, 1 }, "pin-overlap",
			   "found in \"%s\"", found ? found : "");
	}
	suppress(&diag, "input", text);
	must(diag.errors <= 100 && diag.errors <= diag.count);
	return 0;
}

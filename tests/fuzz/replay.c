/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main of a fuzzing target without libFuzzer: runs it on each file that is named. */
#include "fuzz/fuzz.h"
#include "machine/file.h"

enum { INPUT_BYTES = 64 << 20 };

int main(int argc, char **argv)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	for (int i = 1; i < argc; i++) {
		size_t length;
		cleanup_free char *text = file_read(argv[i], INPUT_BYTES, &length, &diag);

		if (!text)
			continue;
		/* When it crashes, the last line tells on what. */
		fprintf(stderr, "replay: %s\n", argv[i]);
		LLVMFuzzerTestOneInput((const uint8_t *)text, length);
	}
	diag_print(&diag, stderr, false);
	return diag.errors != 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine as a string in hwloc's syntax. */
#include "fuzz/host.h"

static struct host *from_string(const char *file, const char *text, size_t length,
				struct diag *diag)
{
	(void)file;
	(void)length;
	return host_from_synthetic(text, diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_host(from_string, data, size);
}

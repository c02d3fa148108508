/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine in the form that `vmgen host` prints. */
#include "fuzz/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_host(host_from_yaml, data, size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine in hwloc's XML. */
#include "fuzz/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_host(host_from_hwloc_xml, data, size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU list, a size, a version: what is printed of it reads as the same. */
#include "base/cpuset.h"
#include "base/size.h"
#include "fuzz/fuzz.h"
#include "policy/fields.h"

static void cpus(const char *text)
{
	struct cpuset set, again;
	const char *error = NULL;
	size_t at = 0;

	if (!cpuset_parse(text, &set, &error, &at)) {
		must(error && at <= strlen(text));
		return;
	}
	cleanup_free char *printed = cpuset_format(&set);
	must(cpuset_parse(printed, &again, NULL, NULL) && cpuset_equal(&set, &again));
}

static void size(const char *text)
{
	uint64_t bytes, again;
	const char *error = NULL;

	if (!size_parse(text, &bytes, &error)) {
		must(error);
		return;
	}
	cleanup_free char *printed = size_format(bytes);
	must(size_parse(printed, &again, &error) && again == bytes);
}

static void version(const char *text)
{
	uint64_t number, again;

	if (!version_parse(text, &number))
		return;
	cleanup_free char *printed = version_format(number);
	must(version_parse(printed, &again) && again == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	cleanup_free char *text = fuzz_text(data, length);

	cpus(text);
	size(text);
	version(text);
	return 0;
}

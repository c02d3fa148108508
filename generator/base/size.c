/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes in bytes, with the units that libvirt reads. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/size.h"

static const char letters[] = "KMGTPE";

/* 0 when the unit is unknown. */
static uint64_t factor(const char *unit)
{
	if (!strcasecmp(unit, "b") || !strcasecmp(unit, "bytes"))
		return 1;
	for (unsigned i = 0; letters[i]; i++) {
		uint64_t binary = 1, decimal = 1;

		for (unsigned j = 0; j <= i; j++) {
			binary *= 1024;
			decimal *= 1000;
		}
		if (strncasecmp(unit, &letters[i], 1))
			continue;
		if (!unit[1] || !strcasecmp(unit + 1, "iB"))
			return binary;
		if (!strcasecmp(unit + 1, "B"))
			return decimal;
	}
	return 0;
}

bool size_scale(uint64_t number, const char *unit, uint64_t *ret_bytes)
{
	uint64_t scale = factor(unit ? unit : "KiB"), bytes;

	if (!scale || __builtin_mul_overflow(number, scale, &bytes))
		return false;
	*ret_bytes = bytes;
	return true;
}

bool size_parse(const char *text, uint64_t *ret_bytes, const char **ret_error)
{
	uint64_t number = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, *at - '0', &number)) {
			*ret_error = "the number is too large";
			return false;
		}
	if (at == text) {
		*ret_error = "a size begins with a whole number, as in \"8 GiB\"";
		return false;
	}
	at += *at == ' ';
	if (!*at || !factor(at)) {
		*ret_error =
			*at ? "the unit is not one of bytes, KiB, MiB, GiB, TiB, KB, "
			      "MB, GB, TB"
			    : "a size needs a unit, as in \"8 GiB\" or \"80 GB\"";
		return false;
	}
	if (!size_scale(number, at, ret_bytes)) {
		*ret_error = "the size is too large";
		return false;
	}
	return true;
}

char *size_format(uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	unsigned unit = 0;

	while (bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	return xasprintf("%" PRIu64 " %s", bytes, units[unit]);
}

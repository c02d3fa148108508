/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes in bytes, with the units that libvirt reads. */
#ifndef VMGEN_SIZE_H
#define VMGEN_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

static inline uint64_t size_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What is left of HAVE, which may be less than TAKEN. */
static inline uint64_t size_left(uint64_t have, uint64_t taken)
{
	return have > taken ? have - taken : 0;
}

/*
 * "80 GB" is 80 * 10^9, "8 GiB" and "8 G" are 8 * 2^30; case does not matter, a space is
 * optional, "b" and "bytes" are bytes. Source: libvirt, formatdomain, element memory
 * (virScaleInteger). A number without a unit is refused: libvirt itself reads it as
 * bytes here and as KiB there. On failure *ret_error is a static sentence fragment.
 */
bool size_parse(const char *text, uint64_t *ret_bytes, const char **ret_error);

/* NUMBER in UNIT as libvirt's unit attributes spell it (NULL: KiB); false when the unit
 * is unknown or the product does not fit. */
bool size_scale(uint64_t number, const char *unit, uint64_t *ret_bytes);

/* In the largest binary unit that divides it: "8 GiB", "1536 MiB", "80000000000 bytes";
 * the caller frees it. */
char *size_format(uint64_t bytes);

#endif

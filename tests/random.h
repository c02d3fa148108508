/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that look random and are the same in every run (Marsaglia, Xorshift RNGs,
 * 2003). */
#ifndef VMGEN_TEST_RANDOM_H
#define VMGEN_TEST_RANDOM_H

#include <assert.h>

/* Below LIMIT, which is not 0. */
static inline unsigned below(unsigned limit)
{
	static unsigned seed = 2463534242U;

	assert(limit);
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed >> 8) % limit;
}

#endif

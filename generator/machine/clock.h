/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks of clock_gettime(2), in milliseconds. */
#ifndef VMGEN_CLOCK_H
#define VMGEN_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif

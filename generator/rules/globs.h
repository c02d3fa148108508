/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether there is a name that two patterns, as fnmatch(3) reads them, both match. */
#ifndef VMGEN_GLOBS_H
#define VMGEN_GLOBS_H

#include <stdbool.h>
#include <stddef.h>

enum { GLOB_PARTS = 64, GLOB_SAMPLE = 2 * GLOB_PARTS + 1 };

struct glob;

/* NULL: not one that is looked at, since it has more than GLOB_PARTS characters, has
 * [: :], [= =] or [. .], or ends in the middle. The caller frees it. STEPS, some twenty
 * nanoseconds each, are counted down here and below; at 0 nothing is read, and nothing
 * meets. */
struct glob *glob_read(const char *pattern, size_t *steps);

/* True, with a name that both match, when there is one. */
bool globs_meet(const struct glob *a, const struct glob *b, size_t *steps,
		char ret_sample[static GLOB_SAMPLE]);

#endif

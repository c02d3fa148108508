/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine drawn for people: node by node, L3 by L3, siblings below each other. */
#ifndef VMGEN_MAP_H
#define VMGEN_MAP_H

#include <stdio.h>

#include "host/host.h"

/* What sits on CPU, a word of a few letters ("v3"); NULL: nothing. */
typedef const char *map_label(unsigned cpu, void *data);

/* Draws HOST, at most MAP_COLUMNS wide; LABEL may be NULL: then only numbers are drawn.
 */
enum { MAP_COLUMNS = 100 };
void map_draw(const struct host *host, map_label *label, void *data, bool colour,
	      FILE *stream);

#endif

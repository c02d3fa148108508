/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine in the short form that streams of guests come with: `cpu NUMBER NODE CORE L3`
 * for each CPU, `nodes NUMBER...`, and `distance NODE D...` in the order of nodes. Memory
 * is unknown there, so no constraint.
 */
#ifndef VMGEN_TOPO_H
#define VMGEN_TOPO_H

#include "host/host.h"

/* TEXT is changed. NULL and a report where a line is none of these. */
struct host *topo_parse(const char *file, char *text, struct diag *diag);

/* The words of a line up to "#", at most MAX of them in WORDS; LINE is changed. More than
 * MAX count as MAX + 1. */
size_t topo_words(char *line, char **words, size_t max);

#endif

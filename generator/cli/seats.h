/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who sits where: a compiled guest drawn into the map of its host. */
#ifndef VMGEN_SEATS_H
#define VMGEN_SEATS_H

#include <stdio.h>

#include "cli/job.h"

/* The map with each CPU's tenant below it, and a line for each kind of thread. */
void seats_print(const struct job *job, FILE *stream);

#endif

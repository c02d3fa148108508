/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the rules on pins, scheduling and NUMA ask of a guest's pins. */
#ifndef VMGEN_PINS_H
#define VMGEN_PINS_H

#include "rules/rules.h"

/* The CPUs that some vCPU is pinned to and may not leave. */
struct cpuset pins_alone(const struct guest *guest);

/* The CPUs that some vCPU is pinned to by an element of its own. */
struct cpuset pins_all(const struct guest *guest);

/* The ids of the guest's I/O threads, as far as a set holds them. */
struct cpuset pins_iothreads(const struct guest *guest);

/* Where the emulator may run, and the element that says so; false: anywhere. */
bool pins_emulator(const struct guest *guest, const struct element **ret_element,
		   struct cpuset *ret_cpus);

#endif

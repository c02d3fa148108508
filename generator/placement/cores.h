/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cores of a node a guest cell gets: the exact choice by the columns of costs.h
 * that one node decides (sibling, sharing, l3, own, fragments).
 * With packing: pack, where fragments come last, these are not looked for.
 */
#ifndef VMGEN_CORES_H
#define VMGEN_CORES_H

#include "placement/sites.h"

#define CORES_NONE UINT32_MAX

struct cores_choice {
	unsigned *takes;   /* vCPUs on each core of the site: an array of site->n_cores */
	unsigned emulator; /* core of the site that the emulator's CPU is on, or
			      CORES_NONE */
	unsigned used;	   /* CPUs that are no longer free for vCPUs */
	struct cost cost;
};

/* VCPUS of the request on SITE, and a CPU for the emulator if EMULATOR; memory is not
 * looked at. False when they do not fit. takes is the caller's, filled on success. */
bool cores_choose(const struct sites *sites, const struct site *site, unsigned vcpus,
		  bool emulator, struct cores_choice *choice);

/* The most vCPUs for which that succeeds. */
unsigned cores_most(const struct sites *sites, const struct site *site, bool emulator);

/* vCPUs that a core can take of which FREE threads are left to them. */
unsigned cores_room(const struct place_request *request, const struct core *core,
		    unsigned free);

#endif

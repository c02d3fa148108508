/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host as placement sees it for one request: its nodes, each with its cores by L3
 * domain, and how much of each core is to be had. Small numbers instead of sets, since
 * the search asks for them often.
 */
#ifndef VMGEN_SITES_H
#define VMGEN_SITES_H

#include "placement/costs.h"
#include "placement/place.h"

/* A CPU; those of a core stand together, in the order of their numbers. */
struct thread {
	unsigned cpu;
	unsigned core; /* in sites->cores */
	bool free;     /* a vCPU may have it */
	bool own;      /* the emulator may have it */
};

struct core {
	unsigned first, n_threads; /* in sites->threads */
	unsigned l3;
	unsigned site;	    /* in sites->items */
	unsigned free, own; /* threads that vCPUs, that the emulator may have */
	bool spare;  /* has a thread that the emulator may have and vCPUs may not */
	bool whole;  /* all of its threads are free */
	bool shared; /* another guest has a thread of it, or runs on one */
};

/* A host node. */
struct site {
	unsigned number;
	unsigned index; /* in sites->items */
	unsigned first,
		n_cores; /* in sites->cores; those of an L3 domain stand together */
	unsigned capacity, free; /* CPUs for vCPUs; those that no guest has */
	bool allowed;		 /* by nodeset and apart */
	bool housekeeping;	 /* has housekeeping CPUs */
	uint64_t units;		 /* of memory that are to be had; UINT64_MAX: unknown */
	unsigned near[COST_NEAR_MAX], with; /* distance to the nearest node of each */
	const unsigned *distances;	    /* to sites->items[i] */
};

struct sites {
	const struct place_request *request;
	const struct place_state *state;
	struct thread *threads;
	const struct thread **by_number; /* NULL until asked for */
	struct core *cores;
	struct site *items;
	unsigned n_threads, n_cores, count, largest; /* largest: cores of a site */
	unsigned *distances;
	uint64_t unit; /* bytes: a page, or 1 */
};

struct sites *sites_new(const struct place_request *request,
			const struct place_state *state);
void sites_free(struct sites *sites);
void sites_free_pointer(struct sites **sites);
#define cleanup_sites cleanup(sites_free_pointer)

/* NULL when the host has no such CPU. */
const struct thread *sites_thread(struct sites *sites, unsigned cpu);

/* Index of the node with NUMBER; sites->count when there is none. */
unsigned sites_index(const struct sites *sites, unsigned number);
/* The node with NUMBER, which is there. */
const struct site *sites_of(const struct sites *sites, unsigned number);

/* Cell CELL of the request may be on SITE, as far as its node's number goes. */
bool sites_allow(const struct sites *sites, size_t cell, const struct site *site);

/* Units of memory that BYTES take. */
uint64_t sites_units(const struct sites *sites, uint64_t bytes);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long placement takes, and how that grows with CPUs, nodes and claims. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "placement/place.h"

enum { RUNS = 21 };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* NODES nodes of CPUS in all, pairs of siblings, L3 domains of eight CPUs. */
static struct host *machine(unsigned nodes, unsigned cpus)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = xasprintf(
		"package:%u [numa(memory=64GB)] l3:%u core:4 pu:2", nodes,
		cpus / nodes / 8);
	struct host *host = host_from_synthetic(text, &diag);

	diag_print(&diag, stderr, false);
	return host;
}

/* Every other CPU on average has an owner, in no pattern. */
static void half_fill(struct place_state *state)
{
	unsigned seed = 7;

	for (size_t i = 0; i < state->host->n_cpus; i++) {
		seed = seed * 1103515245 + 12345;
		if (seed >> 30 & 1)
			cpuset_set(&state->owned, state->host->cpus[i].number);
	}
	state->busy = state->owned;
}

static double median_of(const struct place_request *request,
			const struct place_state *state)
{
	double times[RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		double start = now();
		struct placement *placement = place(request, state, NOWHERE, &diag);

		times[i] = placement ? now() - start : (double)NAN;
		placement_free(placement);
	}
	qsort(times, RUNS, sizeof(*times), order);
	return times[RUNS / 2];
}

static void measure(unsigned nodes, unsigned cpus, enum smt smt, const char *limit)
{
	struct host *host = machine(nodes, cpus);
	struct place_state state = { .host = host };
	const struct place_cell cells[] = { { .vcpus = 8, .memory = 1 << 30 },
					    { .vcpus = 8, .memory = 1 << 30 } };
	struct place_request request = {
		.cells = cells,
		.n_cells = 2,
		.max_nodes = 2,
		.vcpus = 16,
		.memory = UINT64_C(2) << 30,
		.smt = smt,
		.own = true,
	};

	if (!host)
		return;
	half_fill(&state);
	request.pool = request.own_pool = host->online;
	for (size_t i = 0; i < host->n_nodes; i++)
		cpuset_set(&request.nodeset, host->nodes[i].number);
	printf("place, 16 vCPUs in 2 cells on %2u nodes of %4u CPUs, smt %s: %6.0f "
	       "us%s\n",
	       nodes, cpus, smt == SMT_ANY ? "any   " : "prefer",
	       median_of(&request, &state), limit);
	host_free(host);
}

int main(void)
{
	measure(64, 1024, SMT_PREFER, "; limit 10000 us");
	for (unsigned cpus = 128; cpus <= 2048; cpus *= 2)
		measure(4, cpus, SMT_PREFER, "");
	for (unsigned nodes = 2; nodes <= 64; nodes *= 2)
		measure(nodes, 1024, SMT_ANY, "");
	return 0;
}

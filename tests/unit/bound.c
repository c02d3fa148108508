/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No input makes the search for nodes explode: it stops at NODES_STEPS, and still
 * answers. */
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"
#include "placement/nodes.h"
#include "tap.h"

static unsigned seed = 1;

static unsigned below(unsigned limit)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % limit;
}

/* Many nodes, all alike: what branch and bound can tell apart least. */
static struct host *machine(unsigned nodes)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = xasprintf(
		"package:%u [numa(memory=64GB)] l3:2 core:8 pu:2", nodes);

	return host_from_synthetic(text, &diag);
}

/* A random share of the CPUs of each node is taken, so that nodes differ a little. */
static void fill(struct place_state *state)
{
	for (size_t i = 0; i < state->host->n_cpus; i++)
		if (below(100) < 45)
			cpuset_set(&state->owned, state->host->cpus[i].number);
	state->busy = state->owned;
}

static double seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static void ask(unsigned nodes, unsigned cells, bool split, enum smt smt)
{
	struct host *host = machine(nodes);
	struct place_cell parts[PLACE_CELLS_MAX];
	struct cpuset near = CPUSET_INIT;
	struct place_state state = { .host = host };
	struct place_request request = {
		.cells = split ? NULL : parts,
		.n_cells = split ? 0 : cells,
		.max_nodes = cells,
		.smt = smt,
		.own = true,
		.own_each = true,
		.near = &near,
		.n_near = 1,
	};
	struct parts found;
	double start = seconds();

	fill(&state);
	request.pool = request.own_pool = host->online;
	cpuset_set_range(&request.nodeset, 0, nodes - 1);
	cpuset_set(&near, below(nodes));
	for (unsigned i = 0; i < cells; i++) {
		unsigned vcpus = 2 + below(3);

		parts[i] = (struct place_cell){ vcpus, UINT64_C(1) << 30, NULL };
		request.vcpus += vcpus;
		request.memory += UINT64_C(1) << 30;
	}
	cleanup_sites struct sites *sites = sites_new(&request, &state);
	bool fits = nodes_choose(sites, &found);
	ok(fits && found.steps <= NODES_STEPS + PLACE_CELLS_MAX,
	   "%u %s on %u nodes, smt %d: %u steps, %.2f s", cells,
	   split ? "parts" : "cells", nodes, (int)smt, found.steps, seconds() - start);
	host_free(host);
}

/* Why not, and what would: that too is told soon. */
static void ask_too_much(unsigned nodes, unsigned span)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct host *host = machine(nodes);
	struct place_state state = { .host = host };
	struct place_request request = {
		.max_nodes = span,
		.vcpus = nodes * 16,
		.memory = UINT64_C(16) << 30,
		.smt = SMT_ISOLATE,
		.own = true,
	};
	double start = seconds();

	fill(&state);
	request.pool = request.own_pool = host->online;
	cpuset_set_range(&request.nodeset, 0, nodes - 1);
	struct placement *placement = place(&request, &state, NOWHERE, &diag);
	const struct finding *finding = diag.count ? &diag.findings[0] : NULL;
	ok(!placement && finding && seconds() - start < 1,
	   "%u vCPUs on %u of %u nodes are refused in %.3f s: %s", request.vcpus, span,
	   nodes, seconds() - start,
	   finding ? finding->notes[finding->n_notes - 1].text : "-");
	placement_free(placement);
	host_free(host);
}

int main(void)
{
	static const unsigned cells[] = { 2, 4, 8, 16, 32 };

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		for (unsigned split = 0; split < 2; split++) {
			ask(64, cells[i], split, SMT_ANY);
			ask(64, cells[i], split, SMT_PREFER);
		}
	ask_too_much(64, 1);
	ask_too_much(64, 8);
	ask_too_much(64, 64);
	return tap_done();
}

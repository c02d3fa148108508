/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest change that a refusal names fits, and nothing earlier in the order does: by
 * brute force, on random small machines. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "brute.h"
#include "placement/refuse.h"
#include "tap.h"

enum { STATES = 4000 };

static unsigned seed = 2463534242U;

static unsigned below(unsigned limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed >> 8) % limit;
}

/* One to three nodes of two to four cores of THREADS each, pages of two sizes. */
static struct host *random_host(unsigned threads)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_text struct text text = TEXT_INIT;
	unsigned nodes = 1 + below(3), cpu = 0;

	text_add(&text, "machine: m\nnodes:\n");
	for (unsigned n = 0; n < nodes; n++) {
		text_printf(&text,
			    "  - node: %u\n    memory: 64 GiB\n    free: %u MiB\n    "
			    "hugepages:\n"
			    "      - {size: 2 MiB, total: 9999, free: %u}\n"
			    "      - {size: 4 MiB, total: 9, free: %u}\n    cpus:\n"
			    "      - {package: 0, l3: %u, cores:",
			    n, 1 + below(24), below(10), below(5), n);
		for (unsigned core = 2 + below(3); core; core--) {
			text_printf(&text, " %u", cpu++);
			if (threads == 2)
				text_printf(&text, "+%u", cpu++);
		}
		text_add(&text, "}\n    distances: [");
		for (unsigned i = 0; i < nodes; i++)
			text_add(&text, i == n ? "10, " : "20, ");
		text_add(&text, "]\n");
	}
	struct host *host = host_from_yaml("m.yaml", text.data, text.length, &diag);
	diag_print(&diag, stderr, false);
	return host;
}

static void random_question(struct host *host, struct place_request *request,
			    struct place_state *state)
{
	static const uint64_t sizes[] = { 0, 2 * MIB, 4 * MIB };

	*request = (struct place_request){
		.max_nodes = 1 + below(2),
		.vcpus = 1 + below(8),
		.memory = (1 + below(4)) * 4 * MIB,
		.page_size = sizes[below(3)],
		.smt = (enum smt)below(4),
		.pool = host->online,
		.own = below(2),
		.own_pool = host->online,
	};
	*state = (struct place_state){ .host = host };
	for (size_t i = 0; i < host->n_nodes; i++)
		if (below(4))
			cpuset_set(&request->nodeset, host->nodes[i].number);
	if (below(4) == 0)
		cpuset_set(&request->apart, below(3));
	for (size_t i = 0; i < host->n_cpus; i++)
		if (below(3) == 0)
			cpuset_set(&state->owned, host->cpus[i].number);
	state->busy = state->owned;
}

static bool fits(const struct place_request *request, const struct place_state *state)
{
	struct cost cost;

	return brute_place(request, state, &cost);
}

/* The first change in the order of the enumeration, each looked for from the least on. */
static struct nearest by_brute_force(struct place_request request,
				     const struct place_state *state)
{
	static const uint64_t smaller[] = { 2 * MIB, 0 };
	struct place_request changed = request;

	for (changed.smt = request.smt + 1; changed.smt <= SMT_ANY; changed.smt++)
		if (fits(&changed, state))
			return (struct nearest){ NEAREST_SMT, changed.smt };
	changed = request;
	changed.apart = (struct cpuset)CPUSET_INIT;
	cpuset_set_range(&changed.nodeset, 0, (unsigned)state->host->n_nodes - 1);
	if (fits(&changed, state))
		return (struct nearest){ NEAREST_NODESET, 0 };
	changed = request;
	for (changed.max_nodes++; changed.max_nodes <= state->host->n_nodes;
	     changed.max_nodes++)
		if (fits(&changed, state))
			return (struct nearest){ NEAREST_NODES, changed.max_nodes };
	changed = request;
	for (size_t i = 0; i < ARRAY_SIZE(smaller); i++) {
		changed.page_size = smaller[i];
		if (smaller[i] < request.page_size && fits(&changed, state))
			return (struct nearest){ NEAREST_PAGES, smaller[i] };
	}
	changed = request;
	while (request.page_size && changed.memory > request.page_size) {
		changed.memory -= request.page_size;
		if (fits(&changed, state))
			return (struct nearest){ NEAREST_MEMORY, changed.memory };
	}
	changed = request;
	while (--changed.vcpus)
		if (fits(&changed, state))
			return (struct nearest){ NEAREST_VCPUS, changed.vcpus };
	return (struct nearest){ NEAREST_NONE, 0 };
}

int main(void)
{
	unsigned refused = 0, wrong = 0, kinds[NEAREST_NONE + 1] = { 0 };

	for (unsigned i = 0; i < STATES; i++) {
		struct host *host = random_host(1 + below(2));
		struct place_request request;
		struct place_state state;

		random_question(host, &request, &state);
		if (!fits(&request, &state)) {
			struct nearest got = refuse_nearest(&request, &state);
			struct nearest want = by_brute_force(request, &state);

			refused++;
			kinds[want.kind]++;
			if (got.kind != want.kind || got.value != want.value) {
				wrong++;
				note("state %u: %d %" PRIu64 ", want %d %" PRIu64, i,
				     (int)got.kind, got.value, (int)want.kind,
				     want.value);
			}
		}
		host_free(host);
	}
	note("%u states, %u refused; nearest change: smt %u, nodeset %u, nodes %u, pages "
	     "%u, "
	     "memory %u, vCPUs %u, none %u",
	     (unsigned)STATES, refused, kinds[0], kinds[1], kinds[2], kinds[3], kinds[4],
	     kinds[5], kinds[6]);
	ok(wrong == 0 && refused > STATES / 10,
	   "brute force agrees on the nearest change (%u wrong)", wrong);
	for (unsigned kind = 0; kind <= NEAREST_NONE; kind++)
		ok(kinds[kind] > 0, "a change of kind %u was asked for", kind);
	return tap_done();
}

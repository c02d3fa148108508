/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest change that a refusal names fits, and nothing earlier in the order does: by
 * brute force, on random small machines. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "brute.h"
#include "placement/refuse.h"
#include "random.h"
#include "tap.h"

enum { STATES = 6000 };

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

/* One to three, now and then one of memory only, now and then one that no page fills. */
static void random_cells(const struct host *host, struct place_request *request,
			 struct place_cell *cells, struct cpuset *nodes)
{
	request->cells = cells;
	request->n_cells = 1 + below(3);
	request->vcpus = 0;
	for (size_t i = 0; i < request->n_cells; i++) {
		cells[i] = (struct place_cell){
			.vcpus = i && below(5) == 0 ? 0 : 1 + below(4),
			.memory = below(5) * 4 * MIB + below(2) * 512,
		};
		request->vcpus += cells[i].vcpus;
		nodes[i] = (struct cpuset)CPUSET_INIT;
		if (below(3) == 0)
			cpuset_set(&nodes[i],
				   host->nodes[below((unsigned)host->n_nodes)].number);
	}
	request->cell_nodes = below(3) ? NULL : nodes;
}

/* CPUs for all vCPUs, mostly those of a cell on one node: each once, some not free. False
 * when there are too few. */
static bool random_list(const struct host *host, const struct place_request *request,
			unsigned *list)
{
	struct cpuset left = host->online;
	unsigned vcpu = 0;

	for (size_t i = 0; i < request->n_cells; i++) {
		size_t node = below((unsigned)host->n_nodes);

		for (unsigned k = 0; k < request->cells[i].vcpus; k++) {
			struct cpuset here = left;

			if (below(10))
				cpuset_and(&here, &host->nodes[node].cpus);
			if (cpuset_empty(&here))
				return false;
			unsigned cpu = cpuset_next(&here, 0);
			for (unsigned skip = below(3); skip; skip--)
				if (cpuset_next(&here, cpu + 1) < CPUSET_MAX)
					cpu = cpuset_next(&here, cpu + 1);
			cpuset_clear(&left, cpu);
			list[vcpu++] = cpu;
		}
	}
	return true;
}

static void random_question(struct host *host, struct place_request *request,
			    struct place_cell *cells, struct cpuset *nodes,
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
	if (below(5) == 0)
		cpuset_set(&request->housekeeping,
			   host->cpus[below((unsigned)host->n_cpus)].number);
	if (below(2))
		random_cells(host, request, cells, nodes);
}

/* The node of each cell's CPUs on the list; false: they are on several. Sets RET_POOL to
 * the CPUs. */
static bool list_nodes(const struct place_request *request, const struct host *host,
		       struct cpuset *nodes, struct cpuset *ret_pool)
{
	unsigned vcpu = 0;

	for (size_t i = 0; i < request->n_cells; i++) {
		if (request->cell_nodes)
			nodes[i] = request->cell_nodes[i];
		for (unsigned k = 0; k < request->cells[i].vcpus; k++, vcpu++) {
			unsigned node =
				(unsigned)host_cpu(host, request->list[vcpu])->node;
			struct cpuset only = CPUSET_INIT;

			cpuset_set(&only, node);
			cpuset_set(ret_pool, request->list[vcpu]);
			if (!cpuset_empty(&nodes[i]) && !cpuset_has(&nodes[i], node))
				return false;
			nodes[i] = only;
		}
	}
	return true;
}

/* A list of CPUs for given cells is a pool of just these, each cell on its CPUs' node. */
static bool fits(const struct place_request *request, const struct place_state *state)
{
	struct place_request free = *request;
	struct cpuset nodes[3] = { CPUSET_INIT, CPUSET_INIT, CPUSET_INIT };
	struct cost cost;

	if (request->list) {
		free.pool = (struct cpuset)CPUSET_INIT;
		free.list = NULL;
		free.cell_nodes = nodes;
		if (!list_nodes(request, state->host, nodes, &free.pool))
			return false;
	}
	return brute_place(&free, state, &cost);
}

static uint64_t pages_of(const struct place_request *request, uint64_t bytes)
{
	return (bytes + request->page_size - 1) / request->page_size;
}

/* Every way to take some from the cells from INDEX on, in REQUEST, whose cells are
 * CELLS: the most that fits. */
static uint64_t smaller_cells(const struct place_request *request,
			      const struct place_state *state, struct place_cell *cells,
			      size_t index, bool pages)
{
	const struct place_cell was = cells[index];
	uint64_t whole = pages ? pages_of(request, was.memory) : was.vcpus, most = 0;

	if (index == request->n_cells) {
		uint64_t sum = 0;

		for (size_t i = 0; i < index; i++)
			sum += pages ? pages_of(request, cells[i].memory)
				     : cells[i].vcpus;
		return fits(request, state) ? sum : 0;
	}
	for (uint64_t keeps = whole ? 1 : 0; keeps <= whole; keeps++) {
		if (pages)
			cells[index].memory = keeps * request->page_size;
		else
			cells[index].vcpus = (unsigned)keeps;
		uint64_t here = smaller_cells(request, state, cells, index + 1, pages);

		most = here > most ? here : most;
	}
	cells[index] = was;
	return most;
}

/* Of a list the first ones: the last cell that has some loses one. */
static uint64_t shorter_list(struct place_request changed,
			     const struct place_state *state, struct place_cell *cells)
{
	size_t last = changed.n_cells - 1;

	for (unsigned vcpus = changed.vcpus - 1; vcpus; vcpus--) {
		while (!cells[last].vcpus)
			last--;
		if (!--cells[last].vcpus)
			return 0;
		changed.vcpus = vcpus;
		if (fits(&changed, state))
			return vcpus;
	}
	return 0;
}

static struct nearest nearest_cells(const struct place_request *request,
				    const struct place_state *state)
{
	struct place_cell cells[4] = { { 0 } };
	struct place_request changed = *request;
	uint64_t most = 0;

	memcpy(cells, request->cells, request->n_cells * sizeof(*cells));
	changed.cells = cells;
	if (request->page_size)
		most = smaller_cells(&changed, state, cells, 0, true);
	if (most)
		return (struct nearest){ .kind = NEAREST_MEMORY,
					 .value = most * request->page_size };
	most = changed.list ? shorter_list(changed, state, cells)
			    : smaller_cells(&changed, state, cells, 0, false);
	return (struct nearest){ .kind = most ? NEAREST_VCPUS : NEAREST_NONE,
				 .value = most };
}

/* What GOT says of each cell is what it says in all, and fits. */
static bool cells_fit(const struct place_request *request,
		      const struct place_state *state, const struct nearest *got)
{
	struct place_request changed = *request;
	struct place_cell cells[4];
	uint64_t sum = 0;

	for (size_t i = 0; i < got->n_cells; i++) {
		cells[i] = request->cells[i];
		if (got->kind == NEAREST_MEMORY)
			cells[i].memory = got->cells[i];
		else
			cells[i].vcpus = (unsigned)got->cells[i];
		sum += got->cells[i];
	}
	changed.cells = cells;
	return !got->n_cells || (sum == got->value && fits(&changed, state));
}

/* The first change in the order of the enumeration, each looked for from the least on. */
static struct nearest by_brute_force(struct place_request request,
				     const struct place_state *state)
{
	static const uint64_t smaller[] = { 2 * MIB, 0 };
	struct place_request changed = request;

	for (changed.smt = request.smt + 1; changed.smt <= SMT_ANY; changed.smt++)
		if (fits(&changed, state))
			return (struct nearest){ .kind = NEAREST_SMT,
						 .value = changed.smt };
	changed = request;
	changed.apart = (struct cpuset)CPUSET_INIT;
	changed.cell_nodes = NULL;
	cpuset_set_range(&changed.nodeset, 0, (unsigned)state->host->n_nodes - 1);
	if (fits(&changed, state))
		return (struct nearest){ .kind = NEAREST_NODESET };
	changed = request;
	for (changed.max_nodes++;
	     !request.cells && changed.max_nodes <= state->host->n_nodes;
	     changed.max_nodes++)
		if (fits(&changed, state))
			return (struct nearest){ .kind = NEAREST_NODES,
						 .value = changed.max_nodes };
	changed = request;
	for (size_t i = 0; i < ARRAY_SIZE(smaller); i++) {
		changed.page_size = smaller[i];
		if (smaller[i] < request.page_size && fits(&changed, state))
			return (struct nearest){ .kind = NEAREST_PAGES,
						 .value = smaller[i] };
	}
	if (request.cells)
		return nearest_cells(&request, state);
	changed = request;
	while (request.page_size && changed.memory > request.page_size) {
		changed.memory -= request.page_size;
		if (fits(&changed, state))
			return (struct nearest){ .kind = NEAREST_MEMORY,
						 .value = changed.memory };
	}
	changed = request;
	while (--changed.vcpus)
		if (fits(&changed, state))
			return (struct nearest){ .kind = NEAREST_VCPUS,
						 .value = changed.vcpus };
	return (struct nearest){ .kind = NEAREST_NONE };
}

int main(void)
{
	unsigned refused = 0, wrong = 0, in_cells = 0, in_lists = 0,
		 kinds[NEAREST_NONE + 1] = { 0 };

	for (unsigned i = 0; i < STATES; i++) {
		struct host *host = random_host(1 + below(2));
		struct place_request request;
		struct place_cell cells[3];
		struct cpuset nodes[3];
		unsigned list[BRUTE_VCPUS];
		struct place_state state;

		random_question(host, &request, cells, nodes, &state);
		if (request.cells && below(3) == 0 && random_list(host, &request, list)) {
			request.list = list;
			request.smt =
				SMT_ANY; /* siblings are not in the pool of fits() */
		}
		if (!fits(&request, &state)) {
			struct nearest got = refuse_nearest(&request, &state);
			struct nearest want = by_brute_force(request, &state);

			refused++;
			kinds[want.kind]++;
			in_cells += got.n_cells > 1;
			in_lists += request.list && got.n_cells;
			if (got.kind != want.kind || got.value != want.value ||
			    !cells_fit(&request, &state, &got)) {
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
	     "memory %u, vCPUs %u (%u of these two in cells, %u with a list), none %u",
	     (unsigned)STATES, refused, kinds[0], kinds[1], kinds[2], kinds[3], kinds[4],
	     kinds[5], in_cells, in_lists, kinds[6]);
	ok(wrong == 0 && refused > STATES / 10,
	   "brute force agrees on the nearest change (%u wrong)", wrong);
	for (unsigned kind = 0; kind <= NEAREST_NONE; kind++)
		ok(kinds[kind] > 0, "a change of kind %u was asked for", kind);
	return tap_done();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much smaller given cells would fit where a list gives their CPUs. */
#include <string.h>

#include "base/size.h"
#include "placement/settle.h"
#include "placement/shorten.h"
#include "placement/shrink.h"

/* The vCPUs of each cell. */
static struct cpuset *numbers_of(const struct place_request *request)
{
	struct cpuset *numbers = xcalloc(request->n_cells, sizeof(*numbers));
	unsigned next = 0;

	for (size_t i = 0; i < request->n_cells; i++) {
		const struct place_cell *cell = &request->cells[i];

		if (cell->numbers)
			numbers[i] = *cell->numbers;
		else if (cell->vcpus)
			cpuset_set_range(&numbers[i], next, next + cell->vcpus - 1);
		next += cell->vcpus;
	}
	return numbers;
}

uint64_t shorten_vcpus(const struct place_request *request,
		       const struct place_state *state, uint64_t *ret_cells)
{
	cleanup_free struct cpuset *numbers = numbers_of(request);
	struct place_cell cells[PLACE_CELLS_MAX];
	struct place_request shorter = *request;

	memcpy(cells, request->cells, request->n_cells * sizeof(*cells));
	for (size_t i = 0; i < request->n_cells; i++)
		cells[i].numbers = &numbers[i];
	shorter.cells = cells;
	while (--shorter.vcpus) {
		for (size_t i = 0; i < request->n_cells; i++) {
			if (!cpuset_has(&numbers[i], shorter.vcpus))
				continue;
			cpuset_clear(&numbers[i], shorter.vcpus);
			if (!--cells[i].vcpus)
				return 0;
		}
		if (place_fits(&shorter, state))
			break;
	}
	for (size_t i = 0; i < request->n_cells; i++)
		ret_cells[i] = cells[i].vcpus;
	return shorter.vcpus;
}

/* A request for the memory of cells alone, with the nodes that each may be on. */
struct memory_only {
	struct place_request request;
	struct place_cell cells[PLACE_CELLS_MAX];
	struct cpuset nodes[PLACE_CELLS_MAX];
};

static unsigned node_of(struct sites *sites, unsigned cpu)
{
	const struct thread *thread = sites_thread(sites, cpu);

	return thread ? sites->items[sites->cores[thread->core].site].number
		      : (unsigned)CPUSET_MAX;
}

/* The nodes for cell CELL, whose vCPUs are NUMBERS: of its CPUs, or any where the
 * emulator finds what it needs. */
static struct cpuset nodes_for(struct sites *sites, size_t cell,
			       const struct cpuset *numbers)
{
	const struct place_request *request = sites->request;
	struct cpuset nodes = CPUSET_INIT;

	cpuset_foreach (vcpu, numbers)
		cpuset_set(&nodes, node_of(sites, request->list[vcpu]));
	for (unsigned i = 0; i < sites->count && cpuset_empty(numbers); i++)
		if (sites_allow(sites, cell, &sites->items[i]) &&
		    (!request->own || !request->own_each ||
		     settle_carries(sites, &sites->items[i])))
			cpuset_set(&nodes, sites->items[i].number);
	return nodes;
}

/* False: the CPUs of a cell are on several nodes, or none does for it. */
static bool only_memory(struct sites *sites, struct memory_only *memory)
{
	const struct place_request *request = sites->request;
	cleanup_free struct cpuset *numbers = numbers_of(request);

	memory->request = *request;
	memory->request.vcpus = 0;
	memory->request.list = NULL;
	memory->request.own = false;
	memory->request.cells = memory->cells;
	memory->request.cell_nodes = memory->nodes;
	for (size_t i = 0; i < request->n_cells; i++) {
		memory->cells[i] = (struct place_cell){
			.memory = request->cells[i].memory
		};
		memory->nodes[i] = nodes_for(sites, i, &numbers[i]);
		if (cpuset_empty(&memory->nodes[i]) ||
		    (!cpuset_empty(&numbers[i]) && cpuset_count(&memory->nodes[i]) > 1))
			return false;
	}
	return true;
}

/* What is kept on the nodes that MEMORY allows, if that is more than MOST and REQUEST
 * fits with so much; then the cells' are in RET_CELLS. */
static uint64_t better(const struct memory_only *memory,
		       const struct place_request *request,
		       const struct place_state *state, uint64_t most,
		       uint64_t *ret_cells)
{
	cleanup_sites struct sites *sites = sites_new(&memory->request, state);
	struct place_request smaller = *request;
	struct place_cell cells[PLACE_CELLS_MAX];
	uint64_t kept[PLACE_CELLS_MAX], sum = shrink_pages(sites, kept);

	if (sum <= most)
		return most;
	memcpy(cells, request->cells, request->n_cells * sizeof(*cells));
	smaller.cells = cells;
	for (size_t i = 0; i < request->n_cells; i++)
		cells[i].memory = size_least(kept[i] * request->page_size,
					     cells[i].memory);
	if (!place_fits(&smaller, state))
		return most;
	memcpy(ret_cells, kept, request->n_cells * sizeof(*kept));
	return sum;
}

uint64_t shorten_pages(const struct place_request *request,
		       const struct place_state *state, uint64_t *ret_cells)
{
	cleanup_sites struct sites *sites = sites_new(request, state);
	struct memory_only memory;

	if (!only_memory(sites, &memory))
		return 0;
	uint64_t most = better(&memory, request, state, 0, ret_cells);

	if (most || !request->own)
		return most;
	/* The emulator may need a certain node, to which a cell without vCPUs goes. */
	for (size_t i = 0; i < request->n_cells; i++) {
		const struct cpuset nodes = memory.nodes[i];

		cpuset_foreach (node, &nodes) {
			memory.nodes[i] = (struct cpuset)CPUSET_INIT;
			cpuset_set(&memory.nodes[i], node);
			most = better(&memory, request, state, most, ret_cells);
		}
		memory.nodes[i] = nodes;
	}
	return most;
}

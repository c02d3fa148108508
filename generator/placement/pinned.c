/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A placement whose CPUs are given. */
#include <inttypes.h>
#include <string.h>

#include "placement/cores.h"
#include "placement/memory.h"
#include "placement/pinned.h"
#include "placement/settle.h"

/* Each CPU once, and free for a vCPU. */
static bool check_cpus(struct sites *sites, const unsigned *cpus, struct text *why)
{
	struct cpuset seen = CPUSET_INIT;

	for (unsigned i = 0; i < sites->request->vcpus; i++) {
		const struct thread *thread = sites_thread(sites, cpus[i]);
		const char *fault = NULL;

		if (!thread)
			fault = "is not online, or on no node";
		else if (cpuset_has(&seen, cpus[i]))
			fault = "is another vCPU's already";
		else if (cpuset_has(&sites->state->owned, cpus[i]))
			fault = "belongs to another guest";
		else if (cpuset_has(&sites->request->housekeeping, cpus[i]))
			fault = "is a housekeeping CPU";
		else if (!cpuset_has(&sites->request->pool, cpus[i]))
			fault = "is not one of the CPUs for vCPUs";
		else if (!thread->free)
			fault = "has a vCPU of another guest on it";
		if (fault) {
			text_printf(why, "vCPU %u cannot have CPU %u: it %s", i, cpus[i],
				    fault);
			return false;
		}
		cpuset_set(&seen, cpus[i]);
	}
	return true;
}

static struct placed_cell *cell_add(struct placement *placement)
{
	return append(placement->cells, placement->n_cells);
}

/* The cells' vCPUs and memory as the guest asks for them. */
static void requested_cells(const struct place_request *request,
			    struct placement *placement)
{
	unsigned next = 0;

	for (size_t i = 0; i < request->n_cells; i++) {
		const struct place_cell *want = &request->cells[i];
		struct placed_cell *cell = cell_add(placement);

		cell->memory = want->memory;
		if (want->numbers)
			cell->vcpus = *want->numbers;
		else if (want->vcpus)
			cpuset_set_range(&cell->vcpus, next, next + want->vcpus - 1);
		next += want->vcpus;
	}
}

static void cells_by_node(struct sites *sites, const unsigned *cpus,
			  struct placement *placement)
{
	for (unsigned i = 0; i < sites->request->vcpus; i++) {
		unsigned core = sites_thread(sites, cpus[i])->core;
		unsigned node = sites->items[sites->cores[core].site].number;
		size_t at = 0;

		while (at < placement->n_cells && placement->cells[at].node != node)
			at++;
		if (at == placement->n_cells)
			cell_add(placement)->node = node;
		cpuset_set(&placement->cells[at].vcpus, i);
	}
}

/* The node that all CPUs of a cell are on. */
static bool cell_node(struct sites *sites, const unsigned *cpus, struct placed_cell *cell,
		      size_t index, struct text *why)
{
	bool first = true;

	cpuset_foreach (vcpu, &cell->vcpus) {
		unsigned core = sites_thread(sites, cpus[vcpu])->core;
		unsigned node = sites->items[sites->cores[core].site].number;

		if (!first && node != cell->node) {
			text_printf(why,
				    "the CPUs of guest cell %zu are on nodes %u and %u",
				    index, cell->node, node);
			return false;
		}
		cell->node = node;
		first = false;
	}
	return true;
}

static bool check_nodes(const struct sites *sites, const struct placement *placement,
			struct text *why)
{
	struct cpuset seen = CPUSET_INIT;

	for (size_t i = 0; i < placement->n_cells; i++) {
		unsigned node = placement->cells[i].node;
		unsigned index = sites_index(sites, node);

		if (index == sites->count || !sites_allow(sites, i, &sites->items[index]))
			text_printf(why, "node %u is not one that the guest may use",
				    node);
		else if (cpuset_has(&seen, node))
			text_printf(why, "two guest cells are on node %u", node);
		if (why->length)
			return false;
		cpuset_set(&seen, node);
	}
	if (!sites->request->cells && placement->n_cells > sites->request->max_nodes)
		text_printf(why, "the CPUs are on %zu nodes, and the guest may span %u",
			    placement->n_cells, sites->request->max_nodes);
	return !why->length;
}

/* Splits the memory of a guest without cells, or checks that of its cells. */
static bool check_memory(const struct sites *sites, struct placement *placement,
			 struct text *why)
{
	struct part parts[PLACE_CELLS_MAX];
	uint64_t remote, total = 0;

	for (size_t i = 0; i < placement->n_cells; i++) {
		struct placed_cell *cell = &placement->cells[i];

		parts[i] = (struct part){ .site = sites_of(sites, cell->node),
					  .vcpus = cpuset_count(&cell->vcpus) };
		total += cell->memory;
	}
	if (!sites->request->cells && total != sites->request->memory) {
		if (!memory_split(sites, parts, (unsigned)placement->n_cells, &remote)) {
			text_add(why, "its nodes have not enough memory");
			return false;
		}
		for (size_t i = 0; i < placement->n_cells; i++)
			placement->cells[i].memory = parts[i].memory;
	}
	for (size_t i = 0; i < placement->n_cells; i++) {
		const struct placed_cell *cell = &placement->cells[i];

		if (sites_units(sites, cell->memory) <= parts[i].site->units)
			continue;
		text_printf(why, "node %u has not enough memory", cell->node);
		return false;
	}
	return true;
}

static bool check_core(const struct sites *sites, const struct core *core, unsigned takes,
		       struct text *why)
{
	const struct place_request *request = sites->request;
	unsigned cpu = sites->threads[core->first].cpu;

	if (takes > cores_room(request, core, core->free))
		text_printf(
			why,
			request->smt == SMT_ISOLATE
				? "smt: isolate needs the whole core of CPU %u"
				: "smt: require needs two free siblings on the core of "
				  "CPU %u",
			cpu);
	return !why->length;
}

static bool check_smt(struct sites *sites, const unsigned *cpus,
		      const struct placed_cell *cell, struct text *why)
{
	enum smt smt = sites->request->smt;
	cleanup_free unsigned *takes = pinned_takes(sites, cpus, &cell->vcpus);
	unsigned alone = 0, vcpus = cpuset_count(&cell->vcpus);

	for (unsigned i = 0; i < sites->n_cores; i++) {
		alone += takes[i] == 1;
		if (takes[i] && !check_core(sites, &sites->cores[i], takes[i], why))
			return false;
	}
	if (smt == SMT_REQUIRE && alone > vcpus % 2)
		text_printf(why, "smt: require leaves %u vCPUs without a sibling", alone);
	return !why->length;
}

static bool float_or_sit(struct sites *sites, const struct placement *placement,
			 struct text *why)
{
	for (size_t i = 0; i < placement->n_cells; i++) {
		const struct placed_cell *cell = &placement->cells[i];

		if (placement->cpus) {
			if (!check_smt(sites, placement->cpus, cell, why))
				return false;
		} else if (!sites_of(sites, cell->node)->free &&
			   !cpuset_empty(&cell->vcpus)) {
			text_printf(why, "node %u has no CPU for vCPUs", cell->node);
			return false;
		}
	}
	return true;
}

static bool arrange(struct sites *sites, struct placement *placement,
		    const struct placed_cell *cells, size_t n_cells, struct text *why)
{
	const unsigned *cpus = placement->cpus;

	if (cpus && !check_cpus(sites, cpus, why))
		return false;
	if (sites->request->cells)
		requested_cells(sites->request, placement);
	else if (!cells)
		cells_by_node(sites, cpus, placement);
	for (size_t i = 0; i < n_cells && !sites->request->cells; i++)
		*cell_add(placement) = cells[i];
	if (placement->n_cells > PLACE_CELLS_MAX) {
		text_printf(why, "QEMU takes at most %d NUMA cells", PLACE_CELLS_MAX);
		return false;
	}
	for (size_t i = 0; i < placement->n_cells; i++) {
		struct placed_cell *cell = &placement->cells[i];

		if (i < n_cells) /* where a cell without vCPUs stays */
			cell->node = cells[i].node;
		if (cpuset_next(&cell->vcpus, sites->request->vcpus) < CPUSET_MAX) {
			text_printf(why,
				    "guest cell %zu has vCPUs that the guest has not", i);
			return false;
		}
		if (cpus && !cell_node(sites, cpus, cell, i, why))
			return false;
	}
	if (!cells)
		settle_all(sites, placement, NULL);
	return check_nodes(sites, placement, why) &&
	       check_memory(sites, placement, why) && float_or_sit(sites, placement, why);
}

/* A cell without vCPUs brings the emulator a place that the others' nodes have not. */
static bool settle_for_emulator(struct sites *sites, struct placement *placement,
				struct cpuset *ret_own)
{
	for (size_t i = 0; i < placement->n_cells; i++)
		for (unsigned k = 0; k < sites->count; k++) {
			cleanup_text struct text why = TEXT_INIT;
			struct placed_cell *cell = &placement->cells[i];
			const struct site *site = &sites->items[k];

			if (!cpuset_empty(&cell->vcpus) ||
			    !settle_takes(sites, site, placement, cell) ||
			    !settle_carries(sites, site))
				continue;
			cell->node = site->number;
			settle_all(sites, placement, cell);
			if (check_nodes(sites, placement, &why) &&
			    check_memory(sites, placement, &why) &&
			    pinned_emulator(sites, placement, NULL, ret_own, &why))
				return true;
		}
	return false;
}

struct placement *pinned(struct sites *sites, const unsigned *cpus,
			 const struct placed_cell *cells, size_t n_cells,
			 const struct cpuset *keep, struct text *why)
{
	cleanup_placement struct placement *placement = xcalloc(1, sizeof(*placement));
	cleanup_text struct text lacking = TEXT_INIT;
	struct cpuset own = CPUSET_INIT;

	placement->n_vcpus = sites->request->vcpus;
	if (cpus) {
		placement->cpus = xcalloc(placement->n_vcpus, sizeof(*cpus));
		memcpy(placement->cpus, cpus, placement->n_vcpus * sizeof(*cpus));
	}
	if (!arrange(sites, placement, cells, n_cells, why))
		return NULL;
	if (!pinned_emulator(sites, placement, keep, &own, &lacking) &&
	    (cells || !settle_for_emulator(sites, placement, &own))) {
		text_add(why, lacking.data);
		return NULL;
	}
	pinned_finish(sites, placement, &own);
	return take(placement);
}

static void own_core(const struct sites *sites, const struct core *core,
		     struct cpuset *owned)
{
	for (unsigned i = 0; i < core->n_threads; i++)
		cpuset_set(owned, sites->threads[core->first + i].cpu);
}

/* Groups of that many consecutive vCPUs each sit on one core. */
static bool sits_together(struct sites *sites, const struct placement *placement,
			  unsigned threads)
{
	if (placement->n_vcpus % threads)
		return false;
	for (size_t i = 0; i < placement->n_vcpus; i++) {
		unsigned first = placement->cpus[i - i % threads];

		if (sites_thread(sites, placement->cpus[i])->core !=
		    sites_thread(sites, first)->core)
			return false;
	}
	return true;
}

static void finish_pins(struct sites *sites, struct placement *placement)
{
	for (size_t i = 0; i < placement->n_vcpus; i++) {
		const struct thread *thread = sites_thread(sites, placement->cpus[i]);

		if (sites->request->smt == SMT_ISOLATE)
			own_core(sites, &sites->cores[thread->core], &placement->owned);
		cpuset_set(&placement->owned, thread->cpu);
	}
	placement->threads = 8;
	while (placement->threads > 1 &&
	       !sits_together(sites, placement, placement->threads))
		placement->threads /= 2;
}

static void finish_node(const struct sites *sites, struct placement *placement,
			const struct site *site)
{
	const struct place_request *request = sites->request;

	for (unsigned i = 0; i < sites->n_threads; i++) {
		const struct thread *thread = &sites->threads[i];

		if (&sites->items[sites->cores[thread->core].site] != site)
			continue;
		if (cpuset_has(&request->housekeeping, thread->cpu))
			cpuset_set(&placement->emulator, thread->cpu);
		if (request->shared && thread->free &&
		    !cpuset_has(&placement->owned, thread->cpu))
			cpuset_set(&placement->shared, thread->cpu);
	}
	cpuset_set(&placement->nodes, site->number);
}

void pinned_finish(struct sites *sites, struct placement *placement,
		   const struct cpuset *own)
{
	placement->owned = *own;
	placement->threads = 1;
	placement->emulator_own = !cpuset_empty(own);
	if (placement->cpus)
		finish_pins(sites, placement);
	for (size_t i = 0; i < placement->n_cells; i++)
		finish_node(sites, placement, sites_of(sites, placement->cells[i].node));
	cpuset_or(&placement->emulator, own);
	if (cpuset_empty(&placement->emulator))
		placement->emulator = sites->request->housekeeping;
}

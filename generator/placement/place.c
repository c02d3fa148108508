/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a guest goes on a host: what stands, else what is listed, else the best there is.
 */
#include <string.h>

#include "placement/cores.h"
#include "placement/pinned.h"
#include "placement/place.h"
#include "placement/refuse.h"

void placement_free(struct placement *placement)
{
	if (!placement)
		return;
	free(placement->cpus);
	free(placement->cells);
	free(placement->group);
	free(placement);
}

void placement_free_pointer(struct placement **placement)
{
	placement_free(*placement);
}

/* A core with the vCPUs that it takes. */
struct fill {
	unsigned core, takes;
};

static int fill_order(const void *left, const void *right)
{
	const struct fill *a = left, *b = right;

	if (a->takes != b->takes)
		return a->takes > b->takes ? -1 : 1;
	return (a->core > b->core) - (a->core < b->core);
}

/* The CPU that the emulator gets on CORE, if it is to get one there. */
static unsigned emulator_cpu(const struct sites *sites, const struct core *core)
{
	unsigned cpu = CPUSET_MAX;

	for (unsigned i = core->n_threads; i--;) {
		const struct thread *thread = &sites->threads[core->first + i];

		if (thread->own && !(core->spare && thread->free))
			cpu = thread->cpu;
	}
	return cpu;
}

/* CPUs FROM to TO (not included) among those of CORE that are free for vCPUs and not the
 * EMULATOR's; yields where the next go. */
static unsigned *core_cpus(const struct sites *sites, const struct core *core,
			   unsigned from, unsigned to, unsigned emulator,
			   unsigned *ret_cpus)
{
	for (unsigned i = 0, n = 0; i < core->n_threads && n < to; i++) {
		const struct thread *thread = &sites->threads[core->first + i];

		if (thread->free && thread->cpu != emulator && n++ >= from)
			*ret_cpus++ = thread->cpu;
	}
	return ret_cpus;
}

/* Guest siblings on host siblings: whole guest cores first, what does not make one last.
 */
static void number_vcpus(const struct sites *sites, struct fill *fills, unsigned count,
			 unsigned emulator, unsigned *ret_cpus)
{
	unsigned group = nodes_grain(sites->request);

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < count; i++) {
			unsigned takes = fills[i].takes, whole = takes - takes % group;
			unsigned from = pass ? whole : 0, to = pass ? takes : whole;

			ret_cpus = core_cpus(sites, &sites->cores[fills[i].core], from,
					     to, emulator, ret_cpus);
		}
}

/* The vCPUs of a part on their CPUs, in the order of ret_cpus. */
static void realize(const struct sites *sites, const struct part *part,
		    struct cpuset *own, unsigned *ret_cpus)
{
	const struct site *site = part->site;
	cleanup_free unsigned *takes = xcalloc(site->n_cores, sizeof(*takes));
	cleanup_free struct fill *fills = xcalloc(site->n_cores, sizeof(*fills));
	struct cores_choice choice = { .takes = takes };
	unsigned emulator = CPUSET_MAX, count = 0;

	cores_choose(sites, site, part->vcpus, part->emulator, &choice);
	if (part->emulator) {
		emulator = emulator_cpu(sites,
					&sites->cores[site->first + choice.emulator]);
		cpuset_set(own, emulator);
	}
	for (unsigned i = 0; i < site->n_cores; i++)
		if (takes[i])
			fills[count++] = (struct fill){ site->first + i, takes[i] };
	qsort(fills, count, sizeof(*fills), fill_order);
	if (!sites->request->shared)
		number_vcpus(sites, fills, count, emulator, ret_cpus);
}

static void cell_numbers(const struct place_request *request, size_t index, unsigned next,
			 unsigned vcpus, struct cpuset *ret_set)
{
	if (request->cells && request->cells[index].numbers)
		*ret_set = *request->cells[index].numbers;
	else if (vcpus)
		cpuset_set_range(ret_set, next, next + vcpus - 1);
}

static struct placement *searched(struct sites *sites)
{
	const struct place_request *request = sites->request;
	struct parts parts;
	cleanup_free unsigned *cpus = NULL;
	struct cpuset own = CPUSET_INIT;
	unsigned next = 0;

	if (!nodes_choose(sites, &parts))
		return NULL;
	struct placement *placement = xcalloc(1, sizeof(*placement));
	placement->n_vcpus = request->vcpus;
	if (!request->shared)
		placement->cpus = xcalloc(request->vcpus, sizeof(*cpus));
	cpus = xcalloc(request->vcpus, sizeof(*cpus));
	for (unsigned i = 0; i < parts.count; i++) {
		const struct part *part = &parts.items[i];
		struct placed_cell *cell = append(placement->cells, placement->n_cells);
		unsigned at = 0;

		cell->node = part->site->number;
		cell->memory = part->memory;
		cell_numbers(request, i, next, part->vcpus, &cell->vcpus);
		next += part->vcpus;
		realize(sites, part, &own, cpus);
		cpuset_foreach (vcpu, &cell->vcpus)
			if (placement->cpus && vcpu < request->vcpus)
				placement->cpus[vcpu] = cpus[at++];
	}
	pinned_finish(sites, placement, &own);
	return placement;
}

static struct placement *standing(struct sites *sites)
{
	const struct place_request *request = sites->request;
	const struct placement *stands = request->standing;
	cleanup_text struct text why = TEXT_INIT;

	if (!stands || stands->n_vcpus != request->vcpus || request->list ||
	    !stands->cpus != request->shared || (request->shared && !stands->n_cells))
		return NULL;
	return pinned(sites, stands->cpus, stands->n_cells ? stands->cells : NULL,
		      stands->n_cells, stands->emulator_own ? &stands->emulator : NULL,
		      &why);
}

static bool sound(const struct place_request *request, struct text *why)
{
	unsigned vcpus = 0;

	if (!request->vcpus)
		text_add(why, "the guest has no vCPU");
	for (size_t i = 0; i < request->n_cells && request->cells; i++)
		vcpus += request->cells[i].vcpus;
	if (request->cells && vcpus != request->vcpus)
		text_printf(why, "the guest's cells hold %u vCPUs, and it has %u", vcpus,
			    request->vcpus);
	else if (request->cells && request->n_cells > PLACE_CELLS_MAX)
		text_printf(why, "the guest has %zu NUMA cells, and QEMU takes %d",
			    request->n_cells, PLACE_CELLS_MAX);
	return !why->length;
}

struct placement *place_quietly(const struct place_request *request,
				const struct place_state *state, struct text *why)
{
	cleanup_text struct text unwanted = TEXT_INIT;
	cleanup_sites struct sites *sites = NULL;
	struct placement *placement;

	if (!why)
		why = &unwanted;
	if (!sound(request, why))
		return NULL;
	sites = sites_new(request, state);
	placement = standing(sites);
	if (placement)
		return placement;
	return request->list ? pinned(sites, request->list, NULL, 0, NULL, why)
			     : searched(sites);
}

bool place_fits(const struct place_request *request, const struct place_state *state)
{
	cleanup_text struct text why = TEXT_INIT;
	cleanup_sites struct sites *sites = NULL;

	if (!sound(request, &why))
		return false;
	sites = sites_new(request, state);
	if (!request->list)
		return nodes_fit(sites);
	cleanup_placement struct placement *placement = pinned(sites, request->list, NULL,
							       0, NULL, &why);
	return placement;
}

struct placement *place(const struct place_request *request,
			const struct place_state *state, struct place at,
			struct diag *diag)
{
	cleanup_text struct text why = TEXT_INIT;
	struct placement *placement = place_quietly(request, state, &why);

	if (!placement)
		refuse(request, state, why.data, at, diag);
	return placement;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU of its own for the emulator of a guest whose vCPUs have theirs. */
#include "placement/pinned.h"

unsigned *pinned_takes(struct sites *sites, const unsigned *cpus,
		       const struct cpuset *set)
{
	unsigned *takes = xcalloc(sites->n_cores, sizeof(*takes));

	cpuset_foreach (vcpu, set)
		takes[sites_thread(sites, cpus[vcpu])->core]++;
	return takes;
}

/* What the choice is made by. */
struct choice {
	const struct sites *sites;
	unsigned *takes;	   /* vCPUs on each core, or NULL: they float */
	struct cpuset used;	   /* CPUs that the vCPUs need */
	struct cpuset nodes;	   /* of the guest, without housekeeping CPUs */
	const struct cpuset *keep; /* or NULL */
};

/* What speaks against a CPU for the emulator; the higher the worse. */
static unsigned against(const struct choice *choice, const struct core *core,
			const struct thread *thread)
{
	bool kept = choice->keep && cpuset_has(choice->keep, thread->cpu);
	bool beside = choice->takes && choice->takes[thread->core];

	return (kept ? 0U : 16U) + (beside ? 8U : 0U) + (core->shared ? 4U : 0U) +
	       (core->whole ? 2U : 0U) + thread->free;
}

/* The best CPU on NODE (CPUSET_MAX: on any of the guest's nodes), or NULL. */
static const struct thread *best_on(const struct choice *choice, unsigned node)
{
	const struct sites *sites = choice->sites;
	bool isolate = sites->request->smt == SMT_ISOLATE && choice->takes;
	const struct thread *best = NULL;
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < sites->n_threads; i++) {
		const struct thread *thread = &sites->threads[i];
		const struct core *core = &sites->cores[thread->core];
		unsigned here = sites->items[core->site].number;

		if (!thread->own || cpuset_has(&choice->used, thread->cpu) ||
		    (isolate && choice->takes[thread->core]) ||
		    (node == CPUSET_MAX ? !cpuset_has(&choice->nodes, here)
					: here != node) ||
		    against(choice, core, thread) >= least)
			continue;
		least = against(choice, core, thread);
		best = thread;
	}
	return best;
}

/* Where vCPUs float over a single CPU, they need it. */
static void need_last_cpu(const struct sites *sites, const struct site *site,
			  struct cpuset *used)
{
	for (unsigned i = 0; i < sites->n_threads; i++) {
		const struct thread *thread = &sites->threads[i];

		if (thread->free && site->free == 1 &&
		    &sites->items[sites->cores[thread->core].site] == site)
			cpuset_set(used, thread->cpu);
	}
}

/* False when no CPU is needed: there are housekeeping CPUs. */
static bool look_around(struct choice *choice, const struct placement *placement)
{
	const struct sites *sites = choice->sites;
	bool housekeeping = false;

	for (size_t i = 0; i < placement->n_cells; i++) {
		const struct placed_cell *cell = &placement->cells[i];
		const struct site *site = sites_of(sites, cell->node);

		housekeeping |= site->housekeeping;
		if (!site->housekeeping)
			cpuset_set(&choice->nodes, site->number);
		if (!placement->cpus && !cpuset_empty(&cell->vcpus))
			need_last_cpu(sites, site, &choice->used);
	}
	for (size_t i = 0; i < placement->n_vcpus && placement->cpus; i++)
		cpuset_set(&choice->used, placement->cpus[i]);
	return !cpuset_empty(&choice->nodes) &&
	       (sites->request->own_each || !housekeeping);
}

static bool choose(const struct choice *choice, unsigned node, struct cpuset *ret_own,
		   struct text *why)
{
	const struct thread *found = best_on(choice, node);

	if (found)
		cpuset_set(ret_own, found->cpu);
	else
		text_add(why, "no CPU is left on its nodes for the emulator threads");
	return found;
}

bool pinned_emulator(struct sites *sites, const struct placement *placement,
		     const struct cpuset *keep, struct cpuset *ret_own, struct text *why)
{
	struct choice choice = { .sites = sites, .keep = keep };
	struct cpuset all = CPUSET_INIT;
	cleanup_free unsigned *takes = NULL;

	if (!sites->request->own || !look_around(&choice, placement))
		return true;
	for (size_t i = 0; i < placement->n_cells; i++)
		cpuset_or(&all, &placement->cells[i].vcpus);
	if (placement->cpus)
		choice.takes = takes = pinned_takes(sites, placement->cpus, &all);
	if (!sites->request->own_each)
		return choose(&choice, CPUSET_MAX, ret_own, why);
	cpuset_foreach (node, &choice.nodes)
		if (!choose(&choice, node, ret_own, why))
			return false;
	return true;
}

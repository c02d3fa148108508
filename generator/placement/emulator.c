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

/* What speaks against a CPU for the emulator; the higher the worse. */
static unsigned against(const struct core *core, const struct thread *thread,
			unsigned takes, const struct cpuset *keep)
{
	return (keep && cpuset_has(keep, thread->cpu) ? 0U : 16U) + (takes ? 8U : 0U) +
	       (core->shared ? 4U : 0U) + (core->whole ? 2U : 0U) + thread->free;
}

/* CPUs that are the guest's: its vCPUs', and where they float the last one on a node. */
static bool taken(const struct sites *sites, const struct core *core,
		  const struct thread *thread, const struct cpuset *used)
{
	const struct site *site = &sites->items[core->site];

	if (sites->request->shared)
		return thread->free && site->free < 2;
	return cpuset_has(used, thread->cpu);
}

/* The best CPU for the emulator on the nodes of SET, or NULL. */
static const struct thread *emulator_on(const struct sites *sites,
					const struct cpuset *nodes, const unsigned *takes,
					const struct cpuset *used,
					const struct cpuset *keep)
{
	bool isolate = sites->request->smt == SMT_ISOLATE && !sites->request->shared;
	const struct thread *best = NULL;
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < sites->n_threads; i++) {
		const struct thread *thread = &sites->threads[i];
		const struct core *core = &sites->cores[thread->core];
		unsigned on = takes ? takes[thread->core] : 0;

		if (!thread->own || (isolate && on) ||
		    !cpuset_has(nodes, sites->items[core->site].number) ||
		    taken(sites, core, thread, used))
			continue;
		if (against(core, thread, on, keep) < least) {
			least = against(core, thread, on, keep);
			best = thread;
		}
	}
	return best;
}

bool pinned_emulator(struct sites *sites, const struct placement *placement,
		     const struct cpuset *keep, struct cpuset *ret_own, struct text *why)
{
	struct cpuset nodes = CPUSET_INIT, used = CPUSET_INIT, all = CPUSET_INIT;
	cleanup_free unsigned *takes = NULL;
	bool housekeeping = false;

	if (!sites->request->own)
		return true;
	for (size_t i = 0; i < placement->n_cells; i++) {
		const struct site *site = sites_of(sites, placement->cells[i].node);

		cpuset_or(&all, &placement->cells[i].vcpus);
		housekeeping |= site->housekeeping;
		if (!site->housekeeping)
			cpuset_set(&nodes, site->number);
	}
	if (cpuset_empty(&nodes) || (housekeeping && !sites->request->own_each))
		return true;
	if (placement->cpus)
		takes = pinned_takes(sites, placement->cpus, &all);
	for (size_t i = 0; i < placement->n_vcpus && placement->cpus; i++)
		cpuset_set(&used, placement->cpus[i]);
	cpuset_foreach (node, &nodes) {
		struct cpuset one = CPUSET_INIT;

		cpuset_set(&one, node);
		const struct thread *found = emulator_on(
			sites, sites->request->own_each ? &one : &nodes, takes, &used,
			keep);
		if (!found) {
			text_printf(why,
				    "no CPU is left on node %u for the emulator threads",
				    node);
			return false;
		}
		cpuset_set(ret_own, found->cpu);
		if (!sites->request->own_each)
			break;
	}
	return true;
}

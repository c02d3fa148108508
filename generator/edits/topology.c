/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the guest sees of its place: NUMA cells where it spans host nodes, and for a guest
 * that is made from a template sockets, cores and threads. An existing guest's topology
 * stays what it is.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "edits/edits.h"

static void set_number(struct element *element, const char *name, uint64_t number)
{
	cleanup_free char *text = xasprintf("%" PRIu64, number);

	element_set(element, name, text);
}

static void add_distances(const struct plan *plan, struct element *cell, size_t from)
{
	const struct placement *placement = plan->placement;
	struct element *distances = element_add(cell, element_new("distances"));

	for (size_t to = 0; to < placement->n_cells; to++) {
		struct element *sibling = element_add(distances, element_new("sibling"));

		set_number(sibling, "id", to);
		set_number(sibling, "value",
			   host_distance(plan->host, placement->cells[from].node,
					 placement->cells[to].node));
	}
}

static struct element *cell_element(const struct plan *plan, size_t i)
{
	const struct placed_cell *placed = &plan->placement->cells[i];
	struct element *cell = element_new("cell");
	cleanup_free char *vcpus = cpuset_format(&placed->vcpus);

	set_number(cell, "id", i);
	element_set(cell, "cpus", vcpus);
	set_number(cell, "memory", placed->memory / 1024);
	element_set(cell, "unit", "KiB");
	add_distances(plan, cell, i);
	return cell;
}

static void add_cells(struct edits *edits, const struct plan *plan, struct element *cpu)
{
	struct element *numa = doc_need(cpu, "numa");

	for (size_t i = 0; i < plan->placement->n_cells; i++) {
		cleanup_free char *why = xasprintf(
			"cell %zu is host node %u: the guest's kernel can keep "
			"memory local only if it sees the nodes",
			i, plan->placement->cells[i].node);

		edits_child(edits, numa, cell_element(plan, i),
			    (struct reason){ plan->policy->numatune.nodes.place, why });
	}
}

/* One socket a cell, none where these are of different sizes; threads as consecutive
 * vCPUs sit on host siblings, one where a vCPU is left over: QEMU knows no half cores,
 * and pin-topology warns. */
static void add_topology(struct edits *edits, const struct plan *plan,
			 struct element *cpu)
{
	const struct placement *placement = plan->placement;
	unsigned sockets = (unsigned)placement->n_cells;
	unsigned threads = plan->threads ? plan->threads : 1;

	for (size_t i = 1; i < placement->n_cells; i++)
		if (cpuset_count(&placement->cells[i].vcpus) !=
		    cpuset_count(&placement->cells[0].vcpus))
			return;
	if (plan->guest->vcpus % (sockets * threads))
		return;
	struct element *topology = element_new("topology");
	set_number(topology, "sockets", sockets);
	set_number(topology, "dies", 1);
	set_number(topology, "cores", plan->guest->vcpus / (sockets * threads));
	set_number(topology, "threads", threads);
	edits_child(
		edits, cpu, topology,
		(struct reason){ plan->policy->cputune.vcpupin.place,
				 "the guest sees the cores and siblings that it has" });
}

void edits_topology(struct edits *edits, const struct plan *plan)
{
	const struct guest *guest = plan->guest;
	struct element *cpu = doc_need(guest->domain, "cpu");

	if (plan->made && !guest->sockets && plan->placement->cpus)
		add_topology(edits, plan, cpu);
	if (!plan->fixed && plan->policy->numatune.place.line && !guest->n_cells &&
	    plan->placement->n_cells > 1)
		add_cells(edits, plan, cpu);
}

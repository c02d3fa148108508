/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on NUMA that the domain XML alone breaks: numatune and the guest's cells. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/numa.h"
#include "rules/read.h"

static struct element *numatune(const struct guest *guest)
{
	return element_find(guest->domain, "numatune");
}

struct cpuset numa_nodes(const struct host *host, const struct cpuset *cpus)
{
	struct cpuset nodes = CPUSET_INIT;

	cpuset_foreach (number, cpus) {
		const struct host_cpu *cpu = host_cpu(host, number);

		if (cpu && cpu->node >= 0)
			cpuset_set(&nodes, (unsigned)cpu->node);
	}
	return nodes;
}

static void memnode_cell(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	cleanup_free bool *seen = xcalloc(guest->n_cells + 1, sizeof(*seen));

	element_foreach (memnode, numatune(guest), "memnode") {
		const struct guest_cell *cell;
		unsigned long long id;

		if (!read_number(memnode, "cellid", &id))
			continue;
		cell = guest_cell_find(guest, id);
		if (!cell)
			rule_report(
				run, read_place(guest, memnode, "cellid"),
				"the guest has no NUMA cell %llu, and libvirt refuses "
				"the domain; add it to <cpu><numa>, or use <memory> for "
				"a guest without cells",
				id);
		else if (seen[cell - guest->cells])
			rule_report(run, read_place(guest, memnode, "cellid"),
				    "an earlier <memnode> binds cell %llu already, and "
				    "libvirt refuses the second",
				    id);
		if (cell)
			seen[cell - guest->cells] = true;
	}
}

/* As libvirt decides it: placement, else by nodeset, else as <vcpu> does. */
static bool memory_auto(const struct guest *guest, const struct element *memory)
{
	const char *placement = element_attribute(memory, "placement");

	if (placement)
		return strcmp(placement, "auto") == 0;
	return !element_attribute(memory, "nodeset") &&
	       read_is(element_find(guest->domain, "vcpu"), "placement", "auto");
}

static void auto_memnode(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct element *memory = element_child(numatune(guest), "memory");
	struct element *memnode = element_child(numatune(guest), "memnode");

	if (memory && memnode && memory_auto(guest, memory))
		rule_report(run, memnode->place,
			    "<memnode> beside <memory placement='auto'>, which libvirt "
			    "refuses; give <memory> a nodeset");
}

static void mode_mixed(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *memory = element_child(numatune(guest), "memory");
	bool restrictive = memory && strcmp(numa_mode(memory), "restrictive") == 0;

	element_foreach (memnode, numatune(guest), "memnode") {
		bool mine = strcmp(numa_mode(memnode), "restrictive") == 0;

		/* Until 9.4.0 libvirt took it this way round. */
		if (!memory || mine == restrictive ||
		    (mine && input->libvirt && input->libvirt < 9004000))
			continue;
		rule_report(
			run, read_place(guest, memnode, "mode"),
			"mode '%s' here and '%s' in <memory>, and libvirt refuses to mix "
			"restrictive with others; use one mode for both",
			numa_mode(memnode), numa_mode(memory));
	}
}

static void nodeset_missing(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *memory = element_child(numatune(guest), "memory");
	const char *nodeset = element_attribute(memory, "nodeset");
	struct cpuset nodes;

	if (!memory || (memory_auto(guest, memory) && !nodeset))
		return;
	if (!nodeset)
		rule_report(
			run, memory->place,
			"<memory> says neither nodeset nor placement='auto', and libvirt "
			"refuses the domain; add the nodeset");
	else if (strchr(nodeset, '^') && !cpuset_parse(nodeset, &nodes, NULL, NULL))
		rule_report(run, read_place(guest, memory, "nodeset"),
			    "nodeset '%s' leaves no node, and libvirt refuses the domain",
			    nodeset);
}

static void preferred(const struct rule_input *input, const struct rule_run *run)
{
	element_foreach (child, numatune(input->guest), NULL) {
		struct cpuset nodes;

		if (!read_is(child, "mode", "preferred") ||
		    !read_cpus(child, "nodeset", &nodes) || cpuset_count(&nodes) < 2)
			continue;
		rule_report(
			run, read_place(input->guest, child, "nodeset"),
			"mode 'preferred' with %u nodes: libvirt before 9.0.0 refuses "
			"it, and QEMU up to 7.2 uses the first only; name one node",
			cpuset_count(&nodes));
	}
}

static void asks_numad(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *vcpu = element_find(guest->domain, "vcpu");
	const struct element *memory = element_child(numatune(guest), "memory");
	const struct element *which = NULL;

	if (read_is(vcpu, "placement", "auto"))
		which = vcpu;
	else if (memory && memory_auto(guest, memory))
		which = memory;
	if (which)
		rule_report(
			run, read_place(guest, which, "placement"),
			"placement 'auto' asks numad at each start: it fails without "
			"numad, and guests that start together get the same advice; name "
			"the nodes and CPUs");
}

/* In each cell's cpus attribute. */
static void cells_invalid(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset seen = CPUSET_INIT, all = CPUSET_INIT;

	if (guest->vcpus)
		cpuset_set_range(&all, 0, guest->vcpus - 1);
	for (size_t i = 0; i < guest->n_cells; i++) {
		const struct guest_cell *cell = &guest->cells[i];
		struct place place = read_place(guest, cell->element, "cpus");

		if (!cpuset_subset(&cell->vcpus, &all))
			rule_report(
				run, place,
				"cell %u has vCPUs that the guest of %u vCPUs lacks, and "
				"libvirt refuses the domain",
				cell->id, guest->vcpus);
		if (cpuset_intersects(&cell->vcpus, &seen))
			rule_report(
				run, place,
				"cell %u has vCPUs of another cell, and libvirt refuses "
				"the domain",
				cell->id);
		cpuset_or(&seen, &cell->vcpus);
	}
}

static void cells_cpus(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset left = CPUSET_INIT;

	if (!guest->n_cells || !guest->vcpus)
		return;
	cpuset_set_range(&left, 0, guest->vcpus - 1);
	for (size_t i = 0; i < guest->n_cells; i++)
		cpuset_andnot(&left, &guest->cells[i].vcpus);
	if (cpuset_empty(&left))
		return;
	cleanup_free char *what = cpuset_format(&left);

	rule_report(
		run, guest->cells[0].element->place,
		"no cell has vCPU %s, so libvirt puts it into cell %u, wherever it is "
		"pinned; give each vCPU a cell",
		what, guest->cells[0].id);
}

static void cells_memory(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *memory = element_find(guest->domain, "memory");
	uint64_t cells = 0, dimms = 0, whole = read_content_size(memory);

	for (size_t i = 0; i < guest->n_cells; i++)
		cells += guest->cells[i].memory;
	element_foreach (device, element_find(guest->domain, "devices"), "memory")
		dimms += read_content_size(element_find(device, "target/size"));
	if (!guest->n_cells || !whole || whole == cells || whole == cells + dimms)
		return;
	cleanup_free char *got = size_format(cells), *want = size_format(whole);

	rule_report(
		run, memory->place,
		"<memory> says %s, the cells together %s, and libvirt takes the cells "
		"without a word; make them equal",
		want, got);
}

static void narrow(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *memory = element_child(numatune(guest), "memory");
	struct cpuset outer, inner;

	if (input->libvirt >= 9005000 || !memory || !read_cpus(memory, "nodeset", &outer))
		return;
	element_foreach (memnode, numatune(guest), "memnode") {
		if (!read_cpus(memnode, "nodeset", &inner) ||
		    cpuset_subset(&inner, &outer))
			continue;
		rule_report(
			run, read_place(guest, memnode, "nodeset"),
			"node %s is not in <memory>'s nodeset, in which libvirt before "
			"9.5.0 starts QEMU, so the cell's memory cannot go there; name "
			"all cells' nodes in <memory>",
			element_attribute(memnode, "nodeset"));
	}
}

const struct rule rules_numa[] = {
	{ "numa-memnode-cell", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, memnode_cell,
	  "a memnode for a cell that the guest does not have, or a second one",
	  "libvirt refuses the domain: <memnode> binds the cells of <cpu><numa>, by id. "
	  "For a guest without cells use <memory>. Source: libvirt 9.0.0, tried; its "
	  "test numatune-memnode-nocpu." },
	{ "numa-auto-memnode", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, auto_memnode,
	  "memnode together with placement='auto'",
	  "libvirt refuses to bind cells where numad is to choose the nodes. Give "
	  "<memory> a nodeset that covers all cells' nodes. Source: libvirt, "
	  "formatdomain, element numatune." },
	{ "numa-mode-mixed", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, mode_mixed,
	  "mode restrictive for the guest or a cell, another mode for the other",
	  "restrictive leaves the binding to the cgroup alone, the other modes to QEMU "
	  "as well; libvirt refuses the mixture (with restrictive only in a cell: since "
	  "9.4.0, before that it starts and the cell is bound by nothing). Use one mode. "
	  "Source: libvirt 9.0.0, tried, and numa_conf.c of 11.3.0." },
	{ "numa-nodeset-missing", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, nodeset_missing,
	  "static NUMA placement without nodes",
	  "libvirt refuses the domain when <memory> names no node and placement is not "
	  "'auto'. Source: libvirt 9.0.0, tried; its tests "
	  "numatune-memory-invalid-nodeset and "
	  "numad-auto-vcpu-static-numatune-no-nodeset." },
	{ "numa-preferred", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, preferred,
	  "mode preferred with several nodes, of which one is used",
	  "Several preferred nodes need libvirt 9.0.0, Linux 5.15 and libnuma 2.0.15, "
	  "and QEMU 7.2 still takes the first only. Name one node, or use strict. "
	  "Source: libvirt's source, qemu_process.c; tried on Debian 12." },
	{ "numa-auto", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, asks_numad,
	  "placement='auto' leaves the node to numad",
	  "numad looks at the load for two seconds and advises; it reserves nothing, "
	  "knows nothing of hugepages or devices, and gives two guests that start "
	  "together the same node. Without it the start fails: \"Failed to query numad "
	  "for the advisory nodeset\". Name nodes and CPUs. Source: numad 20150602 and "
	  "libvirt 11.3.0, read." },
	{ "numa-cells-invalid", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, cells_invalid,
	  "guest cells that overlap or have vCPUs that are not there",
	  "libvirt refuses the domain. Source: libvirt 9.0.0, tried." },
	{ "numa-cells-cpus", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, cells_cpus,
	  "vCPUs in no cell are put into the first one",
	  "libvirt adds them to cell 0 in silence, so the guest believes them near "
	  "memory from which they may be far. List each vCPU in the cell whose host node "
	  "it is pinned to. Source: libvirt 9.0.0, tried." },
	{ "numa-cells-memory", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, cells_memory,
	  "the cells' memory is not the guest's, and the cells win",
	  "libvirt overwrites <memory> by the sum of the cells in silence (tried: 256 "
	  "MiB became 128), so the guest has another size than its owner reads in the "
	  "file. Make them equal. Source: libvirt 9.0.0, tried; vagrant-libvirt issue "
	  "1312." },
	{ "numa-nodeset-narrow", DIAG_WARNING, RULE_GUEST, NEEDS_LIBVIRT, narrow,
	  "a cell is bound to a node outside the guest's nodeset",
	  "Before 9.4.0 and 9.5.0 libvirt starts QEMU inside <memory>'s nodeset, and the "
	  "kernel does not let a cell's memory leave it: the start fails or the memory "
	  "lands elsewhere. Name all cells' nodes in <memory>. Source: libvirt's notes "
	  "on 9.4.0 and 9.5.0." },
	{ .id = NULL },
};

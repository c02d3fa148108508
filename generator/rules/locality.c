/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on what is near what: a guest's vCPUs and memory on a host's nodes. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/numa.h"
#include "rules/pins.h"
#include "rules/read.h"

static struct cpuset host_nodes(const struct host *host)
{
	struct cpuset nodes = CPUSET_INIT;

	for (size_t i = 0; i < host->n_nodes; i++)
		cpuset_set(&nodes, host->nodes[i].number);
	return nodes;
}

static void node_missing(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset there = host_nodes(input->host), named;
	cleanup_free char *have = cpuset_format(&there);

	element_foreach (child, element_find(input->guest->domain, "numatune"), NULL) {
		if (!read_cpus(child, "nodeset", &named))
			continue;
		cpuset_andnot(&named, &there);
		if (cpuset_empty(&named))
			continue;
		cleanup_free char *what = cpuset_format(&named);

		rule_report(run, read_place(input->guest, child, "nodeset"),
			    "%s has no node %s, and the start fails; it has %s",
			    input->host->origin, what, have);
	}
}

/* CPUs that the vCPUs of BINDING are pinned to; those without a pin say nothing. */
static struct cpuset cpus_of(const struct guest *guest,
			     const struct numa_binding *binding)
{
	struct cpuset cpus = CPUSET_INIT;

	cpuset_foreach (vcpu, &binding->vcpus)
		if (vcpu < guest->vcpus && guest->vcpupin[vcpu].element)
			cpuset_or(&cpus, &guest->vcpupin[vcpu].cpus);
	return cpus;
}

static void cross(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		const struct numa_binding *binding = &bindings[i];
		struct cpuset cpus = cpus_of(input->guest, binding);
		struct cpuset near = numa_nodes(input->host, &cpus);

		if (!binding->element || cpuset_empty(&near) ||
		    strcmp(binding->mode, "interleave") == 0 ||
		    cpuset_intersects(&near, &binding->nodes))
			continue;
		cleanup_free char *memory = cpuset_format(&binding->nodes);
		cleanup_free char *here = cpuset_format(&near);

		rule_report(
			run, read_place(input->guest, binding->element, "nodeset"),
			"memory is on node %s, the vCPUs that use it are pinned to node "
			"%s, so every access crosses nodes; bind to node %s",
			memory, here, here);
	}
}

static void unbound(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	if (input->host->n_nodes < 2 || element_find(input->guest->domain, "numatune"))
		return;
	for (size_t i = 0; i < count; i++) {
		struct cpuset cpus = cpus_of(input->guest, &bindings[i]);
		struct cpuset near = numa_nodes(input->host, &cpus);

		if (cpuset_count(&near) != 1)
			continue;
		rule_report(
			run, element_find(input->guest->domain, "cputune")->place,
			"vCPUs are pinned to node %u but memory is bound to none, so it "
			"comes from whatever node has some; add <numatune><memory "
			"mode='strict' nodeset='%u'/>",
			cpuset_next(&near, 0), cpuset_next(&near, 0));
		return;
	}
}

/* Of BINDING; the vCPUs that no element of their own pins. */
static unsigned unpinned(const struct guest *guest, const struct numa_binding *binding)
{
	unsigned count = 0;

	cpuset_foreach (vcpu, &binding->vcpus)
		count += vcpu < guest->vcpus && !guest->vcpupin[vcpu].element;
	return count;
}

static void floating(const struct rule_input *input, const struct rule_run *run)
{
	const struct element *vcpu = element_child(input->guest->domain, "vcpu");
	struct cpuset cpus = input->host->online;
	struct cpuset there = numa_nodes(input->host, &cpus);
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	if (!vcpu || read_is(vcpu, "placement", "auto"))
		return;
	read_cpus(vcpu, "cpuset", &cpus);
	for (size_t i = 0; i < count; i++) {
		unsigned free = unpinned(input->guest, &bindings[i]);
		struct cpuset far = numa_nodes(input->host, &cpus);

		cpuset_andnot(&far, &bindings[i].nodes);
		if (!free || !bindings[i].element ||
		    !cpuset_intersects(&there, &bindings[i].nodes) ||
		    cpuset_empty(&far) || !strcmp(bindings[i].mode, "interleave"))
			continue;
		cleanup_free char *memory = cpuset_format(&bindings[i].nodes);
		cleanup_free char *away = cpuset_format(&far);

		rule_report(run, read_place(input->guest, bindings[i].element, "nodeset"),
			    "memory is bound to node %s, and %u of the vCPUs that use it "
			    "may run on node %s as well, from where every access crosses "
			    "nodes; pin them to CPUs of node %s",
			    memory, free, away, memory);
	}
}

static void spans(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset alone = pins_alone(guest);
	struct cpuset nodes = numa_nodes(input->host, &alone);

	if (cpuset_count(&nodes) < 2 || guest->n_cells > 1)
		return;
	cleanup_free char *what = cpuset_format(&nodes);

	rule_report(run, element_find(guest->domain, "cputune")->place,
		    "vCPUs are pinned to nodes %s, but the guest is told of one node and "
		    "cannot keep work near its memory; pin to one, or give it cells with "
		    "<memnode>",
		    what);
}

static void emulator_far(const struct rule_input *input, const struct rule_run *run)
{
	const struct element *element;
	struct cpuset cpus;
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	if (input->libvirt >= 9004000 || !pins_emulator(input->guest, &element, &cpus))
		return;
	struct cpuset nodes = numa_nodes(input->host, &cpus);

	for (size_t i = 0; i < count; i++) {
		if (!bindings[i].element || strcmp(bindings[i].mode, "strict") != 0 ||
		    cpuset_empty(&nodes) || cpuset_intersects(&nodes, &bindings[i].nodes))
			continue;
		cleanup_free char *memory = cpuset_format(&bindings[i].nodes);

		rule_report(
			run, read_place(input->guest, element, "cpuset"),
			"the emulator has no CPU on node %s, where libvirt before 9.4.0 "
			"needs one to allocate the memory; add one",
			memory);
		return;
	}
}

/* What the nodes of BINDING have of memory, in all or free. */
static uint64_t memory_there(const struct rule_input *input,
			     const struct numa_binding *binding, bool only_free)
{
	uint64_t bytes = 0;

	cpuset_foreach (number, &binding->nodes) {
		const struct host_node *node = host_node(input->host, number);

		if (node)
			bytes += only_free ? node->free : node->memory;
	}
	return bytes;
}

static void check_memory(const struct rule_input *input, const struct rule_run *run,
			 bool only_free)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = memory_there(input, &bindings[i], only_free);

		if (!bindings[i].element || strcmp(bindings[i].mode, "strict") != 0 ||
		    bindings[i].memory <= bytes)
			continue;
		cleanup_free char *want = size_format(bindings[i].memory);
		cleanup_free char *have = size_format(bytes);
		cleanup_free char *nodes = cpuset_format(&bindings[i].nodes);

		rule_report(
			run, read_place(input->guest, bindings[i].element, "nodeset"),
			"%s of guest memory do not fit on node %s, which has %s%s; name "
			"more nodes or give the guest less",
			want, nodes, have, only_free ? " free" : " in all");
	}
}

static void too_small(const struct rule_input *input, const struct rule_run *run)
{
	check_memory(input, run, false);
}

static void too_full(const struct rule_input *input, const struct rule_run *run)
{
	if (!element_find(input->guest->domain, "memoryBacking/hugepages"))
		check_memory(input, run, true);
}

static void overcommit(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct element *vcpu = element_find(guest->domain, "vcpu");

	if (guest->vcpus > input->host->n_cpus && vcpu)
		rule_report(run, vcpu->place,
			    "%u vCPUs on %zu CPUs (%s): some always wait while the guest "
			    "believes that they run; use at most as many",
			    guest->vcpus, input->host->n_cpus, input->host->origin);
}

const struct rule rules_locality[] = {
	{ "numa-node-missing", DIAG_ERROR, RULE_GUEST, NEEDS_HOST, node_missing,
	  "numatune names a node that the host does not have",
	  "libvirt defines it; the start fails with \"NUMA node 5 is unavailable\", in "
	  "newer versions with \"Invalid value ... for 'cpuset.mems'\". Source: libvirt "
	  "9.0.0, tried; tp-libvirt pull request 5093." },
	{ "numa-cross", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, cross,
	  "vCPUs on one node, their memory on another",
	  "Every cache miss crosses the interconnect. Measured with vhost-user: 9.0 Mpps "
	  "with all on one node, 8.9 with the memory away, 5.0 with the CPU away (3.1 "
	  "when copying): the CPU's node matters most. Bind the memory to the node of "
	  "the pins. Source: vhost zero-copy practice; OpenStack's numa-aware-vswitches "
	  "says up to 50 %." },
	{ "numa-unbound", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, unbound,
	  "vCPUs are pinned to one node of several, memory is not bound",
	  "The kernel takes memory near the thread that touches it first, which is "
	  "QEMU's main thread when it is preallocated, and from elsewhere when the node "
	  "is full: the next start may be slow. Add <numatune>. Source: LXD issue "
	  "15082." },
	{ "numa-floating", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, floating,
	  "memory is bound to a node, vCPUs may run on others",
	  "<numatune> binds memory alone: without <vcpupin> and <vcpu cpuset> libvirt "
	  "lets the vCPUs run on all CPUs of the host, whatever node their memory is on. "
	  "For what that costs see numa-cross. Source: libvirt, qemu_process.c "
	  "(qemuProcessSetupPid), read; OpenNebula issue 6185." },
	{ "numa-spans", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, spans,
	  "vCPUs on several nodes of which the guest knows nothing",
	  "The guest's kernel keeps a task's memory near its CPU only if it knows the "
	  "nodes. Pin the guest to one node, or give it as many cells, each bound by "
	  "<memnode> to the node of its vCPUs. Source: libvirt, formatdomain, guest NUMA "
	  "topology." },
	{ "numa-emulator", DIAG_WARNING, RULE_GUEST, NEEDS_HOST | NEEDS_LIBVIRT,
	  emulator_far, "the emulator has no CPU on the node whose memory it allocates",
	  "Before 9.4.0 libvirt confines QEMU to the emulator's CPUs before the memory "
	  "is allocated; the threads that touch it first should be able to run on its "
	  "node. Source: libvirt, formatdomain; its notes on 9.4.0." },
	{ "numa-memory", DIAG_ERROR, RULE_GUEST, NEEDS_MEMORY, too_small,
	  "strict binding to nodes that have less memory than the guest",
	  "Strict memory comes from these nodes or not at all: the start fails, or the "
	  "guest is killed once it has touched what is there. Name more nodes (with "
	  "cells of its own for each), or give the guest less. Source: kubevirt issue "
	  "6981, virt-lint." },
	{ "numa-free", DIAG_WARNING, RULE_GUEST, NEEDS_FREE_MEMORY, too_full,
	  "strict binding to nodes with less free memory than the guest needs",
	  "As numa-memory, but of what was free when the host was described; page cache "
	  "counts as used there and can be given back. Silent for guests on hugepages, "
	  "for which hugepages-free speaks. Source: virt-lint's check numa_free." },
	{ "vcpu-overcommit", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, overcommit,
	  "a guest with more vCPUs than the host has CPUs",
	  "libvirt takes it in silence. A vCPU that spins for a lock may wait for one "
	  "that has no CPU. Source: libvirt 9.0.0, tried with 64 vCPUs on 2 CPUs." },
	{ .id = NULL },
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests that are wrong on purpose. */
#include <string.h>

#include "edits/control.h"

const char *const control_words[] = {
	[CONTROL_NONE] = "none",
	[CONTROL_REMOTE_MEMORY] = "remote-memory",
	[CONTROL_REMOTE_CPU] = "remote-cpu",
	[CONTROL_SHARE_SMT] = "share-smt",
	[CONTROL_FLOAT] = "float",
	[CONTROL_EMULATOR_ON_VCPU] = "emulator-on-vcpu",
	[CONTROL_SMALL_QUEUES] = "small-queues",
	[CONTROL_NO_HUGEPAGES] = "no-hugepages",
	NULL,
};

static const struct value not_given;

static void small_queues(struct control_policy *twin)
{
	size_t count = twin->policy.interfaces.count;
	static char ring[] = "256", queue[] = "1";

	twin->interfaces = xcalloc(count, sizeof(*twin->interfaces));
	if (count)
		memcpy(twin->interfaces, twin->policy.interfaces.items,
		       count * sizeof(*twin->interfaces));
	twin->policy.interfaces.items = twin->interfaces;
	for (size_t i = 0; i < count; i++) {
		struct policy_interface *interface = &twin->interfaces[i];
		struct value small = { interface->place, ring, -1, 256, NULL };
		struct value one = { interface->place, queue, -1, 1, NULL };

		interface->rx_queue_size = interface->tx_queue_size = small;
		interface->queues = one;
	}
}

static void no_hugepages(struct policy *policy)
{
	static char memfd[] = "memfd";
	struct value source = { policy->memoryBacking.place, memfd, -1, 0, NULL };

	policy->memoryBacking.hugepages = not_given;
	if (given(&policy->memoryBacking.access))
		policy->memoryBacking.source = source;
}

void control_policy_init(struct control_policy *twin, const struct policy *policy,
			 enum control control)
{
	*twin = (struct control_policy){ .policy = *policy };
	switch (control) {
	case CONTROL_FLOAT:
		memset(&twin->policy.cputune, 0, sizeof(twin->policy.cputune));
		break;
	case CONTROL_SHARE_SMT:
		twin->policy.cputune.smt = not_given;
		twin->policy.cputune.smt.place = policy->cputune.vcpupin.place;
		twin->policy.cputune.smt.word = SMT_REQUIRE;
		break;
	case CONTROL_SMALL_QUEUES:
		small_queues(twin);
		break;
	case CONTROL_NO_HUGEPAGES:
		no_hugepages(&twin->policy);
		break;
	case CONTROL_NONE:
	case CONTROL_REMOTE_MEMORY:
	case CONTROL_REMOTE_CPU:
	case CONTROL_EMULATOR_ON_VCPU:
		break;
	}
}

void control_policy_done(struct control_policy *twin)
{
	free(twin->interfaces);
}

/* The node with memory that is farthest from where the guest is. */
static bool farthest(const struct plan *plan, unsigned *ret_node)
{
	unsigned from = plan->placement->cells[0].node, longest = 0;

	for (size_t i = 0; i < plan->host->n_nodes; i++) {
		const struct host_node *node = &plan->host->nodes[i];
		unsigned distance = host_distance(plan->host, from, node->number);

		if (node->memory == 0 || distance <= longest ||
		    cpuset_has(&plan->placement->nodes, node->number))
			continue;
		longest = distance;
		*ret_node = node->number;
	}
	return longest > 0;
}

static bool remote_memory(struct plan *plan, struct diag *diag)
{
	unsigned node;

	if (!farthest(plan, &node)) {
		diag_error(
			diag, NOWHERE, NULL,
			"--control remote-memory: the host has no node that the guest is "
			"not on");
		return false;
	}
	plan->memory_nodes = (struct cpuset)CPUSET_INIT;
	cpuset_set(&plan->memory_nodes, node);
	return true;
}

static void emulator_on_vcpu(struct plan *plan)
{
	const struct placement *placement = plan->placement;

	plan->emulator = placement->shared;
	for (size_t i = 0; placement->cpus && i < placement->n_vcpus; i++)
		cpuset_set(&plan->emulator, placement->cpus[i]);
	plan->iothreads = plan->emulator;
}

bool control_plan(struct plan *plan, enum control control, struct diag *diag)
{
	if (control == CONTROL_EMULATOR_ON_VCPU)
		emulator_on_vcpu(plan);
	if (control == CONTROL_FLOAT)
		plan->emulator = plan->iothreads = (struct cpuset)CPUSET_INIT;
	/* the guest must not know better than to use both as if they were cores */
	if (control == CONTROL_SHARE_SMT)
		plan->threads = 1;
	if (control == CONTROL_REMOTE_MEMORY)
		return remote_memory(plan, diag);
	return true;
}

static void remove_all(struct edits *edits, const struct element *parent,
		       const char *name, const char *why)
{
	element_foreach (element, parent, name) {
		if (!element->fresh)
			edits_remove(edits, element, (struct reason){ NOWHERE, why });
	}
}

void control_edits(struct edits *edits, const struct plan *plan, enum control control)
{
	const struct element *domain = plan->guest->domain;
	const struct element *cputune = element_child(domain, "cputune");

	if (control == CONTROL_NO_HUGEPAGES)
		remove_all(edits, element_child(domain, "memoryBacking"), "hugepages",
			   "--control no-hugepages");
	if (control != CONTROL_FLOAT)
		return;
	remove_all(edits, cputune, "vcpupin", "--control float");
	remove_all(edits, cputune, "emulatorpin", "--control float");
	remove_all(edits, cputune, "iothreadpin", "--control float");
}

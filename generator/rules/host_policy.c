/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on a host policy: what its owner sets aside. */
#include <string.h>

#include "base/text.h"
#include "rules/pools.h"
#include "rules/rules.h"

enum pool { RESERVED, HOUSEKEEPING, DEDICATED, SHARED, PMD, POOLS };

static const char *const pool_words[POOLS] = {
	"reserved_cpus", "housekeeping_cpus", "dedicated_cpus", "shared_cpus", "pmd_cpus",
};

static const struct value *pool_of(const struct host_policy *owner, enum pool pool)
{
	const struct value *const values[POOLS] = {
		&owner->reserved_cpus, &owner->housekeeping_cpus, &owner->dedicated_cpus,
		&owner->shared_cpus,   &owner->vswitch.pmd_cpus,
	};

	return given(values[pool]) ? values[pool] : NULL;
}

struct cpuset pools_dedicated(const struct host *host, const struct host_policy *owner)
{
	struct cpuset cpus = host->online;

	if (!owner)
		return cpus;
	if (given(&owner->dedicated_cpus)) {
		cpuset_and(&cpus, owner->dedicated_cpus.cpus);
		return cpus;
	}
	for (enum pool pool = 0; pool < POOLS; pool++) {
		const struct value *value = pool_of(owner, pool);

		if (value)
			cpuset_andnot(&cpus, value->cpus);
	}
	return cpus;
}

unsigned pools_cores(const struct host *host, const struct cpuset *cpus)
{
	cleanup_free bool *some = xcalloc(host->n_cores, sizeof(*some));
	cleanup_free bool *broken = xcalloc(host->n_cores, sizeof(*broken));
	unsigned count = 0;

	for (size_t i = 0; i < host->n_cpus; i++) {
		bool in = cpuset_has(cpus, host->cpus[i].number);

		(in ? some : broken)[host->cpus[i].core] = true;
	}
	for (size_t i = 0; i < host->n_cores; i++)
		count += some[i] && !broken[i];
	return count;
}

static void overlap(const struct rule_input *input, const struct rule_run *run)
{
	for (enum pool a = 0; a < POOLS; a++) {
		const struct value *first = pool_of(input->host_policy, a);

		for (enum pool b = a + 1; first && b < POOLS; b++) {
			const struct value *second = pool_of(input->host_policy, b);
			struct cpuset common;

			/* Floating guests and their helpers may well be together. */
			if (!second || (a == HOUSEKEEPING && b == SHARED) ||
			    (a == RESERVED && b == PMD))
				continue;
			common = *first->cpus;
			cpuset_and(&common, second->cpus);
			if (cpuset_empty(&common))
				continue;
			cleanup_free char *what = cpuset_format(&common);

			rule_report(run, second->place,
				    "CPU %s is in %s and in %s, so two owners are "
				    "promised it; take it out of one",
				    what, pool_words[a], pool_words[b]);
			rule_note(run, first->place, "%s is here", pool_words[a]);
		}
	}
}

static void missing(const struct rule_input *input, const struct rule_run *run)
{
	for (enum pool pool = 0; pool < POOLS; pool++) {
		const struct value *value = pool_of(input->host_policy, pool);
		struct cpuset beyond;

		if (!value)
			continue;
		beyond = *value->cpus;
		cpuset_andnot(&beyond, &input->host->online);
		if (cpuset_empty(&beyond))
			continue;
		cleanup_free char *what = cpuset_format(&beyond);
		cleanup_free char *online = cpuset_format(&input->host->online);

		rule_report(run, value->place,
			    "CPU %s is not online on %s; online are %s", what,
			    input->host->origin, online);
	}
}

static void siblings(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset dedicated = pools_dedicated(input->host, input->host_policy);

	cpuset_foreach (cpu, &dedicated) {
		struct cpuset others = host_siblings(input->host, cpu);

		for (enum pool pool = 0; pool < POOLS; pool++) {
			const struct value *value = pool_of(input->host_policy, pool);

			if (!value || pool == DEDICATED ||
			    !cpuset_intersects(&others, value->cpus))
				continue;
			cpuset_and(&others, value->cpus);
			rule_report(run, value->place,
				    "CPU %u is an SMT sibling of CPU %u, which is for "
				    "dedicated vCPUs, and slows it; set whole cores "
				    "aside",
				    cpuset_next(&others, 0), cpu);
			return;
		}
	}
}

static void empty(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset dedicated = pools_dedicated(input->host, input->host_policy);

	if (cpuset_empty(&dedicated))
		rule_report(run, input->host_policy->name.place,
			    "no CPU of %s is left for dedicated vCPUs, so no pinned "
			    "guest can start; leave some out of the other pools",
			    input->host->origin);
}

static void others(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *value = &input->host_policy->others;

	if (given(value) && value->word == OTHERS_SHARED &&
	    !given(&input->host_policy->shared_cpus))
		rule_report(run, value->place,
			    "others: shared, but no shared_cpus are named; add them");
}

static void port(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *value = &input->host_policy->vswitch.port;

	if (given(value) && strcmp(value->text, "dpdkvhostuser") == 0)
		rule_report(run, value->place,
			    "dpdkvhostuser ports are deprecated, and guests must restart "
			    "when Open vSwitch does; use dpdkvhostuserclient");
}

static void kind(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *value = &input->host_policy->vswitch.port;
	const struct value *what = &input->host_policy->vswitch.kind;

	if (given(value) && given(what) && what->word != VSWITCH_OVS)
		rule_report(run, value->place,
			    "port kinds are Open vSwitch's, and the switch is %s; remove "
			    "port",
			    what->text);
}

static void isolated(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *dedicated = &input->host_policy->dedicated_cpus;
	const struct value *shared = &input->host_policy->shared_cpus;
	struct cpuset left;

	if (cpuset_empty(&input->host->isolated))
		return;
	if (given(dedicated)) {
		left = *dedicated->cpus;
		cpuset_andnot(&left, &input->host->isolated);
		cleanup_free char *what = cpuset_format(&left);

		if (!cpuset_empty(&left))
			rule_report(
				run, dedicated->place,
				"CPU %s is for dedicated vCPUs but not isolated, so host "
				"threads run there too; add it to isolcpus",
				what);
	}
	if (given(shared)) {
		left = *shared->cpus;
		cpuset_and(&left, &input->host->isolated);
		cleanup_free char *what = cpuset_format(&left);

		if (!cpuset_empty(&left))
			rule_report(run, shared->place,
				    "CPU %s is isolated, where the kernel does not "
				    "balance, so shared guests pile up on one; take it "
				    "out",
				    what);
	}
}

/* A node whose dedicated CPUs have no CPU of POOL beside them. */
static void each_node(const struct rule_input *input, const struct rule_run *run,
		      enum pool pool, const char *why)
{
	const struct value *value = pool_of(input->host_policy, pool);
	struct cpuset dedicated = pools_dedicated(input->host, input->host_policy);

	for (size_t i = 0; value && input->host->n_nodes > 1 && i < input->host->n_nodes;
	     i++) {
		const struct host_node *node = &input->host->nodes[i];

		if (cpuset_intersects(&node->cpus, &dedicated) &&
		    !cpuset_intersects(&node->cpus, value->cpus))
			rule_report(run, value->place,
				    "node %u has no CPU in %s: %s; add one", node->number,
				    pool_words[pool], why);
	}
}

static void housekeeping_node(const struct rule_input *input, const struct rule_run *run)
{
	each_node(input, run, HOUSEKEEPING,
		  "emulators and I/O threads of guests there run on another node");
}

static void pmd_node(const struct rule_input *input, const struct rule_run *run)
{
	each_node(input, run, PMD,
		  "packets of guests there are copied from another node (5.0 against 9.0 "
		  "Mpps)");
}

static void drives(const struct rule_input *input, const struct rule_run *run)
{
	const struct drive *items = input->host_policy->drives.items;

	for (size_t i = 0; i < input->host_policy->drives.count; i++)
		if (!host_device(input->host, items[i].device.text))
			rule_report(run, items[i].device.place,
				    "%s has no drive \"%s\"; name it by PCI address or "
				    "as the kernel does (nvme0n1)",
				    input->host->origin, items[i].device.text);
}

static int drive_order(const void *left, const void *right)
{
	const struct drive *const *a = left, *const *b = right;
	int order = strcmp((*a)->device.text, (*b)->device.text);

	if (order)
		return order;
	return *a < *b ? -1 : *a > *b;
}

static void drive_twice(const struct rule_input *input, const struct rule_run *run)
{
	const struct drive *items = input->host_policy->drives.items;
	cleanup_free const struct drive **sorted = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->host_policy->drives.count; i++)
		*append(sorted, count) = &items[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), drive_order);
	for (size_t i = 1; i < count; i++)
		if (strcmp(sorted[i - 1]->device.text, sorted[i]->device.text) == 0)
			rule_report(run, sorted[i]->device.place,
				    "drive %s is listed twice, so its IOPS count twice",
				    sorted[i]->device.text);
}

const struct rule rules_host_policy[] = {
	{ "host-overlap", DIAG_ERROR, RULE_HOST_POLICY, NEEDS_NOTHING, overlap,
	  "a CPU in two pools",
	  "Each pool is a promise: reserved CPUs are no guest's, dedicated ones have one "
	  "owner, the switch's never sleep. Only shared and housekeeping may overlap. "
	  "OpenStack Nova demands the same of cpu_dedicated_set and cpu_shared_set. "
	  "Source: hotsos issue 636." },
	{ "host-offline", DIAG_ERROR, RULE_HOST_POLICY, NEEDS_HOST, missing,
	  "a pool with CPUs that the host does not have online",
	  "A CPU that is not there is given to no guest, so pools are smaller than they "
	  "look. Source: igvm pull request 280." },
	{ "host-siblings", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_HOST, siblings,
	  "a core of which one thread is for dedicated vCPUs and one is not",
	  "SMT siblings share a core: what runs on the one slows the other by 40-75 %. "
	  "Put all threads of a core into the same pool. Source: xapi pull request "
	  "6763." },
	{ "host-empty", DIAG_ERROR, RULE_HOST_POLICY, NEEDS_HOST, empty,
	  "no CPU is left for dedicated vCPUs",
	  "Without dedicated_cpus the pool is what no other pool names." },
	{ "host-others", DIAG_ERROR, RULE_HOST_POLICY, NEEDS_NOTHING, others,
	  "others: shared without shared CPUs",
	  "Guests without a policy are to be kept on shared_cpus, and there are none." },
	{ "host-port", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_NOTHING, port,
	  "deprecated vhost-user ports",
	  "With dpdkvhostuser Open vSwitch owns the socket: when it restarts all guests "
	  "are cut off until they restart. With dpdkvhostuserclient the guest owns it "
	  "and the switch comes back. Source: Open vSwitch, topics/dpdk/vhost-user." },
	{ "host-port-kind", DIAG_ERROR, RULE_HOST_POLICY, NEEDS_NOTHING, kind,
	  "an Open vSwitch port kind for another switch",
	  "dpdkvhostuser and dpdkvhostuserclient are kinds of Open vSwitch's ports." },
	{ "host-isolated", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_ISOLATED, isolated,
	  "dedicated CPUs that are not isolated, or shared ones that are",
	  "isolcpus= keeps host threads off the CPUs of pinned vCPUs; where guests float "
	  "it keeps the kernel from balancing them. Silent on hosts that isolate "
	  "nothing. Source: tuned's profile realtime-virtual-host asserts the first; "
	  "kernel-parameters, isolcpus." },
	{ "host-housekeeping", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_HOST,
	  housekeeping_node, "a node without housekeeping CPUs",
	  "Emulator and I/O threads go to housekeeping CPUs of the guest's node where "
	  "there are any; else each completion crosses nodes." },
	{ "host-pmd", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_HOST, pmd_node,
	  "a node on which the switch does not poll",
	  "Open vSwitch polls a vhost port from the node of the guest's memory if it has "
	  "a CPU in pmd-cpu-mask there; else across nodes. Source: Open vSwitch, "
	  "topics/dpdk/pmd; vhost zero-copy practice." },
	{ "host-drive", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_DEVICES, drives,
	  "a drive that the host does not have",
	  "Its IOPS count towards what policies may expect." },
	{ "host-drive-duplicate", DIAG_WARNING, RULE_HOST_POLICY, NEEDS_NOTHING,
	  drive_twice, "a drive listed twice", "Its IOPS would count twice." },
	{ .id = NULL },
};

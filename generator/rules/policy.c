/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on a policy by itself: CPUs, memory, nodes, and what the guest must bring. */
#include <fnmatch.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/rules.h"

static bool word_is(const struct value *value, int word)
{
	return given(value) && value->word == word;
}

static bool realtime(const struct policy *policy)
{
	const struct value *scheduler = &policy->cputune.vcpusched.scheduler;

	return word_is(scheduler, SCHEDULER_FIFO) || word_is(scheduler, SCHEDULER_RR);
}

static void sched_priority(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *scheduler = &input->policy->cputune.vcpusched.scheduler;
	const struct value *priority = &input->policy->cputune.vcpusched.priority;

	if (realtime(input->policy) && !given(priority))
		rule_report(
			run, scheduler->place,
			"scheduler %s needs a priority, and libvirt refuses it without; "
			"add priority: 1",
			scheduler->text);
	if (given(scheduler) && !realtime(input->policy) && given(priority))
		rule_report(run, priority->place,
			    "scheduler %s has no priority, and libvirt refuses one; "
			    "remove it, or say scheduler: fifo",
			    scheduler->text);
}

static void sched_vcpus(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *vcpus = &input->policy->cputune.vcpusched.vcpus;
	const struct value *have = &input->policy->domain.vcpus;
	struct cpuset beyond;

	if (!given(vcpus) || !given(have) || !have->number)
		return;
	beyond = *vcpus->cpus;
	for (unsigned i = 0; i < have->number && i < CPUSET_MAX; i++)
		cpuset_clear(&beyond, i);
	if (cpuset_empty(&beyond))
		return;
	cleanup_free char *what = cpuset_format(&beyond);

	rule_report(
		run, vcpus->place,
		"the guest has %s vCPUs, from 0, so there is no vCPU %s; name vCPUs that "
		"it has",
		have->text, what);
}

static void sched_shared(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *pin = &input->policy->cputune.vcpupin;

	if (realtime(input->policy) && (!given(pin) || word_is(pin, VCPUPIN_SHARED)))
		rule_report(run, input->policy->cputune.vcpusched.scheduler.place,
			    "real-time vCPUs that float starve whatever they meet; say "
			    "vcpupin: dedicated");
}

static void pin_list(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *pin = &input->policy->cputune.vcpupin;
	const struct value *vcpus = given(&input->policy->domain.vcpus)
					    ? &input->policy->domain.vcpus
					    : &input->policy->require.vcpus.min;

	if (given(pin) && pin->cpus && given(vcpus) &&
	    cpuset_count(pin->cpus) < vcpus->number)
		rule_report(run, pin->place,
			    "%s are %u CPUs for %s vCPUs, and each vCPU gets one of the "
			    "list; name as many as vCPUs",
			    pin->text, cpuset_count(pin->cpus), vcpus->text);
}

static void pin_helper(const struct rule_input *input, const struct rule_run *run,
		       const struct value *helper, const char *key)
{
	const struct value *pin = &input->policy->cputune.vcpupin;
	struct cpuset common;

	if (!given(pin) || !given(helper) || !pin->cpus || !helper->cpus)
		return;
	common = *helper->cpus;
	cpuset_and(&common, pin->cpus);
	if (cpuset_empty(&common))
		return;
	cleanup_free char *what = cpuset_format(&common);

	rule_report(
		run, helper->place,
		"%s and vcpupin share CPU %s, so the vCPU there stops whenever the other "
		"thread works; name other CPUs",
		key, what);
}

static void pin_helpers(const struct rule_input *input, const struct rule_run *run)
{
	pin_helper(input, run, &input->policy->cputune.emulatorpin, "emulatorpin");
	pin_helper(input, run, &input->policy->cputune.iothreadpin, "iothreadpin");
}

static void pin_emulator(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *pin = &input->policy->cputune.vcpupin;

	if (given(pin) && !word_is(pin, VCPUPIN_SHARED) &&
	    !given(&input->policy->cputune.emulatorpin))
		rule_report(
			run, pin->place,
			"vCPUs get CPUs of their own and the emulator may run on all of "
			"them; add emulatorpin: housekeeping");
}

static void smt(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *value = &input->policy->cputune.smt;
	const struct value *pin = &input->policy->cputune.vcpupin;

	if (given(value) && !word_is(pin, VCPUPIN_DEDICATED))
		rule_report(run, value->place,
			    "smt: %s has no effect unless vcpupin is dedicated; remove "
			    "it, or say vcpupin: dedicated",
			    value->text);
}

static void iothreadpin(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *pin = &input->policy->cputune.iothreadpin;

	if (given(pin) && !given(&input->policy->iothreads))
		rule_report(
			run, pin->place,
			"iothreadpin without iothreads pins only what the guest brings; "
			"add iothreads: 1 (or more) and iothread: N to the disks");
}

static void check_range(const struct rule_run *run, const struct range *range,
			const struct value *value, const char *key)
{
	if (given(&range->min) && given(&range->max) &&
	    range->min.number > range->max.number)
		rule_report(
			run, range->min.place,
			"require.%s: min %s is above max %s, so every guest is refused",
			key, range->min.text, range->max.text);
	else if (given(value) && given(&range->min) && value->number < range->min.number)
		rule_report(run, value->place,
			    "domain.%s is %s, less than the %s that require asks for",
			    key, value->text, range->min.text);
	else if (given(value) && given(&range->max) && value->number > range->max.number)
		rule_report(run, value->place,
			    "domain.%s is %s, more than the %s that require allows", key,
			    value->text, range->max.text);
}

static void require(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;

	check_range(run, &policy->require.vcpus, &policy->domain.vcpus, "vcpus");
	check_range(run, &policy->require.memory, &policy->domain.memory, "memory");
}

static void check_pages(const struct rule_run *run, const struct value *memory,
			const struct value *pages, const char *key)
{
	if (!given(memory) || !given(pages) || memory->number % pages->number == 0)
		return;
	rule_report(run, memory->place,
		    "%s %s is no whole number of pages of %s, and the start fails; say a "
		    "multiple of it (8 GB is not 8 GiB)",
		    key, memory->text, pages->text);
}

static void hugepages(const struct rule_input *input, const struct rule_run *run)
{
	check_pages(run, &input->policy->domain.memory,
		    &input->policy->memoryBacking.hugepages, "domain.memory");
}

static void hugepages_source(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *source = &input->policy->memoryBacking.source;
	const struct value *allocation = &input->policy->memoryBacking.allocation;

	if (!given(&input->policy->memoryBacking.hugepages))
		return;
	if (given(source) && strcmp(source->text, "anonymous") == 0)
		rule_report(run, source->place,
			    "hugepages with source anonymous, which libvirt refuses; say "
			    "memfd, or leave it out");
	if (given(allocation) && strcmp(allocation->text, "ondemand") == 0)
		rule_report(
			run, allocation->place,
			"hugepages with allocation ondemand, which libvirt refuses; say "
			"immediate, or leave it out");
}

static void shm_disk(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *source = &input->policy->memoryBacking.source;

	if (policy_vhostuser(input->policy) && given(source) &&
	    strcmp(source->text, "file") == 0 &&
	    !given(&input->policy->memoryBacking.hugepages))
		rule_report(run, source->place,
			    "source file puts guest memory into a file on disk, and "
			    "vhost-user needs it shared there; say memfd, or add "
			    "hugepages");
}

static void nodes(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;
	const struct value *count = &policy->numatune.nodes;
	const struct value *nodeset = &policy->numatune.nodeset;
	const struct value *vcpus = &policy->domain.vcpus;

	if (!given(count))
		return;
	if (given(nodeset) && cpuset_count(nodeset->cpus) < count->number)
		rule_report(run, count->place,
			    "nodes: %s, but nodeset %s allows %u; widen nodeset or lower "
			    "nodes",
			    count->text, nodeset->text, cpuset_count(nodeset->cpus));
	if (given(vcpus) && vcpus->number < count->number)
		rule_report(
			run, count->place,
			"nodes: %s for %s vCPUs leaves nodes without a vCPU; lower it",
			count->text, vcpus->text);
}

static void preferred(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *mode = &input->policy->numatune.mode;
	const struct value *count = &input->policy->numatune.nodes;

	if (word_is(mode, NUMA_PREFERRED) && given(count) && count->number > 1)
		rule_report(run, mode->place,
			    "mode preferred with nodes: %s: QEMU uses the first node "
			    "only; say mode: strict, or nodes: 1",
			    count->text);
}

static void peers(const struct rule_input *input, const struct rule_run *run)
{
	const struct values *with = &input->policy->numatune.with;
	const struct values *apart = &input->policy->numatune.apart;
	const struct value *own = &input->policy->domain.name;

	for (size_t i = 0; i < with->count && with->count <= DIAG_MAX; i++)
		for (size_t k = 0; k < apart->count && apart->count <= DIAG_MAX; k++)
			if (text_equal(with->items[i].text, apart->items[k].text))
				rule_report(
					run, apart->items[k].place,
					"guest %s is in both with and apart, which no "
					"placement can satisfy; remove it from one",
					apart->items[k].text);
	for (size_t i = 0; i < apart->count && given(own); i++)
		if (text_equal(apart->items[i].text, own->text))
			rule_report(run, apart->items[i].place,
				    "guest %s cannot be apart from itself", own->text);
}

static void match(const struct rule_input *input, const struct rule_run *run)
{
	const struct values *names = &input->policy->match.name;
	const struct value *name = &input->policy->domain.name;

	if (!names->count || !given(name))
		return;
	for (size_t i = 0; i < names->count; i++)
		if (fnmatch(names->items[i].text, name->text, 0) == 0)
			return;
	rule_report(
		run, name->place,
		"guest %s, which this policy renders, is not one that it matches, so the "
		"hook leaves it alone; add its name to match.name",
		name->text);
}

static void locked(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;

	if (realtime(policy) && !given(&policy->memoryBacking.hugepages) &&
	    !(given(&policy->memoryBacking.locked) &&
	      policy->memoryBacking.locked.number))
		rule_report(
			run, policy->cputune.vcpusched.scheduler.place,
			"real-time vCPUs on memory that may be swapped out; add "
			"memoryBacking: {locked: yes, nosharepages: yes}, or hugepages");
}

const struct rule rules_policy[] = {
	{ "policy-priority", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, sched_priority,
	  "a scheduler and a priority that do not go together",
	  "fifo and rr need a priority from 1 to 99, batch and idle have none: libvirt "
	  "refuses both mistakes. See sched-priority." },
	{ "policy-sched-vcpus", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, sched_vcpus,
	  "a scheduler for vCPUs that the guest does not have",
	  "vCPUs count from 0. libvirt refuses a <vcpusched> for vCPUs beyond <vcpu>. "
	  "See sched-missing." },
	{ "policy-sched-shared", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, sched_shared,
	  "real-time vCPUs without CPUs of their own",
	  "A real-time thread gives up its CPU only when it sleeps. See "
	  "sched-unpinned." },
	{ "policy-pin-list", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, pin_list,
	  "fewer CPUs in vcpupin than vCPUs",
	  "A CPU list in vcpupin is dealt out in order, one CPU for each vCPU, so it "
	  "must have at least as many. To let vCPUs float over a set, say vcpupin: "
	  "shared and name the set as shared_cpus in the host policy." },
	{ "policy-pin-helper", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, pin_helpers,
	  "emulator or I/O threads on the vCPUs' CPUs",
	  "See pin-emulator. Say housekeeping, or name CPUs that are not in vcpupin." },
	{ "policy-pin-emulator", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, pin_emulator,
	  "pinned vCPUs with an emulator that floats over them",
	  "See pin-emulator-missing. Say emulatorpin: housekeeping (the host policy's "
	  "housekeeping_cpus) or own (a CPU of its own)." },
	{ "policy-smt", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, smt,
	  "smt where vmgen does not choose the CPUs",
	  "smt says which cores placement may use for dedicated vCPUs. A CPU list is "
	  "taken as it is, and shared vCPUs have no cores of their own." },
	{ "policy-iothreadpin", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, iothreadpin,
	  "pins for I/O threads that the policy does not make",
	  "A guest without I/O threads has nothing to pin, and its disks stay in the "
	  "emulator's main loop. Say how many with iothreads, and let the disks name "
	  "theirs." },
	{ "policy-require", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, require,
	  "a range that no guest meets, or that the policy's own guest misses",
	  "require is what every guest must bring; a policy whose domain does not meet "
	  "it renders a guest that the hook then refuses. 8 GB is 8*10^9 bytes, 8 GiB "
	  "8*2^30." },
	{ "policy-hugepages", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, hugepages,
	  "memory that is no whole number of hugepages",
	  "See hugepages-multiple. Mind the units: 8 GB (8*10^9) is no multiple of 1 "
	  "GiB." },
	{ "policy-hugepages-source", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING,
	  hugepages_source, "hugepages with anonymous memory or allocation on demand",
	  "See hugepages-source." },
	{ "policy-shm-disk", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, shm_disk,
	  "shared memory in a file on disk", "See shm-disk." },
	{ "policy-nodes", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, nodes,
	  "more nodes than nodeset or vCPUs allow",
	  "With nodes above 1 the guest gets as many cells, each with vCPUs and memory "
	  "on a node of its own." },
	{ "policy-preferred", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, preferred,
	  "mode preferred over several nodes", "See numa-preferred." },
	{ "policy-peers", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, peers,
	  "a guest both with and apart from another",
	  "with asks for a common node, apart forbids it: no placement satisfies both." },
	{ "policy-match", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, match,
	  "the guest that the policy renders is not one that it matches",
	  "Without a match, and without <vmgen:policy> in its metadata, the hook knows "
	  "no policy for the guest and lets it start as it is." },
	{ "policy-locked", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, locked,
	  "real-time vCPUs on memory that is not locked", "See sched-unlocked." },
	{ .id = NULL },
};

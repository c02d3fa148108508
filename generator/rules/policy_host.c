/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on a policy and the host that it is for. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/pools.h"
#include "rules/rules.h"

/* The CPU lists that a policy may hold. */
static void each_list(const struct rule_input *input, const struct rule_run *run,
		      void (*visit)(const struct rule_input *input,
				    const struct rule_run *run, const struct value *list))
{
	const struct value *lists[] = { &input->policy->cputune.vcpupin,
					&input->policy->cputune.emulatorpin,
					&input->policy->cputune.iothreadpin };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (given(lists[i]) && lists[i]->cpus)
			visit(input, run, lists[i]);
}

static void list_offline(const struct rule_input *input, const struct rule_run *run,
			 const struct value *list)
{
	struct cpuset missing = *list->cpus;

	cpuset_andnot(&missing, &input->host->online);
	if (cpuset_empty(&missing))
		return;
	cleanup_free char *what = cpuset_format(&missing);
	cleanup_free char *online = cpuset_format(&input->host->online);

	rule_report(run, list->place, "CPU %s is not online on %s; online are %s", what,
		    input->host->origin, online);
}

static void offline(const struct rule_input *input, const struct rule_run *run)
{
	each_list(input, run, list_offline);
}

static void list_reserved(const struct rule_input *input, const struct rule_run *run,
			  const struct value *list)
{
	const struct host_policy *owner = input->host_policy;
	const struct value *taken[] = { &owner->reserved_cpus, &owner->vswitch.pmd_cpus };

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		struct cpuset common = *list->cpus;

		if (!given(taken[i]))
			continue;
		cpuset_and(&common, taken[i]->cpus);
		if (cpuset_empty(&common))
			continue;
		cleanup_free char *what = cpuset_format(&common);

		rule_report(run, list->place, "CPU %s is %s; name other CPUs", what,
			    i ? "one on which the switch polls"
			      : "reserved for the host");
		rule_note(run, taken[i]->place, "the host policy says so");
	}
}

static void reserved(const struct rule_input *input, const struct rule_run *run)
{
	each_list(input, run, list_reserved);
}

static void capacity(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *vcpus = given(&input->policy->domain.vcpus)
					    ? &input->policy->domain.vcpus
					    : &input->policy->require.vcpus.min;
	const struct value *pin = &input->policy->cputune.vcpupin;

	if (!given(vcpus) || !given(pin) || pin->word != VCPUPIN_DEDICATED)
		return;
	struct cpuset pool = pools_dedicated(input->host, input->host_policy);
	unsigned have = given(&input->policy->cputune.smt) &&
					input->policy->cputune.smt.word == SMT_ISOLATE
				? pools_cores(input->host, &pool)
				: cpuset_count(&pool);

	if (vcpus->number <= have)
		return;
	rule_report(run, vcpus->place,
		    "%s dedicated vCPUs, but %s has %u %s for them; lower it, or take a "
		    "larger host",
		    vcpus->text, input->host->origin, have,
		    have == cpuset_count(&pool) ? "CPUs" : "whole cores");
}

static void helper_words(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *pins[] = { &input->policy->cputune.emulatorpin,
				       &input->policy->cputune.iothreadpin };

	for (size_t i = 0; i < ARRAY_SIZE(pins); i++)
		if (given(pins[i]) && pins[i]->word == HELPERPIN_HOUSEKEEPING &&
		    !given(&input->host_policy->housekeeping_cpus))
			rule_report(run, pins[i]->place,
				    "housekeeping, but the host policy names no "
				    "housekeeping_cpus; add them there, or say own");
	if (given(&input->policy->cputune.vcpupin) &&
	    input->policy->cputune.vcpupin.word == VCPUPIN_SHARED &&
	    !given(&input->host_policy->shared_cpus))
		rule_report(run, input->policy->cputune.vcpupin.place,
			    "shared, but the host policy names no shared_cpus; add them "
			    "there");
}

static void nodeset(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *value = &input->policy->numatune.nodeset;
	const struct value *count = &input->policy->numatune.nodes;
	struct cpuset missing;

	if (given(count) && count->number > input->host->n_nodes)
		rule_report(run, count->place, "nodes: %s, but %s has %zu", count->text,
			    input->host->origin, input->host->n_nodes);
	if (!given(value))
		return;
	missing = *value->cpus;
	for (size_t i = 0; i < input->host->n_nodes; i++)
		cpuset_clear(&missing, input->host->nodes[i].number);
	if (cpuset_empty(&missing))
		return;
	cleanup_free char *what = cpuset_format(&missing);

	rule_report(run, value->place, "%s has no node %s", input->host->origin, what);
}

static void pages(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *size = &input->policy->memoryBacking.hugepages;
	const struct value *memory = &input->policy->domain.memory;
	uint64_t bytes = 0;

	if (!given(size))
		return;
	for (size_t i = 0; i < input->host->n_nodes; i++)
		for (size_t k = 0; k < input->host->nodes[i].n_pages; k++)
			if (input->host->nodes[i].pages[k].size == size->number)
				bytes += input->host->nodes[i].pages[k].total *
					 size->number;
	cleanup_free char *have = size_format(bytes);

	if (!bytes)
		rule_report(run, size->place,
			    "%s has no pages of %s, and the start fails; reserve them, "
			    "or use a size that it has",
			    input->host->origin, size->text);
	else if (given(memory) && memory->number > bytes)
		rule_report(run, memory->place,
			    "%s of memory, but %s has %s in pages of %s; reserve more",
			    memory->text, input->host->origin, have, size->text);
}

static void near(const struct rule_input *input, const struct rule_run *run)
{
	const struct values *list = &input->policy->numatune.near;

	for (size_t i = 0; i < list->count; i++) {
		const struct value *what = &list->items[i];

		if (what->word >= 0 || what->text[0] == '/' ||
		    host_device(input->host, what->text))
			continue;
		rule_report(
			run, what->place,
			"%s has no device \"%s\", so the guest is placed without regard "
			"to it; say disks, interfaces, a PCI address or a name that it "
			"has",
			input->host->origin, what->text);
	}
}

static void iops(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *want = &input->policy->expect.read_iops;
	const struct drive *drives = input->host_policy->drives.items;
	uint64_t sum = 0;

	for (size_t i = 0; i < input->host_policy->drives.count; i++)
		sum += drives[i].read_iops.number;
	if (!given(want) || sum >= want->number)
		return;
	if (sum)
		rule_report(run, want->place,
			    "%s read IOPS expected, and the host's %zu drives do %llu "
			    "together; add drives, or expect less",
			    want->text, input->host_policy->drives.count,
			    (unsigned long long)sum);
	else
		rule_report(run, want->place,
			    "%s read IOPS expected, and the host policy does not say "
			    "what its drives do; add drives there",
			    want->text);
}

static void vswitch(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy_interface *interfaces = input->policy->interfaces.items;
	const struct value *port = &input->host_policy->vswitch.port;
	const struct value *limit = &input->host_policy->vswitch.max_queues;

	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct policy_interface *one = &interfaces[i];
		bool server = given(&one->source.mode) &&
			      one->source.mode.word == SOCKET_SERVER;
		bool client_port = given(port) &&
				   strcmp(port->text, "dpdkvhostuserclient") == 0;

		if (given(port) && server != client_port)
			rule_report(run, one->source.place,
				    "the switch's ports are %s, so say mode: %s",
				    port->text, client_port ? "server" : "client");
		if (given(limit) && given(&one->queues) && one->queues.word < 0 &&
		    one->queues.number > limit->number)
			rule_report(
				run, one->queues.place,
				"%s queues, but the switch takes %s and the start hangs; "
				"say auto",
				one->queues.text, limit->text);
	}
}

static void zero_copy(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy_interface *interfaces = input->policy->interfaces.items;
	const struct value *kind = &input->host_policy->vswitch.kind;
	const struct value *version = &input->host_policy->vswitch.version;

	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct zero_copy *zero = &interfaces[i].zero_copy;

		if (!zero->place.line || !text_equal(kind->text, zero->backend.text) ||
		    !given(version) || !given(&zero->version) ||
		    version->number == zero->version.number)
			continue;
		rule_report(run, zero->version.place,
			    "zero_copy for %s %s, but this host has %s; whether it has "
			    "zero-copy depends on that",
			    zero->backend.text, zero->version.text, version->text);
	}
}

static void enforce(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *most = &input->host_policy->enforce_at_most;
	const struct value *mine = &input->policy->enforce;

	if (given(most) && given(mine) && mine->word > most->word)
		rule_report(
			run, mine->place,
			"enforce: %s, but the host policy allows %s at most, and that is "
			"what happens here",
			mine->text, most->text);
}

const struct rule rules_policy_host[] = {
	{ "policy-offline", DIAG_ERROR, RULE_POLICY, NEEDS_HOST, offline,
	  "a CPU list with CPUs that the host does not have online", "See pin-offline." },
	{ "policy-reserved", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY, reserved,
	  "a CPU list with CPUs of the host or of its switch",
	  "See pin-reserved and pin-pmd." },
	{ "policy-capacity", DIAG_ERROR, RULE_POLICY, NEEDS_HOST, capacity,
	  "more dedicated vCPUs than the host has CPUs for",
	  "Each dedicated vCPU owns a CPU; with smt: isolate a whole core. The pool is "
	  "dedicated_cpus, or what the host policy sets aside for nothing else." },
	{ "policy-pools", DIAG_WARNING, RULE_POLICY, NEEDS_HOST_POLICY, helper_words,
	  "a pool that the host policy does not name",
	  "housekeeping and shared are the host policy's housekeeping_cpus and "
	  "shared_cpus." },
	{ "policy-nodeset", DIAG_ERROR, RULE_POLICY, NEEDS_HOST, nodeset,
	  "nodes that the host does not have", "See numa-node-missing." },
	{ "policy-pages", DIAG_ERROR, RULE_POLICY, NEEDS_PAGES, pages,
	  "hugepages that the host does not have",
	  "See hugepages-size and hugepages-pool. Reserve them at boot, by node: 1 GiB "
	  "pages are hard to find later." },
	{ "policy-near", DIAG_WARNING, RULE_POLICY, NEEDS_DEVICES, near,
	  "near something that the host does not have",
	  "near names what the guest should be local to: disks, interfaces, a PCI "
	  "address, a network or block device, or a path." },
	{ "policy-iops", DIAG_WARNING, RULE_POLICY, NEEDS_HOST_POLICY, iops,
	  "more IOPS expected than the host's drives do",
	  "A guest cannot do more than the drives under it: one million reads need two "
	  "drives of 600,000. Source: storage appliance performance guide." },
	{ "policy-vswitch", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY, vswitch,
	  "interfaces that do not fit the host's switch",
	  "See vhost-port-mode and vhost-queues." },
	{ "policy-zero-copy", DIAG_WARNING, RULE_POLICY, NEEDS_HOST_POLICY, zero_copy,
	  "zero-copy for another version of the switch than the host's",
	  "Whether a switch has zero-copy depends on its version; see zero-copy-version, "
	  "and zero-copy-switch for a switch of another kind." },
	{ "policy-enforce", DIAG_WARNING, RULE_POLICY, NEEDS_HOST_POLICY, enforce,
	  "enforce that the host policy tones down",
	  "enforce_at_most is for a careful roll-out: the hook does no more than that, "
	  "whatever policies say." },
	{ .id = NULL },
};

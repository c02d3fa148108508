/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on pins that need the host's cores: SMT siblings, isolated CPUs. */
#include <string.h>

#include "base/text.h"
#include "rules/pins.h"
#include "rules/read.h"

static void helper_sibling(const struct rule_input *input, const struct rule_run *run,
			   const struct cpuset *alone, const struct element *element,
			   const struct cpuset *cpus, const char *who)
{
	cpuset_foreach (cpu, cpus) {
		if (!host_cpu(input->host, cpu) || cpuset_has(alone, cpu))
			continue;
		struct cpuset siblings = host_siblings(input->host, cpu);

		cpuset_and(&siblings, alone);
		if (cpuset_empty(&siblings))
			continue;
		rule_report(
			run, read_place(input->guest, element, "cpuset"),
			"%s may run on CPU %u, an SMT sibling of CPU %u to which a vCPU "
			"is pinned, and slows it; pin it to another core",
			who, cpu, cpuset_next(&siblings, 0));
		return;
	}
}

static void sibling(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset alone = pins_alone(guest), cpus;
	const struct element *element;

	if (cpuset_empty(&alone))
		return;
	if (pins_emulator(guest, &element, &cpus))
		helper_sibling(input, run, &alone, element, &cpus, "the emulator");
	for (size_t i = 0; i < guest->n_iothreads; i++) {
		const struct guest_iothread *thread = &guest->iothreads[i];

		if (!thread->pin.element)
			continue;
		cleanup_free char *who = xasprintf("I/O thread %u", thread->id);

		helper_sibling(input, run, &alone, thread->pin.element, &thread->pin.cpus,
			       who);
	}
}

/* The host core that vCPU is pinned to; false when it has a choice. */
static bool core_of(const struct rule_input *input, unsigned vcpu, unsigned *ret_core)
{
	const struct guest_pin *pin = &input->guest->vcpupin[vcpu];
	const struct host_cpu *cpu;

	if (!pin->element || cpuset_count(&pin->cpus) != 1)
		return false;
	cpu = host_cpu(input->host, cpuset_next(&pin->cpus, 0));
	if (!cpu)
		return false;
	*ret_core = cpu->core;
	return true;
}

/* A guest core's vCPUs on different host cores. */
static void split(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	for (unsigned i = 0; i < guest->vcpus; i++) {
		unsigned first = i - i % guest->threads, core, mine;

		if (i == first || !core_of(input, first, &core) ||
		    !core_of(input, i, &mine) || core == mine)
			continue;
		rule_report(run, read_place(guest, guest->vcpupin[i].element, "cpuset"),
			    "vCPUs %u and %u are one core to the guest but two on %s, so "
			    "its scheduler plans for the wrong ones; pin them to SMT "
			    "siblings, or say threads='1'",
			    first, i, input->host->origin);
		return;
	}
}

/* Host siblings that are cores to the guest. */
static void unseen(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	cleanup_free unsigned *owner = xcalloc(input->host->n_cores + 1, sizeof(*owner));

	for (unsigned i = 0; i < guest->vcpus; i++) {
		unsigned core;

		if (!core_of(input, i, &core) || core >= input->host->n_cores)
			continue;
		if (!owner[core]) {
			owner[core] = i + 1;
			continue;
		}
		if (cpuset_equal(&guest->vcpupin[owner[core] - 1].cpus,
				 &guest->vcpupin[i].cpus))
			continue; /* pin-overlap says that */
		rule_report(
			run, read_place(guest, guest->vcpupin[i].element, "cpuset"),
			"vCPUs %u and %u are on SMT siblings of %s, which the guest does "
			"not know; %ssay threads='2' in <cpu><topology>, or pin to whole "
			"cores",
			owner[core] - 1, i, input->host->origin,
			guest->vcpus % 2 ? "give it an even number of vCPUs and " : "");
		return;
	}
}

static void topology(const struct rule_input *input, const struct rule_run *run)
{
	if (input->guest->threads > 1)
		split(input, run);
	else
		unseen(input, run);
}

static void isolated_set(const struct rule_input *input, const struct rule_run *run,
			 const struct element *element, const struct cpuset *cpus)
{
	struct cpuset isolated = *cpus;

	cpuset_and(&isolated, &input->host->isolated);
	if (cpuset_count(&isolated) < 2)
		return;
	cleanup_free char *what = cpuset_format(&isolated);

	rule_report(
		run, read_place(input->guest, element, "cpuset"),
		"CPUs %s are isolated, where the kernel never moves a thread to a free "
		"CPU, so they pile up on one; name one CPU for each thread",
		what);
}

static void isolated(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset cpus;

	element_foreach (pin, element_find(input->guest->domain, "cputune"), NULL)
		if (strstr(pin->name, "pin") && read_cpus(pin, "cpuset", &cpus))
			isolated_set(input, run, pin, &cpus);
	struct element *vcpu = element_find(input->guest->domain, "vcpu");

	if (vcpu && read_cpus(vcpu, "cpuset", &cpus))
		isolated_set(input, run, vcpu, &cpus);
}

const struct rule rules_cores[] = {
	{ "pin-sibling", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, sibling,
	  "emulator or I/O threads on an SMT sibling of a vCPU's CPU",
	  "Two threads of one core share its execution units: a vCPU whose sibling is "
	  "busy runs at little more than half speed. OpenStack Nova puts 19 % of its "
	  "isolated emulator threads there (39 % on a Bulldozer host). Pin helpers to "
	  "cores that no vCPU owns. Source: runs of Nova's placement code on real "
	  "topologies; xapi CA-420968 measured 40-75 % less from shared cores." },
	{ "pin-topology", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, topology,
	  "the guest's threads and cores are not the host's",
	  "The guest's scheduler fills cores before siblings and keeps what shares data "
	  "on one core: with a topology that is not true it does the opposite. Pin the "
	  "vCPUs of a guest core to siblings of a host core, and say so in "
	  "<cpu><topology>; or pin each vCPU to a core of its own and say threads='1'. "
	  "Source: kubevirt issues 4687 and 6159; xapi pull request 6763." },
	{ "pin-isolated", DIAG_WARNING, RULE_GUEST, NEEDS_ISOLATED, isolated,
	  "a thread may use several isolated CPUs, but only ever runs on one",
	  "isolcpus= takes CPUs out of load balancing: a thread allowed on several of "
	  "them stays where it was put first, usually the lowest, however busy that is. "
	  "Name a single CPU for each thread. Source: kernel-parameters, isolcpus." },
	{ .id = NULL },
};

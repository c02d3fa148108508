/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on pins: which threads of a guest may run on which host CPUs. */
#include <string.h>

#include "base/text.h"
#include "rules/pins.h"
#include "rules/read.h"

static struct element *cputune(const struct rule_input *input)
{
	return element_find(input->guest->domain, "cputune");
}

struct cpuset pins_alone(const struct guest *guest)
{
	struct cpuset alone = CPUSET_INIT;

	for (unsigned i = 0; i < guest->vcpus; i++)
		if (guest->vcpupin[i].element &&
		    cpuset_count(&guest->vcpupin[i].cpus) == 1)
			cpuset_or(&alone, &guest->vcpupin[i].cpus);
	return alone;
}

struct cpuset pins_all(const struct guest *guest)
{
	struct cpuset all = CPUSET_INIT;

	for (unsigned i = 0; i < guest->vcpus; i++)
		if (guest->vcpupin[i].element)
			cpuset_or(&all, &guest->vcpupin[i].cpus);
	return all;
}

static void vcpu_missing(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	element_foreach (pin, cputune(input), "vcpupin") {
		unsigned long long vcpu;

		if (read_number(pin, "vcpu", &vcpu) && vcpu >= guest->vcpus)
			rule_report(
				run, read_place(guest, pin, "vcpu"),
				"the guest has %u vCPUs, so there is no vCPU %llu and "
				"libvirt drops this pin; remove it, or raise <vcpu>",
				guest->vcpus, vcpu);
	}
}

/* Of the elements NAME below <cputune>, those that repeat the number in ATTRIBUTE. */
static void repeated(const struct rule_input *input, const struct rule_run *run,
		     const char *name, const char *attribute)
{
	struct cpuset seen = CPUSET_INIT;

	element_foreach (pin, cputune(input), name) {
		unsigned long long number;

		if (!read_number(pin, attribute, &number) || number >= CPUSET_MAX)
			continue;
		if (cpuset_has(&seen, (unsigned)number))
			rule_report(run, read_place(input->guest, pin, attribute),
				    "%s %llu is pinned by an earlier <%s> already, and "
				    "libvirt refuses the second; keep one of them",
				    attribute, number, name);
		cpuset_set(&seen, (unsigned)number);
	}
}

static void duplicate(const struct rule_input *input, const struct rule_run *run)
{
	struct element *first = element_child(cputune(input), "emulatorpin");

	repeated(input, run, "vcpupin", "vcpu");
	repeated(input, run, "iothreadpin", "iothread");
	for (struct element *next = element_next(first, "emulatorpin"); next;
	     next = element_next(next, "emulatorpin"))
		rule_report(run, next->place,
			    "a second <emulatorpin>, and libvirt takes only one; join "
			    "their cpusets");
}

static void each_pin(const struct rule_input *input, const struct rule_run *run,
		     void (*visit)(const struct rule_input *input,
				   const struct rule_run *run,
				   const struct element *element,
				   const struct cpuset *cpus))
{
	struct element *vcpu = element_find(input->guest->domain, "vcpu");
	struct cpuset cpus;

	if (vcpu && read_cpus(vcpu, "cpuset", &cpus))
		visit(input, run, vcpu, &cpus);
	element_foreach (pin, cputune(input), NULL) {
		if (strcmp(pin->name, "vcpupin") != 0 &&
		    strcmp(pin->name, "emulatorpin") != 0 &&
		    strcmp(pin->name, "iothreadpin") != 0)
			continue;
		if (read_cpus(pin, "cpuset", &cpus))
			visit(input, run, pin, &cpus);
	}
}

static void pin_offline(const struct rule_input *input, const struct rule_run *run,
			const struct element *element, const struct cpuset *cpus)
{
	struct cpuset missing = *cpus;

	cpuset_andnot(&missing, &input->host->online);
	if (cpuset_empty(&missing))
		return;
	cleanup_free char *what = cpuset_format(&missing);
	cleanup_free char *online = cpuset_format(&input->host->online);

	rule_report(run, read_place(input->guest, element, "cpuset"),
		    "CPU %s is not online on %s, so the start fails or the thread runs "
		    "elsewhere; online are %s",
		    what, input->host->origin, online);
}

static void offline(const struct rule_input *input, const struct rule_run *run)
{
	each_pin(input, run, pin_offline);
}

static void pin_reserved(const struct rule_input *input, const struct rule_run *run,
			 const struct element *element, const struct cpuset *cpus)
{
	const struct value *reserved = &input->host_policy->reserved_cpus;
	struct cpuset taken = *cpus;

	cpuset_and(&taken, reserved->cpus);
	if (cpuset_empty(&taken))
		return;
	cleanup_free char *what = cpuset_format(&taken);

	rule_report(run, read_place(input->guest, element, "cpuset"),
		    "CPU %s is reserved for the host; pin to other CPUs", what);
	rule_note(run, reserved->place, "reserved_cpus are %s", reserved->text);
}

static void reserved(const struct rule_input *input, const struct rule_run *run)
{
	if (given(&input->host_policy->reserved_cpus))
		each_pin(input, run, pin_reserved);
}

static void pin_pmd(const struct rule_input *input, const struct rule_run *run,
		    const struct element *element, const struct cpuset *cpus)
{
	const struct value *pmd = &input->host_policy->vswitch.pmd_cpus;
	struct cpuset taken = *cpus;

	cpuset_and(&taken, pmd->cpus);
	if (cpuset_empty(&taken))
		return;
	cleanup_free char *what = cpuset_format(&taken);

	rule_report(run, read_place(input->guest, element, "cpuset"),
		    "the switch polls on CPU %s all the time, so both lose packets and "
		    "time slices; pin to other CPUs",
		    what);
	rule_note(run, pmd->place, "pmd_cpus are %s", pmd->text);
}

static void pmd(const struct rule_input *input, const struct rule_run *run)
{
	if (given(&input->host_policy->vswitch.pmd_cpus))
		each_pin(input, run, pin_pmd);
}

static int pin_order(const void *left, const void *right)
{
	const struct guest_pin *const *a = left, *const *b = right;
	int order = memcmp(&(*a)->cpus, &(*b)->cpus, sizeof((*a)->cpus));

	if (order)
		return order;
	return *a < *b ? -1 : *a > *b;
}

/* COUNT vCPUs that share the set of FIRST. */
static void crowd(const struct rule_input *input, const struct rule_run *run,
		  const struct guest_pin *const *group, size_t count)
{
	unsigned cpus = cpuset_count(&group[0]->cpus);

	if (count <= cpus)
		return;
	cleanup_free char *set = cpuset_format(&group[0]->cpus);

	rule_report(
		run, read_place(input->guest, group[1]->element, "cpuset"),
		"%zu vCPUs are pinned to CPU %s, so they wait for one another while the "
		"guest believes that they run; give each vCPU a CPU of its own",
		count, set);
	rule_note(run, read_place(input->guest, group[0]->element, "cpuset"),
		  "the first of them");
}

static void overlap(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	cleanup_free const struct guest_pin **pins = NULL;
	size_t count = 0, end;

	for (unsigned i = 0; i < guest->vcpus; i++)
		if (guest->vcpupin[i].element)
			*append(pins, count) = &guest->vcpupin[i];
	if (count)
		qsort(pins, count, sizeof(*pins), pin_order);
	for (size_t first = 0; first < count; first = end) {
		for (end = first + 1; end < count; end++)
			if (!cpuset_equal(&pins[first]->cpus, &pins[end]->cpus))
				break;
		crowd(input, run, pins + first, end - first);
	}
}

struct cpuset pins_iothreads(const struct guest *guest)
{
	struct cpuset ids = CPUSET_INIT;

	for (size_t i = 0; i < guest->n_iothreads; i++)
		if (guest->iothreads[i].id < CPUSET_MAX)
			cpuset_set(&ids, guest->iothreads[i].id);
	return ids;
}

static void iothread_undefined(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset there = pins_iothreads(input->guest);

	element_foreach (pin, cputune(input), "iothreadpin") {
		unsigned long long id;

		if (read_number(pin, "iothread", &id) && id < CPUSET_MAX &&
		    !cpuset_has(&there, (unsigned)id))
			rule_report(
				run, read_place(input->guest, pin, "iothread"),
				"there is no I/O thread %llu and libvirt refuses the "
				"domain; raise <iothreads>, or add it to <iothreadids>",
				id);
	}
}

const struct rule rules_pins[] = {
	{ "pin-vcpu-missing", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, vcpu_missing,
	  "a vcpupin for a vCPU that the guest does not have is dropped",
	  "libvirt logs \"Ignoring vcpupin for missing vcpus\" and forgets the element; "
	  "the next dump of the domain no longer has it. Usually <vcpu> was lowered or "
	  "the numbers start from 1 instead of 0. Remove the pin, or raise <vcpu>. "
	  "Source: libvirt 9.0.0, tried." },
	{ "pin-duplicate", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, duplicate,
	  "a thread is pinned twice, which libvirt refuses",
	  "\"duplicate vcpupin for vcpu '0'\" is what libvirt says when the domain is "
	  "defined; the schema does not notice. Keep one element for each vCPU and I/O "
	  "thread, and one <emulatorpin>. Source: libvirt 9.0.0, tried." },
	{ "pin-offline", DIAG_ERROR, RULE_GUEST, NEEDS_HOST, offline,
	  "a pin names a CPU that the host does not have online",
	  "libvirt defines such a domain and fails at start with \"Unable to write to "
	  "'.../cpuset.cpus': Numerical result out of range\", or, with cgroup v2 and a "
	  "CPU that is only offline, the thread runs on what is left of its set. Name "
	  "CPUs that are online (/sys/devices/system/cpu/online). Source: libvirt 9.0.0, "
	  "tried; igvm pull request 280 and tp-libvirt pull request 2036 are users' "
	  "reports." },
	{ "pin-reserved", DIAG_ERROR, RULE_GUEST, NEEDS_HOST_POLICY, reserved,
	  "a pin names a CPU that the host's owner reserved for the host",
	  "reserved_cpus in the host policy are never a guest's: the host's own work "
	  "(interrupts, storage, agents) runs there, and a guest on them slows both. Pin "
	  "to the CPUs of the dedicated or shared pool." },
	{ "pin-pmd", DIAG_ERROR, RULE_GUEST, NEEDS_HOST_POLICY, pmd,
	  "a pin names a CPU on which the switch polls",
	  "A poll mode driver's thread never sleeps, so whatever shares its CPU gets "
	  "half of it in slices, and the switch drops packets meanwhile. Keep the pins "
	  "and pmd-cpu-mask apart. Source: hotsos issue 636, charm-helpers pull request "
	  "594, Open vSwitch's DPDK guide." },
	{ "pin-overlap", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, overlap,
	  "more vCPUs are pinned to CPUs than these can run at once",
	  "libvirt takes it in silence, even 64 vCPUs on 2 CPUs. Then a vCPU that holds "
	  "a lock waits for one that spins on it. Give each vCPU a CPU of its own, or "
	  "leave the pins out and let them float over a larger set. Source: libvirt "
	  "9.0.0, tried; risu issue 580 and LXD issue 14133 are users' reports." },
	{ "pin-iothread-undefined", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING,
	  iothread_undefined, "an iothreadpin for an I/O thread that is not defined",
	  "\"Cannot find 'iothread' : 2\" is what libvirt says when the domain is "
	  "defined. I/O threads count from 1. Raise <iothreads>, or name the thread in "
	  "<iothreadids>. Source: libvirt 9.0.0, tried." },
	{ .id = NULL },
};

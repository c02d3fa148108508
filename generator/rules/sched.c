/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on real-time scheduling: vcpusched, iothreadsched, emulatorsched. */
#include <string.h>

#include "base/text.h"
#include "rules/pins.h"
#include "rules/read.h"

/* What a scheduler element is about: attribute and number of threads. */
static const struct {
	const char *name, *attribute;
} kinds[] = {
	{ "vcpusched", "vcpus" },
	{ "iothreadsched", "iothreads" },
	{ "emulatorsched", NULL },
};

static bool realtime(const struct element *sched)
{
	return read_is(sched, "scheduler", "fifo") || read_is(sched, "scheduler", "rr");
}

static void check_priority(const struct rule_input *input, const struct rule_run *run,
			   const struct element *sched)
{
	const char *text = element_attribute(sched, "priority");
	unsigned long long priority;

	if (!realtime(sched))
		return;
	if (!text)
		rule_report(
			run, sched->place,
			"scheduler '%s' without a priority, which libvirt refuses; add "
			"priority='1' (1 to 99)",
			element_attribute(sched, "scheduler"));
	else if (!text_number(text, &priority) || priority < 1 || priority > 99)
		rule_report(run, read_place(input->guest, sched, "priority"),
			    "priority %s is not in 1 to 99 and the start fails", text);
}

static void priority(const struct rule_input *input, const struct rule_run *run)
{
	struct element *cputune = element_find(input->guest->domain, "cputune");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		element_foreach (sched, cputune, kinds[i].name)
			check_priority(input, run, sched);
}

static struct cpuset threads_of(const struct guest *guest, const char *name)
{
	struct cpuset vcpus = CPUSET_INIT;

	if (strcmp(name, "iothreadsched") == 0)
		return pins_iothreads(guest);
	if (guest->vcpus)
		cpuset_set_range(&vcpus, 0, guest->vcpus - 1);
	return vcpus;
}

static void missing(const struct rule_input *input, const struct rule_run *run)
{
	struct element *cputune = element_find(input->guest->domain, "cputune");

	for (size_t i = 0; kinds[i].attribute; i++) {
		struct cpuset there = threads_of(input->guest, kinds[i].name), named;

		element_foreach (sched, cputune, kinds[i].name) {
			if (!read_cpus(sched, kinds[i].attribute, &named))
				continue;
			cpuset_andnot(&named, &there);
			if (cpuset_empty(&named))
				continue;
			cleanup_free char *what = cpuset_format(&named);

			rule_report(
				run, read_place(input->guest, sched, kinds[i].attribute),
				"the guest has no %s %s, and libvirt refuses the domain",
				kinds[i].attribute, what);
		}
	}
}

static void twice(const struct rule_input *input, const struct rule_run *run)
{
	struct element *cputune = element_find(input->guest->domain, "cputune");

	for (size_t i = 0; kinds[i].attribute; i++) {
		struct cpuset seen = CPUSET_INIT, named;

		element_foreach (sched, cputune, kinds[i].name) {
			if (!read_cpus(sched, kinds[i].attribute, &named))
				continue;
			if (cpuset_intersects(&named, &seen))
				rule_report(
					run,
					read_place(input->guest, sched,
						   kinds[i].attribute),
					"an earlier <%s> sets some of these %s already, "
					"and libvirt refuses that",
					kinds[i].name, kinds[i].attribute);
			cpuset_or(&seen, &named);
		}
	}
}

static bool alone(const struct guest *guest, unsigned vcpu)
{
	return vcpu < guest->vcpus && guest->vcpupin[vcpu].element &&
	       cpuset_count(&guest->vcpupin[vcpu].cpus) == 1;
}

/* The first vCPU of VCPUS that may move, or CPUSET_MAX. */
static unsigned first_floating(const struct guest *guest, const struct cpuset *vcpus)
{
	cpuset_foreach (vcpu, vcpus)
		if (!alone(guest, vcpu))
			return vcpu;
	return CPUSET_MAX;
}

static void unpinned(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset seen = CPUSET_INIT, vcpus;

	element_foreach (sched, element_find(guest->domain, "cputune"), "vcpusched") {
		if (!realtime(sched) || !read_cpus(sched, "vcpus", &vcpus))
			continue;
		cpuset_andnot(&vcpus, &seen);
		unsigned vcpu = first_floating(guest, &vcpus);

		if (vcpu < CPUSET_MAX)
			rule_report(
				run, sched->place,
				"vCPU %u is scheduled in real time but not pinned to one "
				"CPU, so it can starve whatever runs where it goes; add "
				"<vcpupin> with a CPU of its own",
				vcpu);
		cpuset_or(&seen, &vcpus);
	}
}

/* CPUs on which a vCPU in real time is pinned. */
static struct cpuset realtime_cpus(const struct guest *guest)
{
	struct cpuset all = CPUSET_INIT, cpus = CPUSET_INIT, vcpus;

	element_foreach (sched, element_find(guest->domain, "cputune"), "vcpusched")
		if (realtime(sched) && read_cpus(sched, "vcpus", &vcpus))
			cpuset_or(&all, &vcpus);
	cpuset_foreach (vcpu, &all)
		if (alone(guest, vcpu))
			cpuset_or(&cpus, &guest->vcpupin[vcpu].cpus);
	return cpus;
}

static void starves(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset owned = realtime_cpus(input->guest), cpus;
	const struct element *element;

	if (pins_emulator(input->guest, &element, &cpus) && !cpuset_empty(&cpus) &&
	    cpuset_subset(&cpus, &owned))
		rule_report(
			run, read_place(input->guest, element, "cpuset"),
			"the emulator can run only where a vCPU runs in real time, so a "
			"busy vCPU stops it for good; pin it to housekeeping CPUs");
}

static void unlocked(const struct rule_input *input, const struct rule_run *run)
{
	struct element *domain = input->guest->domain;

	element_foreach (sched, element_find(domain, "cputune"), "vcpusched") {
		if (!realtime(sched) || element_find(domain, "memoryBacking/locked") ||
		    element_find(domain, "memoryBacking/hugepages"))
			continue;
		rule_report(
			run, sched->place,
			"vCPUs run in real time on memory that the host may swap out or "
			"merge; add <memoryBacking> with <locked/> and <nosharepages/>");
		return;
	}
}

const struct rule rules_sched[] = {
	{ "sched-priority", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, priority,
	  "fifo or rr without a priority from 1 to 99",
	  "Without a priority libvirt refuses the domain; with one outside 1 to 99 it "
	  "defines it, and the start fails with \"out of range [1, 99]\". Priority 1 is "
	  "enough for a vCPU that has its CPU to itself. Source: libvirt 9.0.0, tried." },
	{ "sched-missing", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, missing,
	  "a scheduler for threads that the guest does not have",
	  "libvirt refuses the domain. vCPUs count from 0, I/O threads from 1. Source: "
	  "libvirt 9.0.0, tried; its test cputune-iothreadsched-toomuch." },
	{ "sched-duplicate", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, twice,
	  "two schedulers for one thread",
	  "libvirt refuses scheduler elements whose sets overlap. Source: libvirt's test "
	  "cputune-vcpusched-overlap." },
	{ "sched-unpinned", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, unpinned,
	  "a real-time vCPU without a CPU of its own",
	  "A thread under fifo or rr gives its CPU up only when it sleeps. Where it can "
	  "move, whatever it meets (another vCPU, a kernel thread, the emulator) stands "
	  "still as long as it is busy. Pin real-time vCPUs one to one, on isolated "
	  "CPUs. Source: sched(7); seapath issue 439." },
	{ "sched-starves", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, starves,
	  "the emulator can run only where a real-time vCPU runs",
	  "The emulator is scheduled normally, so a busy vCPU under fifo or rr keeps it "
	  "off its CPU for ever: device emulation stops and with it the guest. Give the "
	  "emulator a housekeeping CPU. Source: OpenStack Nova, which demands an "
	  "emulator policy or a vCPU that is not real-time." },
	{ "sched-unlocked", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, unlocked,
	  "real-time vCPUs on memory that is not locked",
	  "A page fault that waits for swap costs milliseconds. Lock the memory and keep "
	  "KSM off it (<locked/>, <nosharepages/>); hugepages are never swapped. Source: "
	  "OpenStack Nova and tuned's profile realtime-virtual-host do both." },
	{ .id = NULL },
};

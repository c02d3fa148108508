/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on the threads beside the vCPUs: emulator and I/O threads, and where they run. */
#include "base/text.h"
#include "rules/pins.h"
#include "rules/read.h"

static struct element *cputune(const struct rule_input *input)
{
	return element_find(input->guest->domain, "cputune");
}

/* <vcpu cpuset>, where all threads without a pin of their own run; false: anywhere. */
static bool vcpu_cpuset(const struct guest *guest, struct cpuset *ret_cpus)
{
	const struct element *vcpu = element_find(guest->domain, "vcpu");

	return vcpu && read_cpus(vcpu, "cpuset", ret_cpus);
}

bool pins_emulator(const struct guest *guest, const struct element **ret_element,
		   struct cpuset *ret_cpus)
{
	if (guest->emulatorpin.element) {
		*ret_element = guest->emulatorpin.element;
		*ret_cpus = guest->emulatorpin.cpus;
		return true;
	}
	*ret_element = element_find(guest->domain, "vcpu");
	return vcpu_cpuset(guest, ret_cpus);
}

static bool vcpu_auto(const struct guest *guest)
{
	return read_is(element_find(guest->domain, "vcpu"), "placement", "auto");
}

struct vcpu_cpus {
	struct cpuset alone, all;
};

static struct vcpu_cpus vcpu_cpus(const struct guest *guest)
{
	return (struct vcpu_cpus){ pins_alone(guest), pins_all(guest) };
}

/* A helper thread confined to CPUs that vCPUs own must run when a vCPU should. */
static void helper_overlap(const struct rule_input *input, const struct rule_run *run,
			   const struct vcpu_cpus *vcpus, const struct element *element,
			   const struct cpuset *cpus, const char *who)
{
	struct cpuset common = *cpus;

	if (cpuset_empty(cpus) || (!cpuset_intersects(cpus, &vcpus->alone) &&
				   !cpuset_subset(cpus, &vcpus->all)))
		return;
	cpuset_and(&common, &vcpus->all);
	cleanup_free char *what = cpuset_format(&common);

	rule_report(run, read_place(input->guest, element, "cpuset"),
		    "%s may run on CPU %s, which vCPUs are pinned to, and stops them "
		    "whenever it works; pin it to housekeeping CPUs",
		    who, what);
}

static void emulator(const struct rule_input *input, const struct rule_run *run)
{
	const struct vcpu_cpus vcpus = vcpu_cpus(input->guest);
	const struct element *element;
	struct cpuset cpus;

	if (pins_emulator(input->guest, &element, &cpus))
		helper_overlap(input, run, &vcpus, element, &cpus, "the emulator");
}

static void iothread(const struct rule_input *input, const struct rule_run *run)
{
	const struct vcpu_cpus vcpus = vcpu_cpus(input->guest);

	for (size_t i = 0; i < input->guest->n_iothreads; i++) {
		const struct guest_iothread *thread = &input->guest->iothreads[i];

		if (!thread->pin.element)
			continue;
		cleanup_free char *who = xasprintf("I/O thread %u", thread->id);

		helper_overlap(input, run, &vcpus, thread->pin.element, &thread->pin.cpus,
			       who);
	}
}

/* vCPUs have CPUs of their own, and nothing says where the other threads go. */
static bool helpers_float(const struct guest *guest)
{
	struct cpuset alone = pins_alone(guest), cpus;

	return !cpuset_empty(&alone) && !vcpu_cpuset(guest, &cpus) && !vcpu_auto(guest);
}

static void emulator_missing(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	if (!guest->emulatorpin.element && helpers_float(guest))
		rule_report(run, cputune(input)->place,
			    "vCPUs are pinned but the emulator is not, so it runs on any "
			    "CPU, theirs too; add <emulatorpin> with housekeeping CPUs");
}

static void iothread_missing(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	if (!helpers_float(guest))
		return;
	for (size_t i = 0; i < guest->n_iothreads; i++) {
		if (guest->iothreads[i].pin.element)
			continue;
		rule_report(
			run, cputune(input)->place,
			"vCPUs are pinned but I/O thread %u is not, so it runs on any "
			"CPU, theirs too; add <iothreadpin> with housekeeping CPUs",
			guest->iothreads[i].id);
		return;
	}
}

const struct rule rules_helpers[] = {
	{ "pin-emulator", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, emulator,
	  "the emulator may only run where vCPUs are pinned",
	  "The emulator's threads (monitor, migration, and the vhost workers of kernels "
	  "up to 6.3, which its cpuset confines) then take time from a vCPU whenever "
	  "they run: packet loss and latency spikes in guests that poll. Where there is "
	  "no <emulatorpin>, <vcpu cpuset> is what confines it. Pin it to housekeeping "
	  "CPUs; the sample in Open vSwitch's documentation that pins it to the vCPUs' "
	  "cores is not to be copied. Source: libvirt 9.0.0; kubevirt issues 2870 and "
	  "3103." },
	{ "pin-iothread", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, iothread,
	  "an I/O thread may only run where vCPUs are pinned",
	  "An I/O thread that polls or completes requests takes the CPU from the vCPU "
	  "that asked for them. Pin it to housekeeping CPUs near the drives. Source: "
	  "kubevirt issue 16992." },
	{ "pin-emulator-missing", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING,
	  emulator_missing,
	  "vCPUs have CPUs of their own, and the emulator floats over them",
	  "Without <emulatorpin> and <vcpu cpuset> the emulator may run on every CPU of "
	  "the host, those of this and of all other pinned guests included. Add "
	  "<emulatorpin> with housekeeping CPUs. Source: libvirt, formatdomain, element "
	  "emulatorpin; seapath issue 439." },
	{ "pin-iothread-missing", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING,
	  iothread_missing,
	  "vCPUs have CPUs of their own, and an I/O thread floats over them",
	  "Without <iothreadpin> and <vcpu cpuset> an I/O thread may run on every CPU of "
	  "the host. Add <iothreadpin> with housekeeping CPUs. Source: libvirt, "
	  "formatdomain, element iothreadpin." },
	{ .id = NULL },
};

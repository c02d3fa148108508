/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the threads run: vcpupin, emulatorpin, iothreadpin, vcpusched, iothreads. */
#include <string.h>

#include "base/text.h"
#include "edits/edits.h"

/* A number as text on the stack: cpuset, vcpu and the like. */
struct digits {
	char text[12];
};

static struct digits digits(unsigned number)
{
	struct digits digits;

	snprintf(digits.text, sizeof(digits.text), "%u", number);
	return digits;
}

static const char *const smt_why[] = {
	[SMT_ISOLATE] = "a whole core each: a shared one costs 40-75 % (xapi CA-420968)",
	[SMT_REQUIRE] = "guest siblings on host siblings",
	[SMT_PREFER] = "siblings together where there are any",
	[SMT_ANY] = "any free CPU",
};

static char *vcpu_why(const struct plan *plan, unsigned vcpu)
{
	const struct policy *policy = plan->policy;
	const struct value *smt = &policy->cputune.smt;
	const struct placement *placement = plan->placement;

	if (!placement->cpus)
		return xstrdup("vcpupin: shared, so it floats over the pool");
	const struct host_cpu *cpu = host_cpu(plan->host, placement->cpus[vcpu]);
	if (policy->cputune.vcpupin.word < 0)
		return xasprintf("the policy's list, dealt out in order; node %d",
				 cpu ? cpu->node : HOST_NO_NODE);
	return xasprintf("node %d: %s; smt %s: %s", cpu ? cpu->node : HOST_NO_NODE,
			 plan->node_why, given(smt) ? smt->text : "prefer",
			 smt_why[given(smt) ? smt->word : SMT_PREFER]);
}

static void pin_vcpus(struct edits *edits, const struct plan *plan,
		      struct element *cputune)
{
	const struct placement *placement = plan->placement;
	const struct value *said = &plan->policy->cputune.vcpupin;
	cleanup_free char *shared = cpuset_format(&placement->shared);

	for (unsigned i = 0; i < plan->guest->vcpus; i++) {
		struct digits vcpu = digits(i);
		struct digits cpu = digits(placement->cpus ? placement->cpus[i] : 0);
		cleanup_free char *why = vcpu_why(plan, i);
		const struct want wants[] = {
			{ "vcpu", vcpu.text, SAME_NUMBER },
			{ "cpuset", placement->cpus ? cpu.text : shared, SAME_CPUS },
			{ NULL, NULL, SAME_TEXT },
		};

		edits_want(edits, cputune, plan->guest->vcpupin[i].element, "vcpupin",
			   wants, (struct reason){ said->place, why });
	}
}

/* Where emulator and I/O threads run when the policy says only vcpupin, that speaks. */
static struct place helper_place(const struct policy *policy, const struct value *said)
{
	return given(said) ? said->place : policy->cputune.vcpupin.place;
}

static const char *helper_why(const struct plan *plan, const struct value *said)
{
	if (given(said) && said->word < 0)
		return "the policy's list";
	if (!plan->placement->emulator_own)
		return "housekeeping CPUs of the guest's node, off the vCPUs";
	if (given(said) && said->word == HELPERPIN_OWN)
		return "a CPU of its own on the guest's node, off the vCPUs";
	return "no housekeeping CPU on the guest's node, so one of its own, off the "
	       "vCPUs";
}

static void pin_emulator(struct edits *edits, const struct plan *plan,
			 struct element *cputune)
{
	const struct value *said = &plan->policy->cputune.emulatorpin;
	cleanup_free char *cpus = cpuset_format(&plan->emulator);
	const struct want wants[] = {
		{ "cpuset", cpus, SAME_CPUS },
		{ NULL, NULL, SAME_TEXT },
	};

	if (!cpuset_empty(&plan->emulator))
		edits_want(edits, cputune, plan->guest->emulatorpin.element,
			   "emulatorpin", wants,
			   (struct reason){ helper_place(plan->policy, said),
					    helper_why(plan, said) });
}

static void pin_iothread(struct edits *edits, const struct plan *plan,
			 struct element *cputune, unsigned id, struct element *element)
{
	const struct value *said = &plan->policy->cputune.iothreadpin;
	cleanup_free char *cpus = cpuset_format(&plan->iothreads);
	struct digits number = digits(id);
	const struct want wants[] = {
		{ "iothread", number.text, SAME_NUMBER },
		{ "cpuset", cpus, SAME_CPUS },
		{ NULL, NULL, SAME_TEXT },
	};

	if (!cpuset_empty(&plan->iothreads))
		edits_want(edits, cputune, element, "iothreadpin", wants,
			   (struct reason){ helper_place(plan->policy, said),
					    helper_why(plan, said) });
}

/* The I/O threads that the guest will have, by id. */
static struct cpuset iothread_ids(const struct plan *plan)
{
	const struct guest *guest = plan->guest;
	struct cpuset ids = CPUSET_INIT;
	uint64_t count = guest->n_iothreads;

	for (size_t i = 0; i < guest->n_iothreads; i++)
		cpuset_set(&ids, guest->iothreads[i].id);
	/* libvirt gives those that are added the lowest numbers that are free */
	for (unsigned id = 1; count < plan->policy->iothreads.number; id++) {
		count += !cpuset_has(&ids, id);
		cpuset_set(&ids, id);
	}
	return ids;
}

unsigned edits_iothread(const struct plan *plan, uint64_t nth)
{
	struct cpuset ids = iothread_ids(plan);

	cpuset_foreach (id, &ids) {
		if (--nth == 0)
			return id;
	}
	return 0;
}

static struct element *iothread_pin(const struct guest *guest, unsigned id)
{
	for (size_t i = 0; i < guest->n_iothreads; i++)
		if (guest->iothreads[i].id == id)
			return guest->iothreads[i].pin.element;
	return NULL;
}

static void pin_iothreads(struct edits *edits, const struct plan *plan,
			  struct element *cputune)
{
	struct cpuset ids = iothread_ids(plan);

	cpuset_foreach (id, &ids) {
		pin_iothread(edits, plan, cputune, id, iothread_pin(plan->guest, id));
	}
}

static void count_iothreads(struct edits *edits, const struct plan *plan)
{
	const struct value *wanted = &plan->policy->iothreads;
	struct element *count = element_child(plan->guest->domain, "iothreads");
	struct reason reason = { wanted->place,
				 "I/O threads, so that disks do not wait for "
				 "the emulator's loop" };

	if (!given(wanted) || plan->guest->n_iothreads >= wanted->number)
		return;
	struct digits number = digits((unsigned)wanted->number);
	if (count) {
		edits_content(edits, count, number.text, SAME_NUMBER, reason);
		return;
	}
	struct element *child = element_new("iothreads");
	element_set_text(child, number.text);
	edits_child(edits, plan->guest->domain, child, reason);
}

/* All of WANTS but the first, the vCPUs. */
static bool sched_same(const struct element *row, const struct want *wants)
{
	while ((++wants)->name)
		if (!text_equal(element_attribute(row, wants->name), wants->value))
			return false;
	return true;
}

/* libvirt makes an element for each vCPU of one for several. */
static bool sched_conforms(const struct element *cputune, const struct want *wants)
{
	struct cpuset has = CPUSET_INIT, row_has, wanted;

	element_foreach (row, cputune, "vcpusched") {
		const char *vcpus = element_attribute(row, "vcpus");

		if (!vcpus || !cpuset_parse(vcpus, &row_has, NULL, NULL) ||
		    !sched_same(row, wants))
			return false;
		cpuset_or(&has, &row_has);
	}
	return cpuset_parse(wants->value, &wanted, NULL, NULL) &&
	       cpuset_equal(&has, &wanted);
}

/* One element for all of them. */
static void schedule(struct edits *edits, const struct plan *plan,
		     struct element *cputune)
{
	const struct policy *policy = plan->policy;
	const struct value *priority = &policy->cputune.vcpusched.priority;
	struct cpuset all = CPUSET_INIT;

	if (!given(&policy->cputune.vcpusched.scheduler))
		return;
	cpuset_set_range(&all, 0, plan->guest->vcpus - 1);
	if (policy->cputune.vcpusched.vcpus.cpus)
		cpuset_and(&all, policy->cputune.vcpusched.vcpus.cpus);
	cleanup_free char *vcpus = cpuset_format(&all);
	const struct want wants[] = {
		{ "vcpus", vcpus, SAME_CPUS },
		{ "scheduler", policy->cputune.vcpusched.scheduler.text, SAME_TEXT },
		{ given(priority) ? "priority" : NULL, priority->text, SAME_NUMBER },
		{ NULL, NULL, SAME_TEXT },
	};
	struct reason reason = { policy->cputune.vcpusched.place,
				 "the kernel schedules these vCPUs before all else" };
	if (cpuset_empty(&all) || sched_conforms(cputune, wants))
		return;
	element_foreach (old, cputune, "vcpusched")
		edits_remove(edits, old, reason);
	edits_want(edits, cputune, NULL, "vcpusched", wants, reason);
}

/* numad's advice would overrule the pool for every thread that has no pin of its own. */
static void stop_numad(struct edits *edits, const struct plan *plan)
{
	struct element *vcpu = element_child(plan->guest->domain, "vcpu");

	if (text_equal(element_attribute(vcpu, "placement"), "auto"))
		edits_attribute(edits, vcpu, "placement", "static", SAME_TEXT,
				(struct reason){ plan->policy->cputune.vcpupin.place,
						 "the policy places, not numad" });
}

void edits_cputune(struct edits *edits, const struct plan *plan)
{
	struct element *cputune = doc_need(plan->guest->domain, "cputune");

	count_iothreads(edits, plan);
	if (given(&plan->policy->cputune.vcpupin)) {
		stop_numad(edits, plan);
		pin_vcpus(edits, plan, cputune);
	}
	pin_emulator(edits, plan, cputune);
	pin_iothreads(edits, plan, cputune);
	schedule(edits, plan, cputune);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* struct input to struct outcome. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "compile.h"
#include "placement/request.h"

void outcome_done(struct outcome *outcome)
{
	placement_free(outcome->placement);
	edits_done(&outcome->edits);
	free(outcome->xml);
	claim_done(&outcome->claim);
	for (size_t i = 0; i < COMPANIONS; i++)
		free(outcome->companions[i]);
	*outcome = (struct outcome)OUTCOME_INIT;
}

static void require_vcpus(const struct input *input, struct diag *diag)
{
	const struct range *range = &input->policy->require.vcpus;
	unsigned vcpus = input->guest->vcpus;

	if (given(&range->min) && vcpus < range->min.number)
		diag_error(diag, range->min.place, "require",
			   "guest %s has %u vCPUs, the policy requires at least %" PRIu64,
			   input->guest->name, vcpus, range->min.number);
	if (given(&range->max) && vcpus > range->max.number)
		diag_error(diag, range->max.place, "require",
			   "guest %s has %u vCPUs, the policy allows at most %" PRIu64,
			   input->guest->name, vcpus, range->max.number);
}

static void require_memory(const struct input *input, struct diag *diag)
{
	const struct range *range = &input->policy->require.memory;
	cleanup_free char *has = size_format(input->guest->memory);

	if (given(&range->min) && input->guest->memory < range->min.number)
		diag_error(diag, range->min.place, "require",
			   "guest %s has %s of memory, the policy requires at least %s",
			   input->guest->name, has, range->min.text);
	if (given(&range->max) && input->guest->memory > range->max.number)
		diag_error(diag, range->max.place, "require",
			   "guest %s has %s of memory, the policy allows at most %s",
			   input->guest->name, has, range->max.text);
}

/* KVM runs the host's own instructions; 32-bit guests of the same family included. */
static bool runs_here(const char *host, const char *guest)
{
	return text_equal(host, guest) ||
	       (text_equal(host, "x86_64") && text_equal(guest, "i686")) ||
	       (text_equal(host, "aarch64") && text_equal(guest, "armv7l")) ||
	       (text_starts(host, "ppc64") && text_starts(guest, "ppc64"));
}

static void require_arch(const struct input *input, struct diag *diag)
{
	const struct guest *guest = input->guest;

	if (!text_equal(guest->type, "kvm") || !guest->arch || !input->host->arch ||
	    runs_here(input->host->arch, guest->arch))
		return;
	diag_error(diag, guest->domain->place, "arch",
		   "guest %s is a KVM guest of %s, the host (%s) is %s", guest->name,
		   guest->arch, input->host->origin, input->host->arch);
}

static void require_devices(const struct input *input, struct diag *diag)
{
	const struct policy *policy = input->policy;

	if ((policy->disks.count || policy->interfaces.count) &&
	    !element_child(input->guest->domain, "devices"))
		diag_error(diag, input->guest->domain->place, "require",
			   "guest %s has no <devices> to add the policy's disks and "
			   "interfaces to",
			   input->guest->name);
}

static bool meets_requirements(const struct input *input, struct diag *diag)
{
	size_t before = diag->errors;

	require_vcpus(input, diag);
	require_memory(input, diag);
	require_arch(input, diag);
	require_devices(input, diag);
	return diag->errors == before;
}

/* The versions to be on the safe side of: the policy's word, then the host policy's, then
 * what the host has. */
static struct target target_of(const struct input *input)
{
	struct target target = { .libvirt = input->host->libvirt,
				 .qemu = input->host->qemu };
	const struct value *libvirt[] = {
		input->host_policy ? &input->host_policy->libvirt : NULL,
		&input->policy->libvirt,
	};
	const struct value *qemu[] = {
		input->host_policy ? &input->host_policy->qemu : NULL,
		&input->policy->qemu,
	};

	target.libvirt_place = target.qemu_place = (struct place){ input->host->origin, 0,
								   0 };
	for (size_t i = 0; i < ARRAY_SIZE(libvirt); i++) {
		if (libvirt[i] && given(libvirt[i])) {
			target.libvirt = libvirt[i]->number;
			target.libvirt_place = libvirt[i]->place;
		}
		if (qemu[i] && given(qemu[i])) {
			target.qemu = qemu[i]->number;
			target.qemu_place = qemu[i]->place;
		}
	}
	return target;
}

static struct request_source source_of(const struct input *input,
				       const struct policy *policy)
{
	return (struct request_source){
		.policy = policy,
		.host = input->host,
		.host_policy = input->host_policy,
		.claims = input->claims,
		.guest = input->guest,
		.libvirt = target_of(input).libvirt,
		.fixed = input->fixed,
		.running = input->running,
		.usable = input->usable,
		.replace = input->replace || input->control == CONTROL_SHARE_SMT ||
			   input->control == CONTROL_REMOTE_CPU,
		.away = input->control == CONTROL_REMOTE_CPU,
	};
}

static struct plan plan_of(const struct input *input, const struct policy *policy,
			   const struct placement *placement, const char *why)
{
	struct request_source source = source_of(input, policy);

	return (struct plan){
		.policy = policy,
		.host = input->host,
		.host_policy = input->host_policy,
		.doc = input->doc,
		.guest = input->guest,
		.placement = placement,
		.emulator = request_helpers(&source, placement,
					    &policy->cputune.emulatorpin),
		.iothreads = request_helpers(&source, placement,
					     &policy->cputune.iothreadpin),
		.memory_nodes = placement->nodes,
		.threads = placement->threads,
		.node_why = why,
		.made = input->made,
		.fixed = input->fixed,
		.records = input->records && !input->fixed,
	};
}

static void make_edits(struct edits *edits, const struct plan *plan)
{
	edits_memory(edits, plan);
	edits_cputune(edits, plan);
	edits_numatune(edits, plan);
	edits_topology(edits, plan);
	edits_disks(edits, plan);
	edits_records(edits, plan);
	edits_interfaces(edits, plan);
}

static bool found_before(const struct diag *before, const struct finding *finding)
{
	for (size_t i = 0; i < before->count; i++)
		if (text_equal(before->findings[i].rule, finding->rule) &&
		    text_equal(before->findings[i].text, finding->text))
			return true;
	return false;
}

static void pass_on(const struct finding *finding, bool error, struct diag *diag)
{
	struct place place = { finding->file, finding->line, finding->column };

	(error ? diag_error : diag_warning)(diag, place, finding->rule, "%s",
					    finding->text);
	for (size_t i = 0; i < finding->n_notes; i++) {
		const struct finding *note = &finding->notes[i];

		diag_note(diag, (struct place){ note->file, note->line, note->column },
			  "%s", note->text);
	}
}

/* What was wrong with the guest before we touched it is no reason to refuse, nor to say
 * more than lint would; nor is what a control breaks on purpose. */
static void judge(const struct input *input, const struct diag *before,
		  const struct diag *after, struct diag *diag)
{
	for (size_t i = 0; i < after->count; i++) {
		const struct finding *finding = &after->findings[i];
		bool error = finding->level == DIAG_ERROR;
		bool old = found_before(before, finding);

		if (error || !old)
			pass_on(finding, error && !old && input->control == CONTROL_NONE,
				diag);
	}
}

static void run_rules(const struct input *input, const struct policy *policy,
		      const struct target *target, enum rule_scope scope,
		      const struct guest *guest, struct diag *diag)
{
	const struct rule_input rule_input = {
		.policy = policy,
		.host_policy = input->host_policy,
		.host = input->host,
		.guest = guest,
		.libvirt = target->libvirt,
		.qemu = target->qemu,
	};

	rules_run(scope, &rule_input, input->levels, NULL, NULL, diag);
}

/* The guest rules on what comes out, read back from its text. */
static bool check_text(const struct input *input, const struct policy *policy,
		       const struct outcome *outcome, struct diag *after,
		       struct diag *diag)
{
	cleanup_free char *file = xasprintf("%s, rewritten", input->doc->file);
	cleanup_doc struct doc *doc = doc_parse(file, outcome->xml, strlen(outcome->xml),
						diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, diag) : NULL;

	if (guest)
		run_rules(input, policy, &outcome->edits.target, RULE_GUEST, guest,
			  after);
	return guest != NULL;
}

/* A guest that conforms comes out as it went in, and is not looked at twice. */
static bool check_result(const struct input *input, const struct policy *policy,
			 const struct outcome *outcome, struct diag *diag)
{
	cleanup_diag struct diag before = DIAG_INIT, after = DIAG_INIT;
	const struct target *target = &outcome->edits.target;
	bool same = strcmp(outcome->xml, input->doc->text) == 0;
	size_t errors = diag->errors;

	run_rules(input, policy, target, RULE_POLICY, input->guest, &after);
	run_rules(input, policy, target, RULE_GUEST, input->guest, &before);
	if (!same && !check_text(input, policy, outcome, &after, diag))
		return false;
	judge(input, &before, &after, diag);
	if (same)
		judge(input, &before, &before, diag);
	return diag->errors == errors;
}

static bool compile_policy(const struct input *input, const struct policy *policy,
			   struct outcome *outcome, struct diag *diag)
{
	struct request_source source = source_of(input, policy);
	cleanup_free char *why = NULL;
	size_t errors = diag->errors;

	outcome->placement = request_placement(&source, &why, diag);
	if (!outcome->placement)
		return false;
	struct plan plan = plan_of(input, policy, outcome->placement, why);
	if (!control_plan(&plan, input->control, diag))
		return false;
	outcome->edits.target = target_of(input);
	outcome->edits.diag = diag;
	control_edits(&outcome->edits, &plan, input->control);
	make_edits(&outcome->edits, &plan);
	if (input->companions)
		companion_make(&plan, outcome->companions, diag);
	if (diag->errors != errors)
		return false;
	outcome->xml = edits_perform(&outcome->edits, input->doc, REACH_COLD);
	outcome->claim = request_claim(&source, outcome->placement);
	return check_result(input, policy, outcome, diag);
}

bool compile(const struct input *input, struct outcome *ret_outcome, struct diag *diag)
{
	cleanup(control_policy_done) struct control_policy twin;
	cleanup_outcome struct outcome outcome = OUTCOME_INIT;

	control_policy_init(&twin, input->policy, input->control);
	if (!meets_requirements(input, diag) ||
	    !compile_policy(input, &twin.policy, &outcome, diag))
		return false;
	*ret_outcome = outcome;
	outcome = (struct outcome)OUTCOME_INIT;
	return true;
}

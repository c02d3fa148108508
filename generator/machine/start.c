/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest on its way. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/log.h"
#include "machine/process.h"
#include "machine/saved.h"
#include "machine/slice.h"
#include "machine/snapshot.h"
#include "machine/start.h"
#include "machine/sysfs.h"

/* Guests without a policy, where the host policy wants them kept together. */
static const char others_policy[] = "policy: others\n"
				    "cputune: {vcpupin: shared}\n";

void start_done(struct start *start)
{
	outcome_done(&start->outcome);
	ledger_close(&start->ledger);
	host_free(start->host);
	policy_free(start->others);
	guest_free(start->guest);
	doc_free(start->doc);
	store_done(&start->store);
}

bool start_read(struct start *start, const struct event *event, struct diag *diag)
{
	start->name = event->name;
	start->daemon = process_here(event->daemon);
	start->doc = doc_parse("domain XML from libvirt", event->xml, event->length,
			       diag);
	start->guest = start->doc ? guest_read(start->doc, diag) : NULL;
	return start->guest != NULL;
}

static bool policy_of_others(struct start *start, struct diag *diag)
{
	const struct host_policy *host_policy = start->store.host_policy;
	int others = host_policy && given(&host_policy->others) ? host_policy->others.word
								: OTHERS_IGNORE;

	if (others == OTHERS_REFUSE) {
		diag_error(
			diag, host_policy->others.place, NULL,
			"no policy matches guest %s, and this host refuses such guests",
			start->name);
		return false;
	}
	if (others == OTHERS_SHARED)
		start->policy = start->others = policy_parse(
			"others: shared", others_policy, sizeof(others_policy) - 1, diag);
	return true;
}

/* A guest that cannot be read is stopped only if a policy matches its name. */
static bool unreadable(struct start *start, struct diag *diag)
{
	const struct policy *policy = NULL;
	cleanup_diag struct diag ignored = DIAG_INIT;

	if (!store_choose(&start->store, start->name, NULL, &policy, &ignored) || policy)
		return false;
	log_diag(start->name, diag);
	return true;
}

bool start_load(struct start *start, const struct event *event, struct diag *diag)
{
	store_load(&start->store, STORE_DIRECTORY);
	if (!start_read(start, event, diag))
		return unreadable(start, diag);
	if (!store_choose(&start->store, event->name, start->guest->policy,
			  &start->policy, diag))
		return false;
	return start->policy || policy_of_others(start, diag);
}

static bool exists(const char *directory, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s.xml", directory, name);

	return access(path, F_OK) == 0;
}

/* A daemon that is younger than this starts guests because it was told to at boot. */
enum { AUTOSTART_SECONDS = 60 };

static bool by_autostart(const struct start *start)
{
	return exists("/etc/libvirt/qemu/autostart", start->name) &&
	       process_here_age(&start->daemon) < AUTOSTART_SECONDS;
}

static enum enforce enforce_of(const struct start *start)
{
	const struct host_policy *host_policy = start->store.host_policy;
	int enforce = given(&start->policy->enforce) ? start->policy->enforce.word
						     : ENFORCE_REWRITE;

	if (host_policy && given(&host_policy->enforce_at_most) &&
	    host_policy->enforce_at_most.word < enforce)
		enforce = host_policy->enforce_at_most.word;
	return (enum enforce)enforce;
}

static const struct claim *own_claim(const struct start *start)
{
	return start->guest->uuid ? claims_find(start->ledger.claims, start->guest->uuid)
				  : NULL;
}

/* It runs already, or what it was saved or sent with is what it comes with. */
static bool keeps_hardware(const struct start *start)
{
	const struct claim *own = own_claim(start);

	return start->fixed || start->running || saved_state(start->name) ||
	       (own && own->state == CLAIM_INCOMING);
}

/* It has no definition that vmgen could change, nor record anything in. */
static bool is_transient(const struct start *start)
{
	return !exists("/etc/libvirt/qemu", start->name);
}

static bool goes_beyond(const struct guest_pin *pin, const struct cpuset *usable)
{
	return pin->element && !cpuset_subset(&pin->cpus, usable);
}

static bool floats_beyond(const struct guest *guest, const struct cpuset *usable)
{
	const char *list = element_attribute(element_child(guest->domain, "vcpu"),
					     "cpuset");
	struct cpuset cpus;

	return list && cpuset_parse(list, &cpus, NULL, NULL) &&
	       !cpuset_subset(&cpus, usable);
}

/* libvirt pins before the guest runs, so what would be put right in a running guest is
 * put right too late. */
static bool unstartable(const struct start *start)
{
	const struct guest *guest = start->guest;
	struct cpuset usable = start->host->online;
	bool beyond;

	if (!cpuset_empty(&start->usable))
		cpuset_and(&usable, &start->usable);
	beyond = floats_beyond(guest, &usable) ||
		 goes_beyond(&guest->emulatorpin, &usable);
	for (unsigned vcpu = 0; vcpu < guest->vcpus; vcpu++)
		beyond |= goes_beyond(&guest->vcpupin[vcpu], &usable);
	for (size_t i = 0; i < guest->n_iothreads; i++)
		beyond |= goes_beyond(&guest->iothreads[i].pin, &usable);
	return beyond;
}

static enum verdict verdict_of(const struct start *start, bool keeps)
{
	const struct claim *own = own_claim(start);
	bool held = own && own->state == CLAIM_HELD;
	const struct situation situation = {
		/* what others without a policy are given is made live or not at all */
		.enforce = start->others ? ENFORCE_REWRITE : enforce_of(start),
		.saved_state = start->others || keeps,
		.transient = is_transient(start),
		.unstartable = unstartable(start),
		.autostart = by_autostart(start),
		.mending = held && process_here_lives(&own->owner),
		.mended = held && !process_here_lives(&own->owner),
	};

	return enforce_verdict(&situation, &start->outcome.edits);
}

/* What the owner of the machine took away, where it may be the reason. */
static void note_slice(const struct start *start, bool limited, struct diag *diag)
{
	struct cpuset missing = start->host->online;

	cpuset_andnot(&missing, &start->usable);
	if (!limited || cpuset_empty(&missing))
		return;
	cleanup_free char *usable = cpuset_format(&start->usable);
	cleanup_free char *without = cpuset_format(&missing);
	diag_note(diag, NOWHERE, "machine.slice may use CPUs %s only, not %s", usable,
		  without);
}

bool start_compile(struct start *start, struct diag *diag)
{
	start->host = snapshot_load(diag);
	if (!start->host)
		return false;
	bool limited = slice_cpus(&start->usable, "");
	bool keeps = keeps_hardware(start);
	const struct input input = {
		.policy = start->policy,
		.host = start->host,
		.host_policy = start->store.host_policy,
		.claims = start->ledger.claims,
		.doc = start->doc,
		.guest = start->guest,
		.usable = limited ? &start->usable : NULL,
		.fixed = keeps,
		.running = keeps && !start->fixed,
		.records = !is_transient(start),
	};
	if (!compile(&input, &start->outcome, diag)) {
		note_slice(start, limited, diag);
		return false;
	}
	start->verdict = verdict_of(start, keeps);
	start->keeps = keeps;
	return true;
}

bool start_is_lenient(const struct start *start)
{
	return start->others || start->keeps || enforce_of(start) == ENFORCE_REPORT;
}

struct claim start_claim(const struct start *start)
{
	bool as_it_is = start->verdict == VERDICT_PASS && start->outcome.edits.count;
	struct claim claim = as_it_is ? start_seen(start)
				      : claim_copy(&start->outcome.claim);

	if (!start->others)
		claim.policy = xstrdup(start->policy->name.text);
	return claim;
}

struct claim start_seen(const struct start *start)
{
	const struct guest *guest = start->guest;
	struct claim claim = { .name = xstrdup(start->name), .state = CLAIM_STARTING };
	struct cpuset cpus = CPUSET_INIT, vcpus_on = CPUSET_INIT;

	snprintf(claim.uuid, sizeof(claim.uuid), "%s", guest->uuid);
	for (unsigned i = 0; i < guest->vcpus; i++) {
		const struct guest_pin *pin = &guest->vcpupin[i];

		cpuset_or(&vcpus_on, &pin->cpus);
		if (pin->element && cpuset_count(&pin->cpus) == 1)
			cpuset_or(&cpus, &pin->cpus);
	}
	claim.cpus = cpulist_of(&cpus);
	claim.vcpus_on = cpulist_of(&vcpus_on);
	return claim;
}

struct process start_qemu(const char *name)
{
	uint64_t pid = 0;

	if (!sysfs_number(&pid, "%s/%s.pid", ledger_here.status, name))
		return (struct process){ 0, 0 };
	return process_here((unsigned)pid);
}

void start_say_mending(const struct start *start, struct diag *diag)
{
	diag_error(diag, NOWHERE, NULL,
		   "the definition is being brought up to policy %s; start it again",
		   start->policy->name.text);
}

void start_say_differs(const struct start *start, struct diag *diag)
{
	const struct edits *edits = &start->outcome.edits;
	const struct edit *first = &edits->items[0];

	diag_error(diag, NOWHERE, NULL,
		   "it differs from policy %s in %zu place%s (%s: %s, not %s%s); `vmgen "
		   "apply "
		   "%s` mends it",
		   start->policy->name.text, edits->count, edits->count > 1 ? "s" : "",
		   first->path, first->new ? first->new : "none",
		   first->old ? first->old : "none", edits->count > 1 ? "; ..." : "",
		   start->name);
}

static void log_edit(const struct start *start, const struct edit *edit, const char *what)
{
	log_guest(LOG_NOTICE, start->name, "%s: %s: %s -> %s (%s)", what, edit->path,
		  edit->old ? edit->old : "none", edit->new ? edit->new : "none",
		  edit->why);
}

void start_log_left(const struct start *start)
{
	const struct edits *edits = &start->outcome.edits;
	bool live = start->verdict == VERDICT_PASS_LIVE;

	for (size_t i = 0; i < edits->count; i++) {
		bool made = live && edits->items[i].reach->reach == REACH_LIVE;

		log_edit(start, &edits->items[i],
			 made ? "made once it runs"
			      : "differs from its policy, starts so");
	}
}

void start_log_cold(const struct start *start)
{
	const struct edits *edits = &start->outcome.edits;

	for (size_t i = 0; i < edits->count; i++)
		log_edit(start, &edits->items[i],
			 edits->items[i].reach->reach == REACH_COLD
				 ? "left, it needs a fresh start"
				 : "changed on the way");
}

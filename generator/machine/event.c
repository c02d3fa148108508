/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the qemu hook does at each of libvirt's operations. */
#include <string.h>

#include "base/text.h"
#include "machine/checks.h"
#include "machine/event.h"
#include "machine/ledger.h"
#include "machine/log.h"
#include "machine/process.h"
#include "machine/start.h"

enum {
	LOCK_MILLISECONDS = 3000,
	INCOMING_SECONDS =
		600, /* a restored guest follows at once, a migrating one soon */
};

/* A claim of what START's placement takes. */
static void put_claim(struct start *start, enum claim_state state, struct process owner,
		      uint64_t seconds)
{
	struct claim claim = start_claim(start);

	claim.state = state;
	claim.owner = owner;
	claim.until = seconds ? process_boot_seconds() + seconds : 0;
	claims_put(start->ledger.claims, &claim);
}

static bool open_ledger(struct start *start, struct diag *diag)
{
	return ledger_open(&start->ledger, &ledger_here, LOCK_MILLISECONDS, diag);
}

/* A guest without a policy is seen, and never stopped for what it is not asked. */
static bool see_other(struct start *start, const struct event *event)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	if (open_ledger(start, &diag)) {
		struct claim claim = start_seen(start);

		claim.owner = start->daemon;
		claims_put(start->ledger.claims, &claim);
		ledger_write(&start->ledger, &diag);
	}
	log_diag(event->name, &diag);
	return true;
}

static void mend(struct start *start, enum worker_task task, struct diag *diag)
{
	const struct claim *own = claims_find(start->ledger.claims, start->guest->uuid);
	cleanup_free char *failure = own && own->failure ? xstrdup(own->failure) : NULL;
	unsigned pid = worker_start(task, start->guest, diag);

	if (!pid)
		return;
	put_claim(start, CLAIM_HELD, process_here(pid), START_HELD_SECONDS);
	start_say_mending(start, diag);
	if (failure)
		diag_note(diag, NOWHERE, "the last time that failed: %s", failure);
	ledger_write(&start->ledger, diag);
}

static bool carry_out(struct start *start, struct diag *diag)
{
	switch (start->verdict) {
	case VERDICT_MENDING:
		start_say_mending(start, diag);
		return false;
	case VERDICT_MEND:
		mend(start, WORKER_DEFINE, diag);
		return false;
	case VERDICT_MEND_START:
		mend(start, WORKER_DEFINE_START, diag);
		return false;
	case VERDICT_REFUSE:
		start_say_differs(start, diag);
		return false;
	case VERDICT_PASS:
	case VERDICT_PASS_LIVE:
		break;
	}
	start_log_left(start);
	put_claim(start, CLAIM_STARTING, start->daemon, 0);
	return ledger_write(&start->ledger, diag);
}

/* Broken files stop only whom they concern, but are not passed over in silence. */
static void log_faults(const struct start *start, const struct event *event)
{
	const char *first = start->store.host_fault;
	size_t count = first != NULL;

	for (size_t i = 0; i < start->store.n_policies; i++) {
		const char *fault = start->store.policies[i].fault;

		first = first ? first : fault;
		count += fault != NULL;
	}
	if (count)
		log_guest(LOG_WARNING, event->name,
			  "%zu of vmgen's policy files cannot be used; the first: %s",
			  count, first);
}

static bool prepare(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;
	bool loaded = start_load(&start, event, diag);

	log_faults(&start, event);
	if (!loaded)
		return false;
	if (!start.policy)
		return !start.guest || !start.guest->uuid || see_other(&start, event);
	if (!open_ledger(&start, diag) || !start_compile(&start, diag) ||
	    !checks_pass(&start, diag) || !carry_out(&start, diag))
		return false;
	checks_note_waits(&start, diag);
	return true;
}

/* The last moment before QEMU: what prepare found must still be so. */
static bool begin(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;

	if (!start_load(&start, event, diag))
		return false;
	if (!start.policy || !start.guest->uuid)
		return true;
	if (!open_ledger(&start, diag))
		return false;
	const struct claim *claim = claims_find(start.ledger.claims, start.guest->uuid);
	if (!claim || claim->state != CLAIM_STARTING) {
		diag_error(diag, NOWHERE, NULL,
			   "its claim is gone since it was prepared; start it again");
		return false;
	}
	return checks_pass(&start, diag);
}

static void now_running(struct start *start, const struct event *event)
{
	const struct claim *was = claims_find(start->ledger.claims, start->guest->uuid);
	struct claim claim = was ? claim_copy(was) : start_seen(start);

	claim.state = CLAIM_RUNNING;
	claim.owner = start_qemu(event->name);
	claim.until = 0;
	claims_put(start->ledger.claims, &claim);
}

/* The guest runs: nothing here may fail it. */
static bool started(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;

	if (!start_load(&start, event, diag) || !start.guest || !start.guest->uuid ||
	    !open_ledger(&start, diag))
		return false;
	now_running(&start, event);
	if (!ledger_write(&start.ledger, diag) || !start.policy)
		return false;
	start.running = true;
	return start_compile(&start, diag) && start.verdict == VERDICT_PASS_LIVE &&
	       worker_start(WORKER_LIVE, start.guest, diag);
}

/* What the worker holds outlives the refusal that it was held for. */
static bool stays(const struct claim *claim)
{
	return claim->state == CLAIM_HELD || claim->state == CLAIM_FAILED;
}

static bool stopped(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;

	if (!start_read(&start, event, diag) || !open_ledger(&start, diag))
		return false;
	const struct claim *claim = start.guest->uuid
					    ? claims_find(start.ledger.claims,
							  start.guest->uuid)
					    : claims_find_name(start.ledger.claims,
							       event->name);
	if (claim && !stays(claim))
		claims_drop(start.ledger.claims, claim->uuid);
	return ledger_write(&start.ledger, diag);
}

/* Opening the ledger heals it from libvirt's status files, which speak of this guest. */
static bool reconnect(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;

	(void)event;
	return open_ledger(&start, diag) && ledger_write(&start.ledger, diag);
}

/* A migration or a restore: placed anew, within what the saved hardware allows. */
static bool filter(const struct event *event, struct diag *diag)
{
	cleanup_start struct start start = START_INIT;

	if (!start_load(&start, event, diag))
		return false;
	if (!start.policy || !start.guest->uuid)
		return true;
	start.fixed = true;
	if (!open_ledger(&start, diag) || !start_compile(&start, diag))
		return false;
	put_claim(&start, CLAIM_INCOMING, start.daemon, INCOMING_SECONDS);
	if (!ledger_write(&start.ledger, diag))
		return false;
	cleanup_free char *xml = edits_perform(&start.outcome.edits, start.doc,
					       REACH_ABI_SAFE);
	start_log_cold(&start);
	if (strcmp(xml, start.doc->text) != 0)
		fputs(xml, stdout);
	return fflush(stdout) == 0;
}

static const struct operation operations[] = {
	{ "prepare", true, false, prepare },  { "start", true, false, begin },
	{ "started", false, false, started }, { "stopped", false, false, stopped },
	{ "release", false, false, stopped }, { "reconnect", false, false, reconnect },
	{ "migrate", true, true, filter },    { "restore", true, true, filter },
};

const struct operation *event_operation(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (text_equal(operations[i].name, name))
			return &operations[i];
	return NULL;
}

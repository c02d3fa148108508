/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine's claims as apply and the worker see and change them. */
#include <unistd.h>

#include "base/text.h"
#include "cli/reserve.h"
#include "machine/ledger.h"
#include "machine/process.h"
#include "machine/start.h"
#include "placement/expiry.h"

enum { LOCK_MILLISECONDS = 10000 };

static bool open_ledger(struct ledger *ledger, struct diag *diag)
{
	return ledger_open(ledger, &ledger_here, LOCK_MILLISECONDS, diag);
}

struct claims *reserve_claims(bool may_heal, struct diag *diag)
{
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!may_heal)
		return ledger_look(&ledger_here, diag);
	return open_ledger(&ledger, diag) ? take(ledger.claims) : NULL;
}

static bool is_free(const struct claims *claims, const struct claim *wanted,
		    struct diag *diag)
{
	const struct cpuset cpus = cpulist_set(&wanted->cpus);

	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *other = &claims->items[i];
		const struct cpuset taken = cpulist_set(&other->cpus);

		if (text_equal(other->uuid, wanted->uuid) ||
		    !cpuset_intersects(&taken, &cpus))
			continue;
		diag_error(diag, NOWHERE, NULL,
			   "guest %s: CPUs that it was to get were given to guest %s "
			   "meanwhile; apply again",
			   wanted->name, other->name);
		return false;
	}
	return true;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = value ? xstrdup(value) : NULL;
}

/* LIST becomes WANTED, with its own if BOTH. */
static void set_list(struct cpulist *list, const struct cpulist *wanted, bool both)
{
	struct cpuset set = cpulist_set(wanted);

	if (both)
		cpulist_add(&set, list);
	cpulist_done(list);
	*list = cpulist_of(&set);
}

/* The guest's claim with WANTED's CPUs, and with its own if BOTH. */
static bool move(const struct claim *wanted, const char *policy, bool both,
		 struct diag *diag)
{
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!open_ledger(&ledger, diag) || !is_free(ledger.claims, wanted, diag))
		return false;
	const struct claim *own = claims_find(ledger.claims, wanted->uuid);
	if (!own) /* of a libvirt that is not the system's */
		return true;
	struct claim claim = claim_copy(own);
	set_list(&claim.cpus, &wanted->cpus, both);
	set_list(&claim.vcpus_on, &wanted->vcpus_on, both);
	if (policy)
		set_text(&claim.policy, policy);
	set_text(&claim.failure, NULL);
	claims_put(ledger.claims, &claim);
	return ledger_write(&ledger, diag);
}

bool reserve_both(const struct claim *wanted, const char *policy, struct diag *diag)
{
	return move(wanted, policy, true, diag);
}

bool reserve_new(const struct claim *wanted, struct diag *diag)
{
	return move(wanted, NULL, false, diag);
}

char *reserve_take_over(const char *uuid, struct diag *diag)
{
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!open_ledger(&ledger, diag))
		return NULL;
	const struct claim *held = claims_find(ledger.claims, uuid);
	if (!held || held->state != CLAIM_HELD) {
		diag_error(diag, NOWHERE, NULL,
			   "no claim is held for it: the hook that called the worker is "
			   "gone, or it started meanwhile");
		return NULL;
	}
	struct claim claim = claim_copy(held);
	char *name = xstrdup(claim.name);
	claim.owner = process_here((unsigned)getpid());
	claim.until = 0; /* as long as we live: to fill a disk takes its time */
	claims_put(ledger.claims, &claim);
	if (ledger_write(&ledger, diag))
		return name;
	free(name);
	return NULL;
}

bool reserve_hand_over(const struct claim *wanted, const char *policy, struct diag *diag)
{
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!open_ledger(&ledger, diag) || !is_free(ledger.claims, wanted, diag))
		return false;
	struct claim claim = claim_copy(wanted);
	claim.state = CLAIM_HELD;
	claim.until = process_boot_seconds() + START_HELD_SECONDS;
	set_text(&claim.policy, policy);
	claims_put(ledger.claims, &claim);
	return ledger_write(&ledger, diag);
}

/* A guest that runs keeps what it has; one that does not has nothing. */
bool reserve_fail(const char *uuid, const char *reason, struct diag *diag)
{
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!open_ledger(&ledger, diag))
		return false;
	const struct claim *was = claims_find(ledger.claims, uuid);
	if (!was)
		return true;
	struct claim claim = claim_copy(was);
	if (claim.state == CLAIM_HELD) {
		claim.state = CLAIM_FAILED;
		cpulist_done(&claim.cpus);
		cpulist_done(&claim.vcpus_on);
		claim.n_memory = 0;
		claim.owner = (struct process){ 0, 0 };
		claim.until = process_boot_seconds() + EXPIRY_DAY;
	}
	set_text(&claim.failure, reason);
	claims_put(ledger.claims, &claim);
	return ledger_write(&ledger, diag);
}

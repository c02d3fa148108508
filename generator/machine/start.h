/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest on its way: everything that is known when libvirt starts it, and what follows.
 */
#ifndef VMGEN_START_H
#define VMGEN_START_H

#include "compile.h"
#include "enforce.h"
#include "machine/event.h"
#include "machine/ledger.h"
#include "machine/store.h"
#include "machine/worker.h"

/* How long a claim is held for a worker. */
enum { START_HELD_SECONDS = 30 };

struct start {
	const char *name;
	struct process daemon; /* that starts it */
	struct store store;
	struct doc *doc;
	struct guest *guest;
	struct policy
		*others; /* the policy of guests without one, if they must be shared */
	const struct policy *policy; /* NULL: no policy concerns it */
	struct host *host;
	struct ledger ledger;
	struct outcome outcome;
	enum verdict verdict;
	struct cpuset usable;
	bool fixed; /* it comes with the hardware it has: restored or migrated */
	bool running;
	bool keeps; /* as compiled: for whatever reason, its hardware stays as it is */
};

#define START_INIT                                                                  \
	{                                                                           \
		.store = STORE_INIT, .ledger = LEDGER_INIT, .outcome = OUTCOME_INIT \
	}
#define cleanup_start cleanup(start_done)

void start_done(struct start *start);

/* The guest alone, from the event's XML. */
bool start_read(struct start *start, const struct event *event, struct diag *diag);

/* The guest, the policies, and which concerns it. A guest whose XML cannot be read is
 * NULL and passes, with a log line, if no policy matches its name. False and a report
 * when it must not start: its policy is broken, or the host policy refuses guests without
 * one. */
bool start_load(struct start *start, const struct event *event, struct diag *diag);

/* Host, outcome and verdict; the ledger is open. */
bool start_compile(struct start *start, struct diag *diag);

/* Once compiled: whether it starts even where it is not what it should be. */
bool start_is_lenient(const struct start *start);

/* What the guest takes as it will be; what it occupies as it is. */
struct claim start_claim(const struct start *start);
struct claim start_seen(const struct start *start);

/* QEMU's process by its pid file; pid 0: not known. */
struct process start_qemu(const char *name);

/* The one line that a user sees. */
void start_say_mending(const struct start *start, struct diag *diag);
void start_say_differs(const struct start *start, struct diag *diag);

/* In the log: the edits that are not made; those that need a fresh start. */
void start_log_left(const struct start *start);
void start_log_cold(const struct start *start);

#endif

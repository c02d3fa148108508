/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vmgen worker: what the hook may not do itself. It calls libvirt, which holds the guest
 * for as long as the hook runs: so the first call waits until the hook is done.
 *
 * It edits what libvirt holds, not what the hook read, and gives up rather than guess.
 * The hook says what was started by a digest; libvirt's definition must have the same one
 * before it is changed, and be what was compiled just before it is defined.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/conform.h"
#include "cli/reserve.h"
#include "guest/digest.h"
#include "machine/log.h"

enum { EXIT_USAGE = 2 };

static bool refuse(struct diag *diag, const char *why)
{
	diag_error(diag, NOWHERE, NULL, "%s", why);
	return false;
}

/* Whether libvirt's guest is one whose definition may be changed. */
static bool may_define(struct domain *domain, const char *name, struct diag *diag)
{
	struct domain_state state;

	if (!domain_state(domain, &state, diag))
		return false;
	if (state.active)
		return refuse(diag, "it runs meanwhile, so its definition is left alone");
	if (!state.persistent)
		return refuse(diag, "it is transient, and is not made anew");
	if (state.busy)
		return refuse(diag, "another job is under way for it");
	if (!text_equal(domain_name(domain), name))
		return refuse(diag, "it was renamed meanwhile");
	return true;
}

static bool is_what_started(const struct guest *guest, const char *digest,
			    struct diag *diag)
{
	cleanup_free char *now = xasprintf("%016" PRIx64, guest_digest(guest));

	return !digest || text_equal(now, digest) ||
	       refuse(diag, "its definition is not what was started");
}

/* NAME is what the claim calls it. */
static bool define(struct conform *conform, struct domain *domain, const char *name)
{
	struct job *job = &conform->job;

	if (!may_define(domain, name, &job->diag) ||
	    !conform_compile(conform, domain, DOMAIN_DEFINITION))
		return false;
	if (!job->policy)
		return refuse(&job->diag, "it is under no policy any more");
	return is_what_started(job->guest, argument_value(conform->arguments, "started"),
			       &job->diag) &&
	       conform_define(conform, domain) &&
	       reserve_hand_over(&job->outcome.claim, job->policy->name.text,
				 &job->diag) &&
	       (!argument_value(conform->arguments, "start") ||
		domain_start(domain, &job->diag));
}

static bool pin(struct conform *conform, struct domain *domain)
{
	struct job *job = &conform->job;
	struct domain_state state;

	if (!domain_state(domain, &state, &job->diag))
		return false;
	if (!state.active)
		return refuse(&job->diag, "it has ended meanwhile");
	return conform_compile(conform, domain, DOMAIN_LIVE) &&
	       (!job->policy || conform_pin(conform, domain));
}

static bool work(struct conform *conform, const struct arguments *arguments)
{
	const char *uuid = arguments->words[0];
	bool live = argument_value(arguments, "live") != NULL;
	struct diag *diag = &conform->job.diag;
	cleanup_free char *name = live ? NULL : reserve_take_over(uuid, diag);
	cleanup_domain struct domain *domain = NULL;

	if ((!live && !name) || !conform_open(conform, arguments))
		return false;
	domain = connect_find_uuid(conform->connection, uuid, diag);
	if (!domain)
		return false;
	bool good = live ? pin(conform, domain) : define(conform, domain, name);
	if (good)
		log_guest(LOG_NOTICE, domain_name(domain), "%s",
			  live ? "its threads are where its policy has them"
			       : "its definition was brought up to its policy");
	return good;
}

static const char *first_error(const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++)
		if (diag->findings[i].level == DIAG_ERROR)
			return diag->findings[i].text;
	return "it does not say why";
}

static int run(const struct arguments *arguments)
{
	cleanup_conform struct conform conform = CONFORM_INIT;
	struct diag *diag = &conform.job.diag;
	bool live = argument_value(arguments, "live") != NULL;

	if (live == (argument_value(arguments, "define") != NULL)) {
		fputs("vmgen worker: say --live or --define\n", stderr);
		return EXIT_USAGE;
	}
	conform.uri = "qemu:///system";
	bool good = work(&conform, arguments);
	if (!good)
		reserve_fail(arguments->words[0], first_error(diag), diag);
	log_diag(conform.job.guest ? conform.job.guest->name : arguments->words[0], diag);
	return job_report(&conform.job) || !good;
}

static const struct option_row options[] = {
	{ "live", 0, NULL, "move the threads of the guest, which runs" },
	{ "define", 0, NULL, "bring its definition up to its policy" },
	{ "started", 0, "DIGEST",
	  "of what was started: another definition is left alone" },
	{ "start", 0, NULL, "and start it" },
	OPTION_END,
};

const struct command command_worker = {
	.name = "worker",
	.words = "UUID",
	.min_words = 1,
	.max_words = 1,
	.summary = "bring one guest to its policy, for the hook that called it",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen apply: guests brought to their policies ahead of their start. */
#include <stdio.h>
#include <unistd.h>

#include "cli/conform.h"
#include "cli/differences.h"
#include "cli/images.h"

enum { EXIT_USAGE = 2 };

/* One run over some guests. */
struct run {
	struct conform conform;
	bool dry, start, why;
	bool all; /* of these, one that is under no policy is none to speak of */
	struct domain **domains;
	size_t count;
};

static void run_done(struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		domain_free(run->domains[i]);
	free(run->domains);
	conform_done(&run->conform);
}

static bool find_domains(struct run *run, const struct arguments *arguments)
{
	struct connection *connection = run->conform.connection;
	struct diag *diag = &run->conform.job.diag;

	if (run->all)
		return connect_all(connection, &run->domains, &run->count, diag);
	for (size_t i = 0; i < arguments->n_words; i++) {
		struct domain *domain = connect_find(connection, arguments->words[i],
						     diag);

		if (domain)
			*append(run->domains, run->count) = domain;
	}
	return !diag->errors;
}

/* On a terminal; NUMBER beyond the last one takes it away again. */
static void progress(const struct run *run, size_t number)
{
	if (!run->all || !isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	if (number < run->count)
		fprintf(stderr, "[%zu/%zu] %s", number + 1, run->count,
			domain_name(run->domains[number]));
}

static size_t count_edits(const struct edits *edits, enum reach first, enum reach last)
{
	size_t count = 0;

	for (size_t i = 0; i < edits->count; i++)
		count += edits->items[i].reach->reach >= first &&
			 edits->items[i].reach->reach <= last;
	return count;
}

/* "db1, policy pinned: 3 edits at its next start", and in a dry run each of them. */
static void tell(const struct run *run, const struct domain *domain, const char *when,
		 enum reach first, enum reach last, bool list)
{
	const struct job *job = &run->conform.job;
	size_t count = count_edits(&job->outcome.edits, first, last);

	if (!count)
		return;
	printf("%s, policy %s: %zu edit%s %s%s\n", domain_name(domain),
	       job->policy->name.text, count, count == 1 ? "" : "s", when,
	       list ? ":" : "");
	if (list)
		differences_print(&job->outcome.edits, first, last, run->why);
}

/* What can be changed while it runs is; what cannot is told. */
static bool apply_live(struct run *run, struct domain *domain, bool persistent)
{
	struct conform *conform = &run->conform;

	if (!conform_compile(conform, domain, DOMAIN_LIVE))
		return false;
	if (!conform->job.policy)
		return true;
	if (!run->dry && !conform_pin(conform, domain))
		return false;
	tell(run, domain, run->dry ? "to make now" : "made now", REACH_LIVE, REACH_LIVE,
	     run->dry);
	tell(run, domain,
	     persistent ? "at its next start"
			: "that a running guest cannot have, and it is transient",
	     REACH_ABI_SAFE, REACH_COLD, true);
	return true;
}

static void warn_of_saved(struct run *run, const struct domain *domain,
			  const struct domain_state *state)
{
	const char *name = domain_name(domain);

	if (state->saved)
		diag_warning(&run->conform.job.diag, NOWHERE, NULL,
			     "guest %s has a managed save: its next start restores what "
			     "was saved, not this definition (virsh managedsave-remove "
			     "%s)",
			     name, name);
	if (state->snapshots)
		diag_warning(&run->conform.job.diag, NOWHERE, NULL,
			     "guest %s has snapshots with memory: reverting to one "
			     "brings its old definition back",
			     name);
}

static bool apply_definition(struct run *run, struct domain *domain,
			     const struct domain_state *state)
{
	struct conform *conform = &run->conform;
	struct job *job = &conform->job;

	if (!conform_compile(conform, domain, DOMAIN_DEFINITION))
		return false;
	if (!job->policy)
		return true;
	if (job->outcome.edits.count)
		warn_of_saved(run, domain, state);
	if (!(run->dry ? images_check(conform) : conform_define(conform, domain)))
		return false;
	if (!job->outcome.edits.count)
		printf("%s, policy %s: conforms\n", domain_name(domain),
		       job->policy->name.text);
	if (!state->active)
		conform_plan(conform);
	tell(run, domain, run->dry ? "to its definition" : "made in its definition",
	     REACH_LIVE, REACH_COLD, run->dry);
	return true;
}

static bool policy_found(struct run *run, const struct domain *domain)
{
	if (run->conform.job.policy || run->all)
		return true;
	diag_error(&run->conform.job.diag, NOWHERE, NULL,
		   "guest %s is under no policy: none matches its name, and its metadata "
		   "names none",
		   domain_name(domain));
	return false;
}

static bool apply(struct run *run, struct domain *domain)
{
	struct diag *diag = &run->conform.job.diag;
	struct domain_state state;

	if (!domain_state(domain, &state, diag))
		return false;
	if (state.active && !apply_live(run, domain, state.persistent))
		return false;
	if (state.persistent && !apply_definition(run, domain, &state))
		return false;
	if (!policy_found(run, domain))
		return false;
	return state.active || !run->start || run->dry || !run->conform.job.policy ||
	       domain_start(domain, diag);
}

static void apply_all(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		progress(run, i);
		if (!apply(run, run->domains[i]))
			diag_note(&run->conform.job.diag, NOWHERE, "this is of guest %s",
				  domain_name(run->domains[i]));
	}
	progress(run, run->count);
}

static int run_command(const struct arguments *arguments)
{
	cleanup(run_done) struct run run = {
		.conform = CONFORM_INIT,
		.dry = argument_value(arguments, "dry-run") != NULL,
		.start = argument_value(arguments, "start") != NULL,
		.why = argument_value(arguments, "why") != NULL,
		.all = argument_value(arguments, "all") != NULL,
	};

	if (run.all == (arguments->n_words > 0)) {
		fputs("vmgen apply: name the guests, or say --all\n", stderr);
		return EXIT_USAGE;
	}
	if (conform_open(&run.conform, arguments) && find_domains(&run, arguments))
		apply_all(&run);
	return job_report(&run.conform.job);
}

static const struct option_row options[] = {
	{ "all", 0, NULL, "all guests that are under a policy" },
	CONFORM_OPTIONS,
	{ "dry-run", 0, NULL, "print what would change, and change nothing" },
	{ "why", 0, NULL, "with each edit its reason, and the policy's line" },
	{ "start", 0, NULL, "start those that do not run" },
	{ "replace", 0, NULL,
	  "look for a better place even where the present one will do" },
	OPTION_COMPANION,
	OPTION_HOST_POLICY,
	OPTION_CLAIMS,
	OPTION_END,
};

const struct command command_apply = {
	.name = "apply",
	.words = "[GUEST...]",
	.max_words = (size_t)-1,
	.summary = "bring guests to their policies, ahead of their start",
	.options = options,
	.run = run_command,
};

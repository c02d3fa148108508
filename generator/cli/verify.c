/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen verify: whether a running guest sits where its policy says. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/conform.h"
#include "cli/load.h"

/* What should be: as the policy has it, or as its own XML has where it is under none. */
static bool want(struct conform *conform, struct domain *domain, struct doc **ret_doc,
		 struct guest **ret_guest)
{
	struct job *job = &conform->job;

	if (!conform_compile(conform, domain, DOMAIN_LIVE))
		return false;
	const char *xml = job->policy ? job->outcome.xml : job->doc->text;
	*ret_doc = doc_parse(job->doc->file, xml, strlen(xml), &job->diag);
	*ret_guest = *ret_doc ? guest_read(*ret_doc, &job->diag) : NULL;
	return *ret_guest != NULL;
}

static void print(const struct verdict *verdict, bool colour)
{
	for (size_t i = 0; i < verdict->count; i++) {
		const struct seat *seat = &verdict->items[i];

		printf("  %-28s wanted %-24s got %-24s %s%s%s\n", seat->what,
		       seat->wanted, seat->got,
		       !colour	    ? ""
		       : seat->good ? "\033[32m"
				    : "\033[31m",
		       seat->good ? "ok" : "WRONG", colour ? "\033[0m" : "");
	}
}

static void report(struct conform *conform, struct domain *domain,
		   const struct verdict *verdict, const struct seen *seen)
{
	const struct job *job = &conform->job;

	printf("%s, process %u, %s%s\n", domain_name(domain), seen->pid,
	       job->policy ? "policy " : "no policy: as its own XML says",
	       job->policy ? job->policy->name.text : "");
	print(verdict, load_colour(STDOUT_FILENO));
	if (!seen->memory_known)
		diag_warning(&conform->job.diag, NOWHERE, NULL,
			     "the memory of guest %s was not looked at: "
			     "/proc/%u/numa_maps is for root and its owner",
			     domain_name(domain), seen->pid);
	if (!verdict->count)
		diag_warning(&conform->job.diag, NOWHERE, NULL,
			     "nothing is wanted of guest %s: its XML pins no thread and "
			     "binds no memory",
			     domain_name(domain));
}

/* Whether it sits right; that it does not is said on standard output. */
static bool verify_guest(struct conform *conform, const char *name)
{
	struct diag *diag = &conform->job.diag;
	cleanup_domain struct domain *domain = connect_find(conform->connection, name,
							    diag);
	cleanup_seen struct seen seen = SEEN_INIT;
	cleanup_doc struct doc *doc = NULL;
	cleanup_guest struct guest *guest = NULL;
	struct domain_state state;

	if (!domain || !domain_state(domain, &state, diag))
		return false;
	if (!state.active) {
		diag_error(diag, NOWHERE, NULL, "guest %s does not run",
			   domain_name(domain));
		return false;
	}
	if (!want(conform, domain, &doc, &guest) ||
	    !conform_observe(conform, domain, &seen, diag))
		return false;
	cleanup_verdict struct verdict verdict = verify(guest, &seen);
	report(conform, domain, &verdict, &seen);
	return !verdict.wrong;
}

static int run(const struct arguments *arguments)
{
	cleanup_conform struct conform conform = CONFORM_INIT;
	bool good;

	conform.read_only = true;
	good = conform_open(&conform, arguments);
	for (size_t i = 0; good && i < arguments->n_words; i++)
		good &= verify_guest(&conform, arguments->words[i]);
	return job_report(&conform.job) || !good;
}

static const struct option_row options[] = {
	CONFORM_OPTIONS,
	OPTION_HOST_POLICY,
	OPTION_CLAIMS,
	OPTION_END,
};

const struct command command_verify = {
	.name = "verify",
	.words = "GUEST...",
	.min_words = 1,
	.max_words = (size_t)-1,
	.summary =
		"compare where a running guest's threads and memory are with its policy",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen diff: what rewrite would do, for a person to review. */
#include "cli/differences.h"
#include "cli/job.h"

static int run(const struct arguments *arguments)
{
	cleanup_job struct job job = JOB_INIT;
	const char *domain = arguments->n_words > 1 ? arguments->words[1] : "-";

	if (!job_load(&job, arguments) ||
	    !job_load_domain(&job, arguments->words[0], domain) ||
	    !job_compile(&job, arguments, false))
		return job_report(&job);
	differences_print(&job.outcome.edits, REACH_LIVE, REACH_COLD,
			  argument_value(arguments, "why") != NULL);
	return job_report(&job) || job.outcome.edits.count;
}

static const struct option_row options[] = {
	JOB_OPTIONS,
	{ "why", 0, NULL, "with each edit its reason, and the policy's line" },
	OPTION_END,
};

const struct command command_diff = {
	.name = "diff",
	.words = "POLICY [DOMAIN]",
	.min_words = 1,
	.max_words = 2,
	.summary = "print what rewrite would change; exit 1 if there is anything",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen rewrite: a domain XML to one that conforms to its policy. */
#include <stdio.h>

#include "cli/job.h"

static int run(const struct arguments *arguments)
{
	cleanup_job struct job job = JOB_INIT;
	const char *domain = arguments->n_words > 1 ? arguments->words[1] : "-";

	if (job_load(&job, arguments) &&
	    job_load_domain(&job, arguments->words[0], domain) &&
	    job_compile(&job, arguments, false))
		fputs(job.outcome.xml, stdout);
	return job_report(&job);
}

static const struct option_row options[] = {
	JOB_OPTIONS,
	OPTION_COMPANION,
	OPTION_END,
};

const struct command command_rewrite = {
	.name = "rewrite",
	.words = "POLICY [DOMAIN]",
	.min_words = 1,
	.max_words = 2,
	.summary = "print a domain XML (or standard input) made to conform to its policy",
	.options = options,
	.run = run,
};

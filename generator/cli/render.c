/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen render: a policy to a finished domain XML. */
#include <stdio.h>

#include "cli/job.h"
#include "cli/load.h"
#include "cli/seats.h"
#include "cli/template.h"

static bool load(struct job *job, const struct arguments *arguments)
{
	struct policy *policy = load_policy(arguments->words[0], &job->diag);

	if (policy)
		*append(job->policies, job->n_policies) = policy;
	job->policy = policy;
	if (!job_load(job, arguments) || !policy)
		return false;
	job->doc = template_read(policy, argument_value(arguments, "templates"),
				 argument_value(arguments, "name"), &job->diag);
	job->guest = job->doc ? guest_read(job->doc, &job->diag) : NULL;
	return job->guest != NULL;
}

static int run(const struct arguments *arguments)
{
	cleanup_job struct job job = JOB_INIT;

	if (load(&job, arguments) && job_compile(&job, arguments, true)) {
		if (argument_value(arguments, "map"))
			seats_print(&job, stdout);
		else
			fputs(job.outcome.xml, stdout);
	}
	return job_report(&job);
}

static const struct option_row options[] = {
	JOB_OPTIONS,
	OPTION_COMPANION,
	{ "name", 0, "NAME", "name the guest in place of domain: name" },
	{ "templates", 0, "DIR", "where the policy's template is" },
	{ "map", 0, NULL, "draw where each vCPU goes instead of printing the XML" },
	OPTION_END,
};

const struct command command_render = {
	.name = "render",
	.words = "POLICY",
	.min_words = 1,
	.max_words = 1,
	.summary = "print the finished domain XML that a policy makes",
	.options = options,
	.run = run,
};

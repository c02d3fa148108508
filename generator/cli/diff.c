/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen diff: what rewrite would do, for a person to review. */
#include <stdio.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/load.h"

static const char *const reach_words[] = {
	[REACH_LIVE] = "live",
	[REACH_ABI_SAFE] = "abi-safe",
	[REACH_COLD] = "cold",
};

/* The sign and the colour of an edit: made, gone, changed. */
static char sign_of(const struct edit *edit)
{
	if (!edit->old)
		return '+';
	return edit->new ? '~' : '-';
}

static const char *colour_of(char sign)
{
	switch (sign) {
	case '+':
		return "\033[32m";
	case '-':
		return "\033[31m";
	default:
		return "\033[33m";
	}
}

static void print_edit(const struct edit *edit, bool colour)
{
	char sign = sign_of(edit);

	printf("%s%c %s: ", colour ? colour_of(sign) : "", sign, edit->path);
	if (sign == '~')
		printf("%s -> %s", edit->old, edit->new);
	else
		fputs(sign == '+' ? edit->new : edit->old, stdout);
	printf("%s  [%s]\n", colour ? "\033[0m" : "", reach_words[edit->reach->reach]);
}

static void print_why(const struct edit *edit)
{
	printf("    %s", edit->why);
	if (edit->place.file && edit->place.line)
		printf(" (%s:%u)", edit->place.file, edit->place.line);
	putchar('\n');
}

static int run(const struct arguments *arguments)
{
	cleanup_job struct job job = JOB_INIT;
	const char *domain = arguments->n_words > 1 ? arguments->words[1] : "-";
	const struct edits *edits = &job.outcome.edits;

	if (!job_load(&job, arguments) ||
	    !job_load_domain(&job, arguments->words[0], domain) ||
	    !job_compile(&job, arguments, false))
		return job_report(&job);
	for (size_t i = 0; i < edits->count; i++) {
		print_edit(&edits->items[i], load_colour(STDOUT_FILENO));
		if (argument_value(arguments, "why"))
			print_why(&edits->items[i]);
	}
	return job_report(&job) || edits->count;
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

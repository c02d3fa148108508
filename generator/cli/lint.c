/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen lint: what would fail, or silently run slow, found before it does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/load.h"
#include "cli/sources.h"
#include "cli/suppress.h"

enum { EXIT_FINDINGS = 1, EXIT_USAGE = 2, TEXT_KEPT = 4 << 20 };

/* What a run knows and has found so far. */
struct lint {
	struct levels levels;
	enum format format;
	struct host *host;
	struct host_policy *host_policy;
	struct sources sources;
	const struct policy **policies;
	size_t n_policies;
	struct rule_guest *guests; /* own their names */
	size_t n_guests;
	struct diag general; /* of no file among the sources, or of several */
	const struct rule **skipped;
	unsigned *lacks; /* of each that was skipped */
	size_t n_skipped, n_lacks;
};

static bool read_format(const char *word, enum format *ret_format, struct diag *diag)
{
	for (enum format format = 0; format_words[format]; format++) {
		if (!word || strcmp(word, format_words[format]) == 0) {
			*ret_format = format;
			return true;
		}
	}
	diag_error(diag, NOWHERE, NULL,
		   "there is no format \"%s\"; say text, json, sarif or github", word);
	return false;
}

/* False: the command line itself is wrong. */
static bool read_options(struct lint *lint, const struct arguments *arguments,
			 struct diag *diag)
{
	bool good = read_format(argument_value(arguments, "format"), &lint->format, diag);

	for (size_t i = 0; i < arguments->n_options; i++) {
		const struct given_option *option = &arguments->options[i];

		if (option->row->letter == 'W')
			good &= levels_move(&lint->levels, DIAG_WARNING, option->value,
					    diag);
		else if (option->row->letter == 'E')
			good &= levels_move(&lint->levels, DIAG_ERROR, option->value,
					    diag);
	}
	return good;
}

/* False: the host or host policy that the files are to be checked against is faulty. */
static bool load_knowledge(struct lint *lint, const struct arguments *arguments)
{
	const char *host = argument_value(arguments, "host");
	const char *host_policy = argument_value(arguments, "host-policy");

	if (host)
		lint->host = load_host(host, &lint->general);
	if (host_policy)
		lint->host_policy = load_host_policy(host_policy, &lint->general);
	return !lint->general.errors;
}

static uint64_t first(uint64_t a, uint64_t b, uint64_t c)
{
	return a ? a : b ? b : c;
}

static struct rule_input input_of(const struct lint *lint, const struct policy *policy)
{
	const struct host *host = lint->host;
	const struct host_policy *owner = lint->host_policy;

	return (struct rule_input){
		.policy = policy,
		.host_policy = owner,
		.host = host,
		.policies = lint->policies,
		.n_policies = lint->n_policies,
		.guests = lint->guests,
		.n_guests = lint->n_guests,
		.libvirt = first(policy ? policy->libvirt.number : 0,
				 owner ? owner->libvirt.number : 0,
				 host ? host->libvirt : 0),
		.qemu = first(policy ? policy->qemu.number : 0,
			      owner ? owner->qemu.number : 0, host ? host->qemu : 0),
	};
}

static void run_rules(struct lint *lint, enum rule_scope scope,
		      const struct rule_input *input, struct diag *diag)
{
	rules_run(scope, input, &lint->levels, &lint->skipped, &lint->n_skipped, diag);
	while (lint->n_lacks < lint->n_skipped) {
		unsigned lacks = rule_lacks(lint->skipped[lint->n_lacks], input);

		*append(lint->lacks, lint->n_lacks) = lacks;
	}
}

/* The policy that GUEST is under, as far as those that are linted tell. */
static const struct policy *policy_of(const struct lint *lint, const struct guest *guest)
{
	cleanup_diag struct diag quiet = DIAG_INIT;
	const struct policy *policy = NULL;

	if (!policy_choose(lint->policies, lint->n_policies, guest->name, guest->policy,
			   &policy, &quiet))
		return NULL;
	return policy;
}

/* Documents go when they are checked: a directory of them need not fit into memory. */
static void keep_guest(struct lint *lint, const struct guest *guest,
		       const struct source *source)
{
	struct rule_guest kept = rule_guest(guest);

	if (cpuset_empty(&kept.alone))
		return;
	kept.name = xstrdup(guest->name);
	kept.place.file = source->path;
	*append(lint->guests, lint->n_guests) = kept;
}

static void lint_domain(struct lint *lint, struct source *source)
{
	cleanup_doc struct doc *doc = doc_parse(source->path, source->text,
						source->length, &source->diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, &source->diag) : NULL;
	struct rule_input input;

	if (!guest)
		return;
	input = input_of(lint, policy_of(lint, guest));
	input.guest = guest;
	run_rules(lint, RULE_GUEST, &input, &source->diag);
	keep_guest(lint, guest, source);
}

static void lint_policy(struct lint *lint, struct source *source)
{
	struct rule_input input = input_of(lint, source->policy);

	run_rules(lint, RULE_POLICY, &input, &source->diag);
}

/* A directory may hold the policies of several hosts; the one that is named is checked
 * whatever it is called. */
static bool of_other_host(const struct lint *lint, const struct source *source)
{
	return source->found && lint->host &&
	       !text_equal(lint->host->name, source->host_policy->name.text);
}

static void lint_host_policy(struct lint *lint, struct source *source)
{
	struct rule_input input = input_of(lint, NULL);

	input.host_policy = source->host_policy;
	if (!of_other_host(lint, source)) {
		run_rules(lint, RULE_HOST_POLICY, &input, &source->diag);
		return;
	}
	input.host = NULL;
	rules_run(RULE_HOST_POLICY, &input, &lint->levels, NULL, NULL, &source->diag);
}

/* All that can be said of a host is said where it is read. */
static void lint_host(struct source *source)
{
	host_free(host_from_text(source->path, source->text, source->length,
				 &source->diag));
}

static void lint_source(struct lint *lint, struct source *source)
{
	if (source->kind == SOURCE_DOMAIN)
		lint_domain(lint, source);
	else if (source->kind == SOURCE_HOST)
		lint_host(source);
	else if (source->policy)
		lint_policy(lint, source);
	else if (source->host_policy)
		lint_host_policy(lint, source);
	if (source->text)
		suppress(&source->diag, source->path, source->text);
	diag_sort(&source->diag);
	if (source->length > TEXT_KEPT)
		free(take(source->text));
}

static void lint_set(struct lint *lint)
{
	struct rule_input input = input_of(lint, NULL);

	if (lint->n_policies || lint->n_guests > 1)
		run_rules(lint, RULE_SET, &input, &lint->general);
	for (size_t i = 0; i < lint->sources.count; i++)
		if (lint->sources.items[i].policy && lint->sources.items[i].text)
			suppress(&lint->general, lint->sources.items[i].path,
				 lint->sources.items[i].text);
	diag_sort(&lint->general);
}

static void lint_all(struct lint *lint)
{
	sources_load(&lint->sources);
	for (size_t i = 0; i < lint->sources.count; i++)
		if (lint->sources.items[i].policy)
			*append(lint->policies,
				lint->n_policies) = lint->sources.items[i].policy;
	for (size_t i = 0; i < lint->sources.count; i++)
		lint_source(lint, &lint->sources.items[i]);
	lint_set(lint);
}

static char *line_of(const struct finding *finding, void *context)
{
	const struct lint *lint = context;
	const struct source *source = source_of(&lint->sources, finding->file);

	return source && source->text ? suppress_line(source->text, finding->line) : NULL;
}

static void print_text(struct lint *lint, const struct findings *findings)
{
	cleanup_free char *skipped = findings_skipped(findings);

	findings_text(findings, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), line_of,
		      lint, stdout);
	fflush(stdout);
	if (*skipped)
		fprintf(stderr, "vmgen: note: %s\n", skipped);
}

static void count_characters(struct lint *lint)
{
	for (size_t i = 0; i < lint->sources.count; i++)
		findings_characters(&lint->sources.items[i].diag, line_of, lint);
	findings_characters(&lint->general, line_of, lint);
}

static void print(struct lint *lint)
{
	cleanup_free const struct diag **files = NULL;
	struct findings findings = { .n_files = 0 };

	for (size_t i = 0; i < lint->sources.count; i++)
		*append(files, findings.n_files) = &lint->sources.items[i].diag;
	*append(files, findings.n_files) = &lint->general;
	findings.files = files;
	findings.skipped = lint->skipped;
	findings.lacks = lint->lacks;
	findings.n_skipped = lint->n_skipped;
	if (lint->format != FORMAT_TEXT)
		count_characters(lint);
	switch (lint->format) {
	case FORMAT_TEXT:
		print_text(lint, &findings);
		break;
	case FORMAT_JSON:
		findings_json(&findings, stdout);
		break;
	case FORMAT_SARIF:
		findings_sarif(&findings, stdout);
		break;
	case FORMAT_GITHUB:
		findings_github(&findings, stdout);
		break;
	}
}

static int status_of(const struct lint *lint)
{
	size_t errors = lint->general.errors;

	for (size_t i = 0; i < lint->sources.count; i++)
		errors += lint->sources.items[i].diag.errors;
	return errors ? EXIT_FINDINGS : 0;
}

static void lint_done(struct lint *lint)
{
	levels_done(&lint->levels);
	host_free(lint->host);
	host_policy_free(lint->host_policy);
	free(lint->policies);
	for (size_t i = 0; i < lint->n_guests; i++)
		free(lint->guests[i].name);
	free(lint->guests);
	sources_done(&lint->sources);
	diag_done(&lint->general);
	free(lint->skipped);
	free(lint->lacks);
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag usage = DIAG_INIT;
	cleanup(lint_done) struct lint lint = { .n_policies = 0 };

	if (!read_options(&lint, arguments, &usage)) {
		diag_print(&usage, stderr, false);
		return EXIT_USAGE;
	}
	if (load_knowledge(&lint, arguments)) {
		lint.sources = sources_find(arguments->words, arguments->n_words,
					    &lint.general);
		lint_all(&lint);
	}
	print(&lint);
	return status_of(&lint);
}

static const struct option_row options[] = {
	{ "host", 0, "HOST",
	  "the host that the files are for: YAML, hwloc XML, capabilities XML, or a "
	  "synthetic string (default: none)" },
	{ "host-policy", 0, "FILE",
	  "what that host's owner set aside (default: nothing)" },
	{ "format", 0, "FORMAT", "how findings are printed: text, json, sarif, github" },
	{ "warn", 'W', "RULE", "make RULE a warning; no-RULE: do not check it" },
	{ "error", 'E', "RULE", "make RULE an error; no-RULE: make it a warning" },
	OPTION_END,
};

const struct command command_lint = {
	.name = "lint",
	.words = "FILE|DIRECTORY...",
	.min_words = 1,
	.max_words = (size_t)-1,
	.summary = "check policies, host policies, hosts and domain XML",
	.options = options,
	.run = run,
};

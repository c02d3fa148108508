/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of rules, and running them; what each rule finds is tests/lint.t's. */
#include <ctype.h>

#include "base/text.h"
#include "rules/rules.h"
#include "tap.h"

#define rules_foreach(rule)                                                      \
	for (const struct rule *const *topic_ = rules_topics; *topic_; topic_++) \
		for (const struct rule *rule = *topic_; rule->id; rule++)

static bool kebab(const char *id)
{
	return islower((unsigned char)id[0]) && !strstr(id, "--") &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyz-") == strlen(id) &&
	       id[strlen(id) - 1] != '-' && !text_starts(id, "no-");
}

static void test_tables(void)
{
	unsigned odd = 0, count = 0;

	rules_foreach(rule)
	{
		size_t summary = strlen(rule->summary), doc = strlen(rule->doc);
		bool good = kebab(rule->id) && rule_find(rule->id) == rule &&
			    (rule->level == DIAG_WARNING || rule->level == DIAG_ERROR) &&
			    rule->needs < 1u << NEEDS_KINDS && rule->check &&
			    summary > 10 && summary < 100 &&
			    rule->summary[summary - 1] != '.' && doc > 10 &&
			    rule->doc[doc - 1] == '.' && !strchr(rule->doc, '\n');

		if (!good)
			note("%s", rule->id);
		odd += !good;
		count++;
	}
	ok(count > 100 && !odd, "%u rules, each with id, level, summary and paragraph",
	   count);
	for (unsigned bit = 0; bit < NEEDS_KINDS; bit++)
		if (!rule_needs_words[bit])
			odd++;
	ok(!odd, "each need has words");
}

/* "See ID." in a paragraph names a rule that is there. */
static void test_references(void)
{
	unsigned dangling = 0;

	rules_foreach(rule)
	{
		for (const char *at = strstr(rule->doc, "See "); at;
		     at = strstr(at + 1, "See ")) {
			size_t length = strspn(at + 4, "abcdefghijklmnopqrstuvwxyz-");
			cleanup_free char *id = xstrndup(at + 4, length);

			if (rule_find(id))
				continue;
			note("%s: see %s", rule->id, id);
			dangling++;
		}
	}
	ok(!dangling, "no paragraph refers to a rule that is not there");
}

static const char text[] = "policy: test\n"
			   "cputune: {vcpupin: 1-4, smt: isolate}\n"
			   "domain: {template: x, vcpus: 5}\n";

struct run {
	struct diag diag;
	const struct rule **skipped;
	size_t n_skipped;
};

static void run_done(struct run *run)
{
	diag_done(&run->diag);
	free(run->skipped);
}

static struct run run(const struct policy *policy, const struct levels *levels,
		      unsigned times)
{
	struct run run = { DIAG_INIT, NULL, 0 };
	struct rule_input input = { .policy = policy };

	while (times--)
		rules_run(RULE_POLICY, &input, levels, &run.skipped, &run.n_skipped,
			  &run.diag);
	return run;
}

/* "error policy-smt": the findings of RULE by level, and how many. */
static void finds(const struct policy *policy, const struct levels *levels,
		  const char *rule, size_t errors, size_t warnings, const char *what)
{
	cleanup(run_done) struct run got = run(policy, levels, 1);
	size_t count[DIAG_ERROR + 1] = { 0 };

	for (size_t i = 0; i < got.diag.count; i++)
		if (text_equal(got.diag.findings[i].rule, rule))
			count[got.diag.findings[i].level]++;
	ok(count[DIAG_ERROR] == errors && count[DIAG_WARNING] == warnings, "%s", what);
}

static void test_levels(const struct policy *policy)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup(levels_done) struct levels levels = { NULL, 0 };

	finds(policy, NULL, "policy-smt", 0, 1, "a warning of its own level");
	finds(policy, NULL, "policy-pin-list", 1, 0, "an error of its own level");
	ok(levels_move(&levels, DIAG_ERROR, "policy-smt", &diag), "-E");
	finds(policy, &levels, "policy-smt", 1, 0, "makes it an error");
	ok(levels_move(&levels, DIAG_ERROR, "no-policy-smt", &diag), "-E no-");
	finds(policy, &levels, "policy-smt", 0, 1, "makes it a warning");
	ok(levels_move(&levels, DIAG_WARNING, "no-policy-smt", &diag), "-W no-");
	finds(policy, &levels, "policy-smt", 0, 0, "turns it off");
	finds(policy, &levels, "policy-pin-list", 1, 0, "and no other");
	ok(levels_move(&levels, DIAG_WARNING, "policy-smt", &diag), "-W");
	finds(policy, &levels, "policy-smt", 0, 1, "turns it on again");
	ok(!diag.count, "without a word");
	ok(!levels_move(&levels, DIAG_WARNING, "no-policy-smmt", &diag) &&
		   diag.errors == 1 && strstr(diag.findings[0].text, "policy-smt"),
	   "the nearest is named for a rule that is not there");
}

static void test_skipped(const struct policy *policy)
{
	cleanup(run_done) struct run once = run(policy, NULL, 1);
	cleanup(run_done) struct run twice = run(policy, NULL, 2);
	unsigned wrong = 0;

	for (size_t i = 0; i < once.n_skipped; i++)
		wrong += !once.skipped[i]->needs || once.skipped[i]->scope != RULE_POLICY;
	ok(once.n_skipped > 5 && !wrong, "what lacks knowledge is skipped");
	ok(twice.n_skipped == once.n_skipped, "and named once");
	struct rule_input input = { .policy = policy };
	const struct rule *pages = rule_find("policy-pages");
	ok(rule_lacks(pages, &input) == NEEDS_HOST, "without a host it is the host");
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = host_from_synthetic("core:2 pu:1", &diag);
	input.host = host;
	ok(rule_lacks(pages, &input) == NEEDS_PAGES, "else what the host does not tell");
}

int main(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct policy *policy = policy_parse("t", text, strlen(text), &diag);

	test_tables();
	test_references();
	ok(policy, "a policy");
	test_levels(policy);
	test_skipped(policy);
	policy_free(policy);
	return tap_done();
}

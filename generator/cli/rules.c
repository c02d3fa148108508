/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen rules: what lint checks, and why. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "rules/rules.h"

enum { COLUMNS = 80 };

static const char *const scope_words[] = {
	[RULE_POLICY] = "policy",
	[RULE_HOST_POLICY] = "host policy",
	[RULE_GUEST] = "domain",
	[RULE_SET] = "policies",
};

static const char *level_word(const struct rule *rule)
{
	return rule->level == DIAG_ERROR ? "error" : "warning";
}

static void list(void)
{
	for (const struct rule *const *topic = rules_topics; *topic; topic++)
		for (const struct rule *rule = *topic; rule->id; rule++)
			printf("  %-24s %-8s %-12s %s\n", rule->id, level_word(rule),
			       scope_words[rule->scope], rule->summary);
}

/* Words of TEXT, broken before COLUMNS. */
static void wrap(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column && column + 1 + length > COLUMNS) {
			putchar('\n');
			column = 0;
		}
		if (column)
			putchar(' ');
		printf("%.*s", (int)length, text);
		column += length + (column != 0);
		text += length + strspn(text + length, " ");
	}
	putchar('\n');
}

static void explain(const struct rule *rule)
{
	cleanup_text struct text head = TEXT_INIT;

	text_printf(&head, "%s (%s, checks: %s", rule->id, level_word(rule),
		    scope_words[rule->scope]);
	for (unsigned bit = 0; bit < NEEDS_KINDS; bit++)
		if (rule->needs & 1u << bit)
			text_printf(&head, ", needs %s", rule_needs_words[bit]);
	text_add(&head, ")");
	wrap(head.data);
	putchar('\n');
	wrap(rule->summary);
	putchar('\n');
	wrap(rule->doc);
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	if (!arguments->n_words)
		list();
	for (size_t i = 0; i < arguments->n_words; i++) {
		const struct rule *rule = rule_get(arguments->words[i], &diag);

		if (!rule)
			continue;
		if (i)
			putchar('\n');
		explain(rule);
	}
	diag_print(&diag, stderr, false);
	return diag.errors ? 1 : 0;
}

static const struct option_row options[] = {
	OPTION_END,
};

const struct command command_rules = {
	.name = "rules",
	.words = "[RULE...]",
	.min_words = 0,
	.max_words = (size_t)-1,
	.summary = "list the rules of lint, or explain some",
	.options = options,
	.run = run,
};

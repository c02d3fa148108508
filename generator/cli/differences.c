/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edits for a person to review, a line each. */
#include <stdio.h>
#include <unistd.h>

#include "cli/differences.h"
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

void differences_print(const struct edits *edits, enum reach first, enum reach last,
		       bool why)
{
	bool colour = load_colour(STDOUT_FILENO);

	for (size_t i = 0; i < edits->count; i++) {
		const struct edit *edit = &edits->items[i];

		if (edit->reach->reach < first || edit->reach->reach > last)
			continue;
		print_edit(edit, colour);
		if (why)
			print_why(edit);
	}
}

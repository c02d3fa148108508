/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vmgen command: finds the command's row, parses its options, runs it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"

enum { OPTIONS_MAX = 32, EXIT_USAGE = 2 };

/* One a line, so that commands can be added side by side. */
/* clang-format off */
static const struct command *const commands[] = {
	&command_render,
	&command_rewrite,
	&command_diff,
	&command_lint,
	&command_host,
	&command_plan,
	&command_apply,
	&command_undo,
	&command_verify,
	&command_claims,
	&command_doctor,
	&command_worker,
	&command_rules,
	&command_schema,
	NULL,
};
/* clang-format on */

static const char intro[] =
	"usage: vmgen COMMAND [OPTION...] [ARGUMENT...]\n"
	"\n"
	"KVM guests that sit on their host exactly as a policy says.\n"
	"\n";

static void help(FILE *stream)
{
	fputs(intro, stream);
	for (size_t i = 0; commands[i]; i++)
		fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n`vmgen COMMAND --help` tells a command's options; vmgen(1) is the "
	      "manual.\n",
	      stream);
}

static void option_help(const struct option_row *row, FILE *stream)
{
	cleanup_text struct text left = TEXT_INIT;

	if (row->letter)
		text_printf(&left, "-%c, ", row->letter);
	text_printf(&left, "--%s", row->name);
	if (row->argument)
		text_printf(&left, " %s", row->argument);
	fprintf(stream, "  %-24s %s\n", left.data, row->help);
}

static void command_help(const struct command *command, FILE *stream)
{
	fprintf(stream, "usage: vmgen %s [OPTION...]%s%s\n\n%s\n\n", command->name,
		*command->words ? " " : "", command->words, command->summary);
	for (const struct option_row *row = command->options; row->name; row++)
		option_help(row, stream);
	fprintf(stream, "  %-24s %s\n", "-h, --help", "this help");
}

const char *argument_value(const struct arguments *arguments, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < arguments->n_options; i++)
		if (!strcmp(arguments->options[i].row->name, name))
			value = arguments->options[i].value;
	return value;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static const char *nearest(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = { NULL };

	for (size_t i = 0; commands[i]; i++)
		names[i] = commands[i]->name;
	return text_nearest(name, names);
}

static int unknown_command(const char *name)
{
	const char *near = nearest(name);

	fprintf(stderr, "vmgen: there is no command '%s'%s%s%s\n", name,
		near ? "; did you mean '" : "; see vmgen --help", near ? near : "",
		near ? "'?" : "");
	return EXIT_USAGE;
}

/* getopt's two forms of the rows, and --help. */
struct spelling {
	struct option longs[OPTIONS_MAX + 2];
	char shorts[2 * OPTIONS_MAX + 4];
};

static void spell(const struct option_row *rows, struct spelling *spelling)
{
	char *letter = spelling->shorts;
	size_t i = 0;

	*letter++ = ':';
	for (; i < OPTIONS_MAX && rows[i].name; i++) {
		spelling->longs[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].argument ? required_argument : no_argument,
			.val = (int)(256 + i),
		};
		if (!rows[i].letter)
			continue;
		*letter++ = rows[i].letter;
		if (rows[i].argument)
			*letter++ = ':';
	}
	*letter++ = 'h';
	spelling->longs[i] = (struct option){ .name = "help", .val = 'h' };
}

static const struct option_row *row_of(const struct option_row *rows, int code)
{
	if (code >= 256)
		return &rows[code - 256];
	while (rows->letter != code)
		rows++;
	return rows;
}

static int bad_option(const struct command *command, int code, char **argv)
{
	const char *word = argv[optind - 1];

	fprintf(stderr, "vmgen %s: %s %s; see vmgen %s --help\n", command->name, word,
		code == ':' ? "needs a value" : "is not an option of this command",
		command->name);
	return EXIT_USAGE;
}

static int words_wrong(const struct command *command)
{
	fprintf(stderr, "usage: vmgen %s [OPTION...]%s%s\n", command->name,
		*command->words ? " " : "", command->words);
	return EXIT_USAGE;
}

/* What was printed must have arrived, or a full disk passes for success. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	perror("vmgen: cannot write the output");
	return status ? status : 1;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct spelling spelling = { .shorts = "" };
	cleanup_free struct given_option *options = NULL;
	struct arguments arguments = { .n_options = 0 };
	int code;

	spell(command->options, &spelling);
	while ((code = getopt_long(argc, argv, spelling.shorts, spelling.longs, NULL)) !=
	       -1) {
		if (code == 'h') {
			command_help(command, stdout);
			return finish(0);
		}
		if (code == '?' || code == ':')
			return bad_option(command, code, argv);
		*append(options, arguments.n_options) = (struct given_option){
			.row = row_of(command->options, code),
			.value = optarg ? optarg : "",
		};
	}
	arguments.options = options;
	arguments.words = (const char *const *)argv + optind;
	arguments.n_words = (size_t)(argc - optind);
	if (arguments.n_words < command->min_words ||
	    arguments.n_words > command->max_words)
		return words_wrong(command);
	return finish(command->run(&arguments));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!*name) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--version")) {
		puts("vmgen " VERSION);
		return finish(0);
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		help(stdout);
		return finish(0);
	}
	const struct command *command = find(name);
	return command ? run(command, argc - 1, argv + 1) : unknown_command(name);
}

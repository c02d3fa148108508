/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command line, one word a line, of the commands that change nothing. */
#define main vmgen_main
int vmgen_main(int argc, char **argv);
#include "cli/main.c"
#undef main
#include "fuzz/fuzz.h"

enum { WORDS_MAX = 40 };

static const char *const harmless[] = { "render", "rewrite", "diff",   "lint",
					"host",	  "rules",   "schema", NULL };

/* An unknown command is harmless, too; `host --snapshot` writes one. */
static bool changes_nothing(const char *name)
{
	for (size_t i = 0; harmless[i]; i++)
		if (!strcmp(harmless[i], name))
			return true;
	return !find(name);
}

/* Below policies/ are small files; who finds / has to read all there is. */
static bool stays_here(const char *word)
{
	const char *slash = strchr(word, '/');

	return *word != '.' && !strstr(word, "..") && !text_starts(word, "--s") &&
	       (!slash || (slash - word >= 8 && !strncmp(slash - 8, "policies", 8)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	char vmgen[] = "vmgen", *words[WORDS_MAX + 2] = { vmgen };
	int count = 1;
	char *rest = text, *word;

	while (count <= WORDS_MAX && (word = strsep(&rest, "\n"))) {
		if (!stays_here(word))
			return 0;
		words[count++] = word;
	}
	if (!changes_nothing(count > 1 ? words[1] : ""))
		return 0;
	optind = 0; /* getopt begins anew */
	int status = vmgen_main(count, words);
	must(status >= 0 && status <= 2);
	return 0;
}

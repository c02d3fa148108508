/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen claims: which guest owns what of this machine, as a table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/load.h"
#include "machine/ledger.h"
#include "machine/process.h"

enum { COLUMNS = 7 };

/* What stands in one line; owned. */
struct row {
	char *cells[COLUMNS];
};

static const char *const headings[COLUMNS] = {
	"GUEST", "STATE", "CPUS", "NODES", "MEMORY", "POLICY", "TIME",
};

/* A name as a terminal may have it, "-" for none. */
static char *plain(const char *name)
{
	cleanup_text struct text out = TEXT_INIT;

	for (; name && *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			text_printf(&out, "\\x%02x", (unsigned)(unsigned char)*name);
		else
			text_add_bytes(&out, name, 1);
	return out.length ? text_take(&out) : xstrdup("-");
}

static char *list_or_dash(const struct cpulist *list)
{
	return list->count ? cpulist_format(list) : xstrdup("-");
}

static char *cpus_of(const struct claim *claim)
{
	if (claim->cpus.count || !claim->vcpus_on.count)
		return list_or_dash(&claim->cpus);
	cleanup_free char *shared = cpulist_format(&claim->vcpus_on);
	return xasprintf("%s shared", shared);
}

/* All of one size of page, "8 GiB" or "8 GiB in 1 GiB pages", behind what is in OUT. */
static void add_memory(struct text *out, const struct claim *claim, uint64_t page_size)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < claim->n_memory; i++)
		if (claim->memory[i].page_size == page_size)
			bytes += claim->memory[i].bytes;
	cleanup_free char *size = size_format(bytes), *page = size_format(page_size);
	text_printf(out, "%s%s", out->length ? " + " : "", size);
	if (page_size)
		text_printf(out, " in %s pages", page);
}

static char *memory_of(const struct claim *claim)
{
	cleanup_text struct text out = TEXT_INIT;

	for (size_t i = 0; i < claim->n_memory; i++) {
		size_t first = 0;

		while (claim->memory[first].page_size != claim->memory[i].page_size)
			first++;
		if (first == i)
			add_memory(&out, claim, claim->memory[i].page_size);
	}
	return out.length ? text_take(&out) : xstrdup("-");
}

static char *duration(uint64_t seconds)
{
	if (seconds < 120)
		return xasprintf("%" PRIu64 " s", seconds);
	if (seconds < UINT64_C(120) * 60)
		return xasprintf("%" PRIu64 " min", seconds / 60);
	if (seconds < UINT64_C(48) * 3600)
		return xasprintf("%" PRIu64 " h", seconds / 3600);
	return xasprintf("%" PRIu64 " d", seconds / 86400);
}

/* The file is shown as it stands; what is over will go when the next guest starts. */
static char *time_of(const struct claim *claim)
{
	uint64_t now = process_boot_seconds();

	if (claim->until) {
		cleanup_free char *left = duration(claim->until > now ? claim->until - now
								      : 0);
		return claim->until > now ? xasprintf("%s left", left) : xstrdup("over");
	}
	if (claim->state != CLAIM_RUNNING)
		return xstrdup("-");
	if (!process_number_taken(claim->owner.pid))
		return xstrdup("over");
	return duration(process_here_age(&claim->owner));
}

static struct row row_of(const struct claim *claim)
{
	return (struct row){ {
		plain(claim->name),
		xstrdup(claim_state_words[claim->state]),
		cpus_of(claim),
		list_or_dash(&claim->nodes),
		memory_of(claim),
		plain(claim->policy),
		time_of(claim),
	} };
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_row(const char *const *cells, const size_t *widths)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		bool last = i == COLUMNS - 1;

		printf("%s%*s", cells[i],
		       last ? 0 : (int)(widths[i] - width_of(cells[i]) + 2), "");
	}
	putchar('\n');
}

static void print_table(const struct row *rows, size_t count)
{
	size_t widths[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++) {
		widths[i] = width_of(headings[i]);
		for (size_t row = 0; row < count; row++)
			if (width_of(rows[row].cells[i]) > widths[i])
				widths[i] = width_of(rows[row].cells[i]);
	}
	print_row(headings, widths);
	for (size_t row = 0; row < count; row++)
		print_row((const char *const *)rows[row].cells, widths);
}

static int by_name(const void *left, const void *right)
{
	const struct claim *const *a = left, *const *b = right;
	int names = strcmp((*a)->name, (*b)->name);

	return names ? names : strcmp((*a)->uuid, (*b)->uuid);
}

static void print_failures(const struct claim *const *claims, size_t count)
{
	for (size_t i = 0, told = 0; i < count; i++) {
		cleanup_free char *name = plain(claims[i]->name);
		cleanup_free char *why = plain(claims[i]->failure);

		if (claims[i]->failure)
			printf("%s%s: %s\n", told++ ? "" : "\n", name, why);
	}
}

static void print_claims(const struct claims *claims)
{
	cleanup_free const struct claim **sorted = xcalloc(claims->count,
							   sizeof(struct claim *));
	cleanup_free struct row *rows = xcalloc(claims->count, sizeof(*rows));

	for (size_t i = 0; i < claims->count; i++)
		sorted[i] = &claims->items[i];
	if (claims->count)
		qsort(sorted, claims->count, sizeof(struct claim *), by_name);
	for (size_t i = 0; i < claims->count; i++)
		rows[i] = row_of(sorted[i]);
	print_table(rows, claims->count);
	print_failures(sorted, claims->count);
	for (size_t i = 0; i < claims->count * COLUMNS; i++)
		free(rows[i / COLUMNS].cells[i % COLUMNS]);
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_claims struct claims *claims = arguments->n_words
						       ? load_claims(arguments->words[0],
								     &diag)
						       : ledger_look(&ledger_here, &diag);

	if (claims)
		print_claims(claims);
	return load_report(&diag);
}

static const struct option_row options[] = {
	OPTION_END,
};

const struct command command_claims = {
	.name = "claims",
	.words = "[FILE]",
	.min_words = 0,
	.max_words = 1,
	.summary = "show which guest owns which CPUs and memory of this machine",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A collector of findings. */
#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

enum { TEXT_MAX = 600 };

static void finding_done(struct finding *finding)
{
	for (size_t i = 0; i < finding->n_notes; i++)
		finding_done(&finding->notes[i]);
	free(finding->notes);
	free(finding->file);
	free(finding->text);
}

void diag_done(struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++)
		finding_done(&diag->findings[i]);
	free(diag->findings);
	*diag = (struct diag)DIAG_INIT;
}

/* One line, fit for a terminal and a log. Bytes from 128 up are text in UTF-8. */
static char *tame(const char *raw)
{
	struct text out = TEXT_INIT;

	for (const char *c = raw; *c; c++) {
		if (out.length >= TEXT_MAX && ((unsigned char)*c & 0xc0) != 0x80) {
			text_add(&out, "...");
			break;
		}
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			text_printf(&out, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			text_add_bytes(&out, c, 1);
	}
	return text_take(&out);
}

printf_like(4, 0) static struct finding
	make(enum diag_level level, struct place place, const char *rule,
	     const char *format, va_list arguments)
{
	char *raw;

	if (vasprintf(&raw, format, arguments) < 0)
		abort();
	struct finding finding = {
		.level = level,
		.file = place.file ? xstrdup(place.file) : NULL,
		.line = place.line,
		.column = place.column,
		.rule = rule,
		.text = tame(raw),
	};
	free(raw);
	return finding;
}

static void keep(struct diag *diag, struct finding finding)
{
	if (finding.level == DIAG_ERROR)
		diag->errors++;
	if (diag->count < DIAG_MAX) {
		*append(diag->findings, diag->count) = finding;
	} else {
		finding_done(&finding);
		diag->dropped++;
	}
}

void diag_move(struct diag *to, struct diag *from)
{
	for (size_t i = 0; i < from->count; i++)
		keep(to, from->findings[i]);
	to->dropped += from->dropped;
	free(from->findings);
	*from = (struct diag)DIAG_INIT;
}

void diag_error(struct diag *diag, struct place place, const char *rule,
		const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(diag, make(DIAG_ERROR, place, rule, format, arguments));
	va_end(arguments);
}

void diag_warning(struct diag *diag, struct place place, const char *rule,
		  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(diag, make(DIAG_WARNING, place, rule, format, arguments));
	va_end(arguments);
}

void diag_note(struct diag *diag, struct place place, const char *format, ...)
{
	va_list arguments;

	if (!diag->count || diag->dropped)
		return;
	struct finding *last = &diag->findings[diag->count - 1];
	va_start(arguments, format);
	*append(last->notes, last->n_notes) = make(DIAG_NOTE, place, NULL, format,
						   arguments);
	va_end(arguments);
}

/* Which file comes first is a matter of when it was first named. */
static size_t first_named(const struct diag *diag, const char *file)
{
	size_t i = 0;

	while (i < diag->count && !text_equal(diag->findings[i].file, file))
		i++;
	return i;
}

struct key {
	size_t file, line, column, index;
};

static int key_order(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

void diag_sort(struct diag *diag)
{
	cleanup_free struct key *keys = xcalloc(diag->count, sizeof(*keys));
	struct finding *sorted = xcalloc(diag->count, sizeof(*sorted));

	for (size_t i = 0; i < diag->count; i++) {
		const struct finding *f = &diag->findings[i];

		keys[i] = (struct key){ first_named(diag, f->file), f->line, f->column,
					i };
	}
	qsort(keys, diag->count, sizeof(*keys), key_order);
	for (size_t i = 0; i < diag->count; i++)
		sorted[i] = diag->findings[keys[i].index];
	free(diag->findings);
	diag->findings = sorted;
}

static const char *const level_words[] = {
	[DIAG_NOTE] = "note",
	[DIAG_WARNING] = "warning",
	[DIAG_ERROR] = "error",
};
static const char *const level_colours[] = {
	[DIAG_NOTE] = "\033[36m",
	[DIAG_WARNING] = "\033[35m",
	[DIAG_ERROR] = "\033[31m",
};

static void finding_print(const struct finding *finding, FILE *stream, bool colour)
{
	/* A file's name may hold anything, also what a terminal obeys. */
	cleanup_free char *file = finding->file ? tame(finding->file) : NULL;

	if (!file)
		fputs("vmgen: ", stream);
	else if (!finding->line)
		fprintf(stream, "%s: ", file);
	else
		fprintf(stream, "%s:%u:%u: ", file, finding->line, finding->column);
	fprintf(stream, "%s%s:%s %s", colour ? level_colours[finding->level] : "",
		level_words[finding->level], colour ? "\033[0m" : "", finding->text);
	if (finding->rule)
		fprintf(stream, " [%s]", finding->rule);
	fputc('\n', stream);
	for (size_t i = 0; i < finding->n_notes; i++)
		finding_print(&finding->notes[i], stream, colour);
}

void diag_print(const struct diag *diag, FILE *stream, bool colour)
{
	for (size_t i = 0; i < diag->count; i++)
		finding_print(&diag->findings[i], stream, colour);
	if (diag->dropped)
		fprintf(stream, "vmgen: and %zu more\n", diag->dropped);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings as text for people, and as annotations. */
#include <string.h>

#include "base/text.h"
#include "cli/findings.h"

const char *const format_words[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_JSON] = "json",
	[FORMAT_SARIF] = "sarif",
	[FORMAT_GITHUB] = "github",
	NULL,
};

/* The rules that lack just LACKS, as "a, b". */
static void add_group(const struct findings *findings, unsigned lacks, struct text *out)
{
	const char *before = "";

	for (unsigned bit = 0; bit < NEEDS_KINDS; bit++) {
		if (!(lacks & 1u << bit))
			continue;
		text_printf(out, "%s%s", before, rule_needs_words[bit]);
		before = " and ";
	}
	before = ": ";
	for (size_t i = 0; i < findings->n_skipped; i++) {
		if (findings->lacks[i] != lacks)
			continue;
		text_printf(out, "%s%s", before, findings->skipped[i]->id);
		before = ", ";
	}
}

char *findings_skipped(const struct findings *findings)
{
	struct text out = TEXT_INIT;

	for (unsigned lacks = 1; lacks < 1u << NEEDS_KINDS; lacks++) {
		size_t i = 0;

		while (i < findings->n_skipped && findings->lacks[i] != lacks)
			i++;
		if (i == findings->n_skipped)
			continue;
		text_add(&out, out.length ? "; without " : "not checked without ");
		add_group(findings, lacks, &out);
	}
	return text_take(&out);
}

/* Below the finding: the line, and a caret under the column. Tabs stay tabs. */
static void excerpt(const struct finding *finding, const char *line, FILE *stream)
{
	enum { WIDTH = 200 };

	if (!finding->column || finding->column > WIDTH ||
	    strlen(line) < finding->column - 1)
		return;
	fputs("  ", stream);
	for (size_t i = 0; i < WIDTH && line[i]; i++)
		fputc((unsigned char)line[i] < ' ' && line[i] != '\t' ? '?' : line[i],
		      stream);
	fputs("\n  ", stream);
	for (unsigned i = 0; i + 1 < finding->column; i++)
		if (((unsigned char)line[i] & 0xc0) != 0x80)
			fputc(line[i] == '\t' ? '\t' : ' ', stream);
	fputs("\033[32m^\033[0m\n", stream);
}

static void print_one(const struct finding *finding, bool colour, findings_line *line,
		      void *context, FILE *stream)
{
	struct finding bare = *finding;
	struct diag one = { &bare, 1, 0, 0 },
		    notes = { finding->notes, finding->n_notes, 0, 0 };
	cleanup_free char *text = colour && line ? line(finding, context) : NULL;

	bare.n_notes = 0;
	diag_print(&one, stream, colour);
	if (text)
		excerpt(finding, text, stream);
	diag_print(&notes, stream, colour);
}

void findings_text(const struct findings *findings, bool colour, findings_line *line,
		   void *context, FILE *stream)
{
	for (size_t i = 0; i < findings->n_files; i++) {
		const struct diag *diag = findings->files[i];

		for (size_t k = 0; k < diag->count; k++)
			print_one(&diag->findings[k], colour, line, context, stream);
		if (diag->dropped)
			fprintf(stream, "vmgen: and %zu more in this file\n",
				diag->dropped);
	}
}

static void count_characters(struct finding *finding, findings_line *line, void *context)
{
	cleanup_free char *text = finding->line ? line(finding, context) : NULL;
	unsigned bytes = finding->column, characters = 1;

	if (!text || strlen(text) + 1 < bytes)
		return;
	for (unsigned i = 0; i + 1 < bytes; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	finding->column = characters;
}

void findings_characters(struct diag *diag, findings_line *line, void *context)
{
	for (size_t i = 0; i < diag->count; i++) {
		struct finding *finding = &diag->findings[i];

		count_characters(finding, line, context);
		for (size_t k = 0; k < finding->n_notes; k++)
			count_characters(&finding->notes[k], line, context);
	}
}

size_t findings_dropped(const struct findings *findings)
{
	size_t dropped = 0;

	for (size_t i = 0; i < findings->n_files; i++)
		dropped += findings->files[i]->dropped;
	return dropped;
}

/* https://docs.github.com/actions/reference/workflow-commands: % CR LF, and in a
 * property : and , too. */
static void escaped(const char *text, bool property, FILE *stream)
{
	for (; *text; text++)
		if (*text == '%' || *text == '\r' || *text == '\n' ||
		    (property && (*text == ':' || *text == ',')))
			fprintf(stream, "%%%02X", (unsigned)(unsigned char)*text);
		else
			fputc(*text, stream);
}

static void annotation(const struct finding *finding, FILE *stream)
{
	const char *before = " ";

	fputs(finding->level == DIAG_ERROR ? "::error" : "::warning", stream);
	if (finding->file) {
		fputs(" file=", stream);
		escaped(finding->file, true, stream);
		before = ",";
	}
	if (finding->file && finding->line)
		fprintf(stream, ",line=%u,col=%u", finding->line, finding->column);
	if (finding->rule)
		fprintf(stream, "%stitle=%s", before, finding->rule);
	fputs("::", stream);
	escaped(finding->text, false, stream);
	for (size_t i = 0; i < finding->n_notes; i++) {
		const struct finding *note = &finding->notes[i];

		fputs("%0A", stream);
		if (note->file) {
			escaped(note->file, false, stream);
			fprintf(stream, ":%u: ", note->line);
		}
		escaped(note->text, false, stream);
	}
	fputc('\n', stream);
}

void findings_github(const struct findings *findings, FILE *stream)
{
	cleanup_free char *skipped = findings_skipped(findings);

	for (size_t i = 0; i < findings->n_files; i++)
		for (size_t k = 0; k < findings->files[i]->count; k++)
			annotation(&findings->files[i]->findings[k], stream);
	if (findings_dropped(findings))
		fprintf(stream, "::notice::and %zu more findings\n",
			findings_dropped(findings));
	if (!*skipped)
		return;
	fputs("::notice::", stream);
	escaped(skipped, false, stream);
	fputc('\n', stream);
}

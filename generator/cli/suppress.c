/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings that a comment in the file allows. */
#include <string.h>

#include "base/text.h"
#include "cli/suppress.h"

static const char mark[] = "vmgen: allow ";

char *suppress_line(const char *text, unsigned line)
{
	if (!line)
		return NULL;
	text += text_mark(text);
	for (unsigned at = 1; at < line; at++) {
		text = strchr(text, '\n');
		if (!text)
			return NULL;
		text++;
	}
	return xstrndup(text, strcspn(text, "\r\n"));
}

/* All lines of the text in one go: as many findings as lines must not cost their
 * product. */
struct lines {
	const char **starts;
	size_t count;
};

static struct lines lines_of(const char *text)
{
	struct lines lines = { NULL, 0 };

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += lines.count != 0;
		*append(lines.starts, lines.count) = at;
	}
	return lines;
}

enum verdict { STANDS, ALLOWED, NO_REASON };

/* What the comment on LINE (from 1) says of RULE. */
static enum verdict judge(const struct lines *lines, size_t line, const char *rule)
{
	if (line < 1 || line > lines->count)
		return STANDS;
	const char *start = lines->starts[line - 1];
	cleanup_free char *text = xstrndup(start, strcspn(start, "\r\n"));
	char *at = strstr(text, mark);
	size_t length;

	if (!at)
		return STANDS;
	at += strlen(mark);
	length = strcspn(at, " \t:");
	if (length != strlen(rule) || strncmp(at, rule, length) != 0)
		return STANDS;
	at += length;
	at += strspn(at, " \t:-");
	return *at && *at != '>' ? ALLOWED : NO_REASON;
}

static enum verdict verdict(const struct lines *lines, const struct finding *finding)
{
	enum verdict here = judge(lines, finding->line, finding->rule);

	return here != STANDS ? here : judge(lines, finding->line - 1, finding->rule);
}

/* Moves finding AT of DIAG into BIN. */
static void drop(struct diag *diag, size_t at, struct diag *bin)
{
	if (diag->findings[at].level == DIAG_ERROR)
		diag->errors--;
	*append(bin->findings, bin->count) = diag->findings[at];
	diag->count--;
	memmove(&diag->findings[at], &diag->findings[at + 1],
		(diag->count - at) * sizeof(*diag->findings));
}

void suppress(struct diag *diag, const char *file, const char *text)
{
	cleanup_diag struct diag bin = DIAG_INIT;

	if (!strstr(text, mark))
		return;
	struct lines lines = lines_of(text);

	for (size_t i = diag->count; i-- > 0;) {
		struct finding *finding = &diag->findings[i];
		struct place place = { file, finding->line, 1 };

		if (!finding->rule || !text_equal(finding->file, file) || !finding->line)
			continue;
		switch (verdict(&lines, finding)) {
		case ALLOWED:
			drop(diag, i, &bin);
			break;
		case NO_REASON:
			diag_warning(
				diag, place, NULL,
				"the comment that allows %s gives no reason, so it does "
				"not count; say why behind it",
				finding->rule);
			break;
		case STANDS:
			break;
		}
	}
	free(lines.starts);
	diag_sort(diag);
}

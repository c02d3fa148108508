/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lint found, in the forms that people and machines read. */
#ifndef VMGEN_FINDINGS_H
#define VMGEN_FINDINGS_H

#include <stdio.h>

#include "base/diag.h"
#include "rules/rules.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SARIF, FORMAT_GITHUB };

/* NULL-terminated, in the order of the enumeration. */
extern const char *const format_words[];

/* All that one run found; borrowed. */
struct findings {
	const struct diag *const *files; /* one for each file, in their order */
	size_t n_files;
	/* Rules that lacked knowledge, and what each lacked (bits of rule_needs). */
	const struct rule *const *skipped;
	const unsigned *lacks;
	size_t n_skipped;
};

/* The line that FINDING speaks of, or NULL; the caller frees it. */
typedef char *findings_line(const struct finding *finding, void *context);

/* Text: with the source line and a caret below when COLOUR is set, which is for a
 * terminal. What was not checked is left to findings_skipped(). */
void findings_text(const struct findings *findings, bool colour, findings_line *line,
		   void *context, FILE *stream);
/* Makes the columns of DIAG, which count bytes, count characters, as machines' forms have
 * it. */
void findings_characters(struct diag *diag, findings_line *line, void *context);
/* Workflow commands of GitHub Actions: annotations in a pull request. */
void findings_github(const struct findings *findings, FILE *stream);
void findings_json(const struct findings *findings, FILE *stream);
/* SARIF 2.1.0 (OASIS). */
void findings_sarif(const struct findings *findings, FILE *stream);

/* "not checked without a host (--host): pin-offline, ...", "" when all was checked; the
 * caller frees it. */
char *findings_skipped(const struct findings *findings);
/* How many there were beyond those that are kept of each file. */
size_t findings_dropped(const struct findings *findings);

#endif

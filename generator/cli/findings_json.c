/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings as JSON of our own, and as SARIF 2.1.0. */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "cli/findings.h"

/* What is found without a rule: the file is not what it should be. */
static const char invalid[] = "invalid";

/* jansson takes UTF-8 only; file names may be anything. */
static json_t *string(const char *text)
{
	json_t *value = json_string(text);
	cleanup_free char *ascii = NULL;

	if (value)
		return value;
	ascii = xstrdup(text);
	for (char *c = ascii; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(ascii);
}

static const char *rule_of(const struct finding *finding)
{
	return finding->rule ? finding->rule : invalid;
}

static const char *level_of(enum diag_level level)
{
	static const char *const words[] = {
		[DIAG_NOTE] = "note",
		[DIAG_WARNING] = "warning",
		[DIAG_ERROR] = "error",
	};

	return words[level];
}

static json_t *plain_place(const struct finding *finding)
{
	json_t *object = json_object();

	if (finding->file)
		json_object_set_new(object, "file", string(finding->file));
	if (finding->file && finding->line) {
		json_object_set_new(object, "line", json_integer(finding->line));
		json_object_set_new(object, "column", json_integer(finding->column));
	}
	return object;
}

static json_t *plain(const struct finding *finding)
{
	json_t *object = plain_place(finding), *notes = json_array();

	json_object_set_new(object, "level", string(level_of(finding->level)));
	json_object_set_new(object, "rule", string(rule_of(finding)));
	json_object_set_new(object, "message", string(finding->text));
	for (size_t i = 0; i < finding->n_notes; i++) {
		json_t *note = plain_place(&finding->notes[i]);

		json_object_set_new(note, "message", string(finding->notes[i].text));
		json_array_append_new(notes, note);
	}
	json_object_set_new(object, "notes", notes);
	return object;
}

static void dump(json_t *root, FILE *stream)
{
	json_dumpf(root, stream, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', stream);
	json_decref(root);
}

static json_t *all(const struct findings *findings,
		   json_t *(*one)(const struct finding *finding))
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->n_files; i++)
		for (size_t k = 0; k < findings->files[i]->count; k++)
			json_array_append_new(array,
					      one(&findings->files[i]->findings[k]));
	return array;
}

void findings_json(const struct findings *findings, FILE *stream)
{
	json_t *root = json_object(), *skipped = json_array();

	for (size_t i = 0; i < findings->n_skipped; i++)
		json_array_append_new(skipped, string(findings->skipped[i]->id));
	json_object_set_new(root, "version", json_integer(1));
	json_object_set_new(root, "tool", string("vmgen " VERSION));
	json_object_set_new(root, "findings", all(findings, plain));
	json_object_set_new(root, "dropped",
			    json_integer((json_int_t)findings_dropped(findings)));
	json_object_set_new(root, "not_checked", skipped);
	dump(root, stream);
}

/* RFC 3986: what is not unreserved or "/" is percent-encoded. */
static json_t *uri(const char *path)
{
	cleanup_text struct text out = TEXT_INIT;

	text_add(&out, path[0] == '/' ? "file://" : "");
	for (; *path; path++)
		if (isalnum((unsigned char)*path) || strchr("-._~/", *path))
			text_add_bytes(&out, path, 1);
		else
			text_printf(&out, "%%%02X", (unsigned)(unsigned char)*path);
	return string(out.data);
}

static json_t *message(const char *text)
{
	return json_pack("{s:o}", "text", string(text));
}

static json_t *location(const struct finding *finding)
{
	json_t *physical = json_pack("{s:{s:o}}", "artifactLocation", "uri",
				     uri(finding->file));

	if (finding->line)
		json_object_set_new(
			physical, "region",
			json_pack("{s:i,s:i}", "startLine", (int)finding->line,
				  "startColumn",
				  (int)(finding->column ? finding->column : 1)));
	return json_pack("{s:o}", "physicalLocation", physical);
}

static json_t *related(const struct finding *finding)
{
	json_t *array = json_array();

	for (size_t i = 0; i < finding->n_notes; i++) {
		const struct finding *note = &finding->notes[i];
		json_t *item = note->file ? location(note) : json_object();

		json_object_set_new(item, "id", json_integer((json_int_t)i));
		json_object_set_new(item, "message", message(note->text));
		json_array_append_new(array, item);
	}
	return array;
}

/* In the order of the tables, which is that of the descriptors; -1: none of them. */
static int rule_index(const char *id)
{
	int index = 0;

	for (const struct rule *const *topic = rules_topics; *topic; topic++)
		for (const struct rule *rule = *topic; rule->id; rule++, index++)
			if (strcmp(rule->id, id) == 0)
				return index;
	return strcmp(id, invalid) == 0 ? index : -1;
}

static json_t *result(const struct finding *finding)
{
	int index = rule_index(rule_of(finding));
	json_t *object = json_pack("{s:o,s:o,s:o}", "ruleId", string(rule_of(finding)),
				   "level", string(level_of(finding->level)), "message",
				   message(finding->text));

	if (index >= 0)
		json_object_set_new(object, "ruleIndex", json_integer(index));
	if (finding->file)
		json_object_set_new(object, "locations",
				    json_pack("[o]", location(finding)));
	if (finding->n_notes)
		json_object_set_new(object, "relatedLocations", related(finding));
	return object;
}

static json_t *descriptor(const char *id, const char *summary, const char *doc,
			  enum diag_level level)
{
	return json_pack("{s:o,s:o,s:o,s:{s:o}}", "id", string(id), "shortDescription",
			 message(summary), "fullDescription", message(doc),
			 "defaultConfiguration", "level", string(level_of(level)));
}

static json_t *descriptors(void)
{
	json_t *array = json_array();

	for (const struct rule *const *topic = rules_topics; *topic; topic++)
		for (const struct rule *rule = *topic; rule->id; rule++)
			json_array_append_new(array, descriptor(rule->id, rule->summary,
								rule->doc, rule->level));
	json_array_append_new(
		array,
		descriptor(invalid, "a file that is not what it should be",
			   "The file cannot be read, or is no policy, host policy, host "
			   "description or domain XML.",
			   DIAG_ERROR));
	return array;
}

static void notify(json_t *notifications, const char *text)
{
	json_array_append_new(notifications, json_pack("{s:s,s:o}", "level", "note",
						       "message", message(text)));
}

static json_t *invocations(const struct findings *findings)
{
	cleanup_free char *skipped = findings_skipped(findings);
	cleanup_free char *dropped = xasprintf("and %zu more findings",
					       findings_dropped(findings));
	json_t *notifications = json_array();

	if (findings_dropped(findings))
		notify(notifications, dropped);
	if (*skipped)
		notify(notifications, skipped);
	return json_pack("[{s:b,s:o}]", "executionSuccessful", 1,
			 "toolExecutionNotifications", notifications);
}

void findings_sarif(const struct findings *findings, FILE *stream)
{
	json_t *driver = json_pack("{s:s,s:s,s:o}", "name", "vmgen", "version", VERSION,
				   "rules", descriptors());
	json_t *run = json_pack("{s:{s:o},s:o,s:s,s:o}", "tool", "driver", driver,
				"invocations", invocations(findings), "columnKind",
				"unicodeCodePoints", "results", all(findings, result));

	dump(json_pack("{s:s,s:s,s:[o]}", "$schema",
		       "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
		       "schemas/sarif-schema-2.1.0.json",
		       "version", "2.1.0", "runs", run),
	     stream);
}

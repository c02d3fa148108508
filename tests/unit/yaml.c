/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The YAML tree: what it holds, where its nodes say they are, and what cannot exhaust it.
 */
#include <glob.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "policy/yaml.h"
#include "tap.h"

/* The tree in one line: 'a' for scalars, [] and {} for the rest, <fault> for what was
 * reported. */
static void show(const struct yaml *yaml, struct text *out)
{
	if (yaml->kind == YAML_SCALAR) {
		text_printf(out, yaml->text ? "'%s'" : "<fault>", yaml->text);
		return;
	}
	text_add(out, yaml->kind == YAML_MAPPING ? "{" : "[");
	for (size_t i = 0; i < yaml->count; i++) {
		text_add(out, i ? " " : "");
		if (yaml->kind == YAML_MAPPING)
			text_printf(out, "%s:", yaml->keys[i]->text);
		show(yaml->items[i], out);
	}
	text_add(out, yaml->kind == YAML_MAPPING ? "}" : "]");
}

/* Takes YAML. */
static void shows(struct yaml *yaml, const char *want, const char *name)
{
	cleanup_text struct text out = TEXT_INIT;

	if (yaml)
		show(yaml, &out);
	is(out.data, want, "%s", name);
	yaml_tree_free(yaml);
}

static void tree_is(const char *text, const char *want, const char *name)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	shows(yaml_parse("t", text, strlen(text), &diag), want, name);
}

static void trees(void)
{
	tree_is("a: [b, {c: d}]\n", "{a:['b' {c:'d'}]}", "lists and mappings");
	tree_is("- no\n- 1e3\n- 0x10\n- ~\n- 1_000\n- 2001-01-01\n- 010\n",
		"['no' '1e3' '0x10' '~' '1_000' '2001-01-01' '010']", "scalars are text");
	tree_is("a:\nb: ''\nc: [ , d]\n", NULL, "a list does not begin with a comma");
	tree_is("a:\nb: ''\n", "{a:'' b:''}", "empty values are empty texts");
	tree_is("a: b\n c\nd: |\n  e\n  f\ng: >-\n  h\n  i\n",
		"{a:'b c' d:'e\nf\n' g:'h i'}", "texts over several lines");
	tree_is("{\"a\": \"\\u00e4\\n\\/\"}", "{a:'\xc3\xa4\n/'}", "JSON");
	tree_is("\xef\xbb\xbf"
		"a: b\r\nc: d\r\n",
		"{a:'b' c:'d'}", "BOM and CRLF");
	tree_is("%YAML 1.1\n---\na: b\n...\n", "{a:'b'}", "the marks of a document");
	tree_is("plain", "'plain'", "a scalar alone");
	tree_is("\"<<\": 1\n'*a': '&b'\n", "{<<:'1' *a:'&b'}",
		"quoted, these are texts like any other");
}

static void salvage_is(const char *text, const char *want, size_t faults,
		       const char *name)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	bool sound = true;

	shows(yaml_salvage("t", text, strlen(text), &sound, &diag), want, name);
	ok(!sound && diag.errors == faults, "... with %zu faults", faults);
	ok(!yaml_parse("t", text, strlen(text), &diag), "... and refused when parsed");
}

static void salvage(void)
{
	salvage_is("a: &x b\nc: *x\nd: e\n", "{a:'b' c:<fault> d:'e'}", 2,
		   "anchors and aliases");
	salvage_is("a: !!int 1\nb: !x [c]\n", "{a:'1' b:['c']}", 2, "tags");
	salvage_is("a: 1\nb: 2\na: 3\nb: 4\na: 5\n", "{a:'1' b:'2'}", 3,
		   "of duplicates the first is kept");
	salvage_is("[a]: b\nc: d\n? {e: f}\n: g\n", "{c:'d'}", 2, "keys that are none");
	salvage_is("a: \"\\0\"\nb: c\n", "{a:<fault> b:'c'}", 1, "an escaped NUL");
	salvage_is("a: b\xff\xfe\nc: d\n",
		   "{a:'b?"
		   "?' c:'d'}",
		   1, "a line that is not UTF-8");
	salvage_is("a: b\n---\nc: d\n", "{a:'b'}", 1, "a second document");
	salvage_is("a: b\n  c: d\n", NULL, 1, "wrong indentation");
	salvage_is("", NULL, 1, "an empty file");
}

/* How many nodes of YAML stand elsewhere than they say. Of a key too, and of its text. */
static size_t misplaced(const struct yaml *yaml, char **lines, size_t n_lines)
{
	const struct place *place = &yaml->place;
	size_t wrong = !place->line || place->line > n_lines + 1 || !place->column;

	if (!wrong && yaml->kind == YAML_SCALAR && yaml->text_column) {
		const char *line = lines[place->line - 1];
		size_t at = yaml->text_column - 1;

		wrong += at < place->column - 1 || at > strlen(line) ||
			 !text_starts(line + at, yaml->text);
	}
	for (size_t i = 0; i < yaml->count; i++) {
		wrong += misplaced(yaml->items[i], lines, n_lines);
		if (yaml->kind == YAML_MAPPING)
			wrong += misplaced(yaml->keys[i], lines, n_lines);
	}
	return wrong;
}

static size_t pointed_at(const struct yaml *yaml)
{
	size_t count = yaml->text_column != 0;

	for (size_t i = 0; i < yaml->count; i++) {
		count += pointed_at(yaml->items[i]);
		if (yaml->kind == YAML_MAPPING)
			count += pointed_at(yaml->keys[i]);
	}
	return count;
}

static char *slurp(const char *path, size_t *ret_length)
{
	struct text text = TEXT_INIT;
	char block[4096];
	size_t count;
	FILE *file = fopen(path, "r");

	while ((count = fread(block, 1, sizeof(block), file)) > 0)
		text_add_bytes(&text, block, count);
	fclose(file);
	*ret_length = text.length;
	return text_take(&text);
}

/* Where the file has a scalar's text as it is, the tree says so and is right. */
static void places_in_file(const char *path, size_t *pointed, size_t *wrong)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length, n_lines = 0;
	bool sound;
	cleanup_free char *text = slurp(path, &length);
	cleanup_free char **lines = NULL;
	cleanup_yaml struct yaml *yaml = yaml_salvage(path, text, length, &sound, &diag);

	/* Bytes that are no text have become question marks. */
	if (!yaml || (diag.count && strstr(diag.findings[0].text, "UTF-8")))
		return;
	char *rest = text + (text_starts(text, "\xef\xbb\xbf") ? 3 : 0);
	for (char *line; (line = strsep(&rest, "\n"));)
		*append(lines, n_lines) = line;
	*pointed += pointed_at(yaml);
	*wrong += misplaced(yaml, lines, n_lines);
}

static void places(void)
{
	size_t pointed = 0, wrong = 0;
	glob_t found;

	glob("tests/policy/*/*.yaml", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		places_in_file(found.gl_pathv[i], &pointed, &wrong);
	globfree(&found);
	ok(pointed > 500 && wrong == 0, "%zu texts stand where their place says",
	   pointed);
}

static void place_is(const char *text, const char *key, unsigned line, unsigned column,
		     unsigned text_column, const char *name)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_yaml struct yaml *yaml = yaml_parse("t", text, strlen(text), &diag);
	const struct yaml *item = yaml_get(yaml, key);

	ok(item && item->place.line == line && item->place.column == column &&
		   item->text_column == text_column,
	   "%s (%u:%u, %u)", name, item->place.line, item->place.column,
	   item->text_column);
}

static void single_places(void)
{
	place_is("a: b\n", "a", 1, 4, 4, "a plain text");
	place_is("a:   'b'\n", "a", 1, 6, 7, "a quoted text");
	place_is("a: 'b''c'\n", "a", 1, 4, 0, "an escaped quote moves what follows");
	place_is("a: \"b\\x63\"\n", "a", 1, 4, 0, "so does an escape");
	place_is("a: |\n  b\n", "a", 1, 4, 0, "a block stands on other lines");
	place_is("a: b\n  c\n", "a", 1, 4, 0, "so does folded text");
	place_is("{\xc3\xa4: 1, a: b}\n", "a", 1, 12, 12, "columns count bytes");
	place_is("x: y\r\na: b\r\n", "a", 2, 4, 4, "CRLF ends one line");
	place_is("x: y\ra: b\r", "a", 2, 4, 4, "CR ends one");
	place_is("\xef\xbb\xbf"
		 "a: b\n",
		 "a", 1, 4, 4, "a BOM is in no column");
	place_is("x: |\n  1\n  2\n\n\na: b\n", "a", 6, 4, 4, "behind a block");
}

/* PIECE as often as it fits into LENGTH bytes. */
static char *repeat(const char *piece, size_t length)
{
	char *text = xmalloc(length);
	size_t size = strlen(piece);

	for (size_t i = 0; i < length; i++)
		text[i] = piece[i % size];
	return text;
}

/* A parser that needs more than linear time or memory for one of these does not get
 * through all of them before the alarm. */
static void bombs(void)
{
	static const char *const pieces[] = {
		"[",	 "{",	   "{a: ",   "- ",	"? ",	"a: ",	   "a: b\n",
		"- a\n", "[a],",   "[[],",   "{a,",	"&a ",	"*a\n",	   "- *a\n",
		"!a ",	 "\"",	   "'",	     "#",	"\n",	" ",	   "\t",
		"|\n",	 "---\n",  "...\n",  "a",	"a ",	"\\",	   "\xc3\xa4",
		"\xff",	 "\xff\n", "\"\\x0", "- - a\n", ": ",	",",	   "%a\n",
		"\r",	 "- &a\n", "a: a:",  "? a\n",	"''\n", "-\n -\n", "\xe2\x80\xa8",
	};
	struct timespec start, end;
	size_t accepted = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_free char *text = repeat(pieces[i], YAML_BYTES);
		cleanup_yaml struct yaml *yaml = yaml_parse("bomb", text, YAML_BYTES,
							    &diag);

		if (!yaml != !!diag.errors)
			ok(false, "bomb of '%s' has a reason", pieces[i]);
		accepted += yaml != NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	ok(true, "%zu bombs of 4 MiB, %zu of them harmless", ARRAY_SIZE(pieces),
	   accepted);
	note("in %.2f s", (double)(end.tv_sec - start.tv_sec) +
				  (double)(end.tv_nsec - start.tv_nsec) / 1e9);
}

/* The same with a key of its own in each of COUNT lines, or with COUNT times one key. */
static void many_keys(size_t count, bool same, size_t errors, const char *name)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_text struct text text = TEXT_INIT;

	for (size_t i = 0; i < count; i++)
		text_printf(&text, "key%zu: v\n", same ? 0 : i);
	cleanup_yaml struct yaml *yaml = yaml_parse("t", text.data, text.length, &diag);
	ok(diag.errors == errors && !yaml == !!errors, "%s", name);
}

static bool nests(size_t depth)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	char text[128] = "";

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	cleanup_yaml struct yaml *yaml = yaml_parse("t", text, 2 * depth, &diag);
	return yaml != NULL;
}

static void limits(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = repeat("#", YAML_BYTES + 1);

	ok(nests(YAML_DEPTH) && !nests(YAML_DEPTH + 1), "%d levels", YAML_DEPTH);
	/* A mapping, and a key and a value in each line. */
	many_keys((YAML_NODES - 1) / 2, false, 0, "as many nodes as are allowed");
	many_keys((YAML_NODES - 1) / 2 + 1, false, 1, "one more");
	many_keys(40000, true, 39999, "40,000 times the same key");
	text[0] = 'a';
	text[1] = '\n';
	cleanup_yaml struct yaml *most = yaml_parse("t", text, YAML_BYTES, &diag);
	ok(most && !diag.errors, "as many bytes as are allowed");
	ok(!yaml_parse("t", text, YAML_BYTES + 1, &diag) && diag.errors == 1, "one more");
}

int main(void)
{
	alarm(120);
	trees();
	salvage();
	single_places();
	places();
	limits();
	bombs();
	return tap_done();
}

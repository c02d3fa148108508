/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YAML as a tree in which every node knows its place, from libyaml's events. */
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/text.h"
#include "policy/source.h"
#include "policy/yaml.h"

#define cleanup_event cleanup(yaml_event_delete)

struct reader {
	yaml_parser_t parser;
	struct source source;
	size_t nodes;
	const char *const *keys; /* that will do, of the outermost mapping; or NULL */
	struct diag *diag;
};

static void free_pointers(struct yaml **nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		yaml_tree_free(nodes[i]);
	free(nodes);
}

void yaml_tree_free(struct yaml *yaml)
{
	if (!yaml)
		return;
	if (yaml->kind == YAML_MAPPING)
		free_pointers(yaml->keys, yaml->count);
	free_pointers(yaml->items, yaml->count);
	free(yaml->text);
	free(yaml);
}

void yaml_free_pointer(struct yaml **yaml)
{
	yaml_tree_free(*yaml);
}

const struct yaml *yaml_get(const struct yaml *yaml, const char *key)
{
	for (size_t i = 0; yaml->kind == YAML_MAPPING && i < yaml->count; i++)
		if (strcmp(yaml->keys[i]->text, key) == 0)
			return yaml->items[i];
	return NULL;
}

static struct place place_of(struct reader *reader, yaml_mark_t mark)
{
	/* Where every character is a byte, libyaml's own count will do. */
	if (reader->source.plain)
		return (struct place){ reader->source.file, (unsigned)mark.line + 1,
				       (unsigned)mark.column + 1 };
	return source_place(&reader->source, mark.index);
}

enum advice_place {
	AT_PROBLEM,
	AT_CONTEXT, /* where what is wrong began */
	AT_BOTH,    /* a note says where it began */
};

/* libyaml's words for what it found, and what a person can do about it. */
static const struct advice {
	const char *problem;
	enum advice_place place;
	const char *text;
} advices[] = {
	{ "mapping values are not allowed in this context", AT_PROBLEM,
	  "a second \": \" in one value, or wrong indentation; quote a value that has "
	  "\": \" in it" },
	{ "could not find expected ':'", AT_CONTEXT,
	  "a key without \":\"; write \"key: value\", or \"- item\" in a list" },
	{ "did not find expected key", AT_BOTH,
	  "this is no \"key: value\" of the mapping that it stands in; is it indented as "
	  "its neighbours are?" },
	{ "did not find expected '-' indicator", AT_BOTH,
	  "this is no \"- item\" of the list that it stands in; is it indented as its "
	  "neighbours are?" },
	{ "block sequence entries are not allowed in this context", AT_PROBLEM,
	  "a list begins on a line of its own, below its key" },
	{ "did not find expected ',' or ']'", AT_BOTH,
	  "a list in [ ] lacks a \",\" or its \"]\"" },
	{ "did not find expected ',' or '}'", AT_BOTH,
	  "a mapping in { } lacks a \",\" or its \"}\"" },
	{ "found character that cannot start any token", AT_PROBLEM,
	  "a value cannot begin with this character, nor a line with a tab; quote the "
	  "one, indent the other with spaces" },
	{ "found unexpected end of stream", AT_CONTEXT,
	  "the quote that begins here never ends" },
	{ "found unknown escape character", AT_PROBLEM,
	  "there is no such escape; in double quotes a backslash is written \"\\\\\"" },
	{ "did not find expected <document start>", AT_PROBLEM,
	  "this does not belong to what stands above; is it indented as its neighbours "
	  "are?" },
	{ "found incompatible YAML document", AT_PROBLEM,
	  "this is not YAML 1.1 or 1.2; leave the %YAML line out" },
	{ "found undefined tag handle", AT_PROBLEM,
	  "tags are not read; quote a value that begins with \"!\"" },
};

static struct advice advice_on(const char *problem)
{
	for (size_t i = 0; i < ARRAY_SIZE(advices); i++)
		if (text_equal(problem, advices[i].problem))
			return advices[i];
	return (struct advice){ problem, AT_PROBLEM,
				problem ? problem : "there is not enough memory for it" };
}

static void report_syntax(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	struct advice advice = advice_on(parser->problem);
	yaml_mark_t mark = advice.place == AT_CONTEXT ? parser->context_mark
						      : parser->problem_mark;

	diag_error(reader->diag, place_of(reader, mark), NULL, "%s", advice.text);
	if (advice.place == AT_BOTH)
		diag_note(reader->diag, place_of(reader, parser->context_mark),
			  "which begins here");
}

static bool next(struct reader *reader, yaml_event_t *ret_event)
{
	if (yaml_parser_parse(&reader->parser, ret_event))
		return true;
	report_syntax(reader);
	return false;
}

static struct yaml *node(struct reader *reader, yaml_event_t *event, unsigned depth);

static void report_properties(struct reader *reader, struct place place,
			      const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		diag_error(reader->diag, place, NULL,
			   "anchors such as \"&%s\" are not read; write the value out "
			   "wherever it is wanted",
			   (const char *)anchor);
	if (tag)
		diag_error(reader->diag, place, NULL,
			   "tags such as \"%s\" are not read; the key says what type "
			   "its value has",
			   (const char *)tag);
}

static void alias(struct reader *reader, const yaml_event_t *event, struct place place)
{
	diag_error(reader->diag, place, NULL,
		   "aliases such as \"*%s\" are not read; write the value out",
		   (const char *)event->data.alias.anchor);
}

/* An escape ("\0") can say what the file itself cannot hold. */
static bool printable(struct reader *reader, const char *text, size_t length,
		      struct place place)
{
	size_t width;

	for (size_t at = 0; at < length; at += width) {
		width = source_plain(text[at]) ? 1
					       : source_character(text + at, length - at);
		if (width)
			continue;
		diag_error(reader->diag, place, NULL,
			   "an escape makes the control character 0x%02x, which no value "
			   "may have",
			   (unsigned)(unsigned char)text[at]);
		return false;
	}
	return true;
}

static void scalar(struct reader *reader, yaml_event_t *event, struct yaml *yaml)
{
	size_t length = event->data.scalar.length;
	char *text = (char *)event->data.scalar.value;
	yaml_scalar_style_t style = event->data.scalar.style;
	size_t quote = style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
		       style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;

	report_properties(reader, yaml->place, event->data.scalar.anchor,
			  event->data.scalar.tag);
	if (!printable(reader, text, length, yaml->place))
		return;
	/* Escapes and folding change the length. */
	if (event->start_mark.line == event->end_mark.line &&
	    event->end_mark.index - event->start_mark.index == length + 2 * quote)
		yaml->text_column = yaml->place.column + (unsigned)quote;
	yaml->text = text;
	event->data.scalar.value = NULL;
}

static bool sequence(struct reader *reader, struct yaml *yaml, unsigned depth)
{
	for (;;) {
		cleanup_event yaml_event_t event = { .type = YAML_NO_EVENT };

		if (!next(reader, &event))
			return false;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			return true;
		struct yaml *item = node(reader, &event, depth);
		if (!item)
			return false;
		*append(yaml->items, yaml->count) = item;
	}
}

static bool usable_key(struct reader *reader, const struct yaml *key)
{
	if (key->kind != YAML_SCALAR)
		diag_error(reader->diag, key->place, NULL,
			   "a key is a word, not a list or a mapping; quote a value that "
			   "begins with \"[\", \"{\" or \"?\"");
	else if (key->text && !*key->text)
		diag_error(reader->diag, key->place, NULL,
			   "there is no key before \":\"");
	return key->kind == YAML_SCALAR && key->text && *key->text;
}

/* One key and its item; *RET_END when there are no more. */
static bool pair(struct reader *reader, struct yaml *yaml, unsigned depth, bool *ret_end)
{
	cleanup_event yaml_event_t key_event = { .type = YAML_NO_EVENT };
	cleanup_event yaml_event_t item_event = { .type = YAML_NO_EVENT };

	if (!next(reader, &key_event))
		return false;
	*ret_end = key_event.type == YAML_MAPPING_END_EVENT;
	if (*ret_end)
		return true;
	cleanup_yaml struct yaml *key = node(reader, &key_event, depth);
	if (!key || !next(reader, &item_event))
		return false;
	cleanup_yaml struct yaml *item = node(reader, &item_event, depth);
	if (!item)
		return false;
	if (!usable_key(reader, key))
		return true;
	yaml->keys = mem_grow(yaml->keys, yaml->count, sizeof(struct yaml *));
	yaml->keys[yaml->count] = take(key);
	*append(yaml->items, yaml->count) = take(item);
	return true;
}

struct key {
	const struct yaml *yaml;
	size_t index;
};

static int key_order(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = strcmp(a->yaml->text, b->yaml->text);

	if (order)
		return order;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void drop_pair(struct yaml *yaml, size_t index)
{
	yaml_tree_free(yaml->keys[index]);
	yaml_tree_free(yaml->items[index]);
	yaml->keys[index] = NULL;
}

static void close_gaps(struct yaml *yaml)
{
	size_t kept = 0;

	for (size_t i = 0; i < yaml->count; i++) {
		if (!yaml->keys[i])
			continue;
		yaml->keys[kept] = yaml->keys[i];
		yaml->items[kept++] = yaml->items[i];
	}
	yaml->count = kept;
}

/* libyaml takes a key as often as it comes. The first is kept. */
static void drop_duplicates(struct reader *reader, struct yaml *yaml)
{
	cleanup_free struct key *keys = xcalloc(yaml->count, sizeof(*keys));
	size_t first = 0;

	for (size_t i = 0; i < yaml->count; i++)
		keys[i] = (struct key){ yaml->keys[i], i };
	qsort(keys, yaml->count, sizeof(*keys), key_order);
	for (size_t i = 1; i < yaml->count; i++) {
		if (strcmp(keys[i].yaml->text, keys[first].yaml->text) != 0) {
			first = i;
			continue;
		}
		diag_error(reader->diag, keys[i].yaml->place, NULL,
			   "\"%s\" is given twice", keys[i].yaml->text);
		diag_note(reader->diag, keys[first].yaml->place, "first given here");
		drop_pair(yaml, keys[i].index);
	}
	close_gaps(yaml);
}

static bool will_do(const struct reader *reader, const struct yaml *yaml)
{
	for (const char *const *key = reader->keys; key && *key; key++)
		if (!yaml_get(yaml, *key))
			return false;
	return reader->keys != NULL;
}

static bool mapping(struct reader *reader, struct yaml *yaml, unsigned depth)
{
	bool end = false;

	while (!end && !(depth == 1 && will_do(reader, yaml)))
		if (!pair(reader, yaml, depth, &end))
			return false;
	drop_duplicates(reader, yaml);
	return true;
}

static bool collection(struct reader *reader, const yaml_event_t *event,
		       struct yaml *yaml, unsigned depth)
{
	if (depth == YAML_DEPTH) {
		diag_error(reader->diag, yaml->place, NULL,
			   "lists and mappings are nested deeper than %d levels",
			   YAML_DEPTH);
		return false;
	}
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		yaml->kind = YAML_SEQUENCE;
		report_properties(reader, yaml->place, event->data.sequence_start.anchor,
				  event->data.sequence_start.tag);
		return sequence(reader, yaml, depth + 1);
	}
	yaml->kind = YAML_MAPPING;
	report_properties(reader, yaml->place, event->data.mapping_start.anchor,
			  event->data.mapping_start.tag);
	return mapping(reader, yaml, depth + 1);
}

/* The node that EVENT begins, below DEPTH collections. */
static struct yaml *node(struct reader *reader, yaml_event_t *event, unsigned depth)
{
	cleanup_yaml struct yaml *yaml = xcalloc(1, sizeof(*yaml));

	yaml->place = place_of(reader, event->start_mark);
	if (reader->nodes++ == YAML_NODES) {
		diag_error(reader->diag, yaml->place, NULL,
			   "more than %d keys and values in one file", YAML_NODES);
		return NULL;
	}
	if (event->type == YAML_ALIAS_EVENT)
		alias(reader, event, yaml->place);
	else if (event->type == YAML_SCALAR_EVENT)
		scalar(reader, event, yaml);
	else if (!collection(reader, event, yaml, depth))
		return NULL;
	return take(yaml);
}

static bool empty(const struct yaml *root)
{
	return root->kind == YAML_SCALAR && root->text && !*root->text;
}

/* What stands behind the document: nothing. */
static void document_end(struct reader *reader)
{
	cleanup_event yaml_event_t end = { .type = YAML_NO_EVENT };
	cleanup_event yaml_event_t behind = { .type = YAML_NO_EVENT };

	if (next(reader, &end) && next(reader, &behind) &&
	    behind.type != YAML_STREAM_END_EVENT)
		diag_error(reader->diag, place_of(reader, behind.start_mark), NULL,
			   "a second document begins here; a file holds one");
}

static struct yaml *document(struct reader *reader)
{
	cleanup_event yaml_event_t stream = { .type = YAML_NO_EVENT };
	cleanup_event yaml_event_t start = { .type = YAML_NO_EVENT };
	cleanup_event yaml_event_t root_event = { .type = YAML_NO_EVENT };
	cleanup_yaml struct yaml *root = NULL;

	if (!next(reader, &stream) || !next(reader, &start))
		return NULL;
	if (start.type == YAML_DOCUMENT_START_EVENT) {
		if (!next(reader, &root_event))
			return NULL;
		root = node(reader, &root_event, 0);
		if (!root)
			return NULL;
		if (!reader->keys)
			document_end(reader);
	}
	if (root && !empty(root))
		return take(root);
	diag_error(reader->diag, (struct place){ reader->source.file, 1, 1 }, NULL,
		   "the file is empty: it holds no key and no value");
	return NULL;
}

static struct yaml *read_text(struct reader *reader, const char *file, const char *text,
			      size_t length)
{
	if (!source_init(&reader->source, file, text, length, reader->diag))
		return NULL;
	if (!yaml_parser_initialize(&reader->parser))
		abort();
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser,
				     (unsigned char *)reader->source.text,
				     reader->source.length);
	struct yaml *root = document(reader);
	yaml_parser_delete(&reader->parser);
	source_done(&reader->source);
	return root;
}

struct yaml *yaml_salvage(const char *file, const char *text, size_t length,
			  bool *ret_sound, struct diag *diag)
{
	size_t errors = diag->errors;
	struct reader reader = { .diag = diag };
	struct yaml *root = read_text(&reader, file, text, length);

	*ret_sound = diag->errors == errors;
	return root;
}

struct yaml *yaml_head(const char *file, const char *text, size_t length,
		       const char *const *keys, struct diag *diag)
{
	struct reader reader = { .keys = keys, .diag = diag };

	return read_text(&reader, file, text, length);
}

struct yaml *yaml_parse(const char *file, const char *text, size_t length,
			struct diag *diag)
{
	bool sound = false;
	cleanup_yaml struct yaml *root = yaml_salvage(file, text, length, &sound, diag);

	return sound ? take(root) : NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes as splices. The old text is copied from front to back, one element after the
 * other; where a change speaks of a stretch, that is skipped and new text put instead.
 */
#include <string.h>

#include "base/text.h"
#include "guest/changes.h"
#include "guest/print.h"
#include "guest/splice.h"
#include "guest/tag.h"

struct splicer {
	const struct doc *doc;
	struct changes changes;
	struct text out;
	size_t copied;		  /* the old text before this is copied or skipped */
	struct print_style style; /* quote and step of the document */
};

void change_done(struct change *change)
{
	free(change->name);
	free(change->value);
	element_free(change->child);
	*change = (struct change){ .element = NULL };
}

static void copy_to(struct splicer *s, size_t offset)
{
	if (offset > s->copied)
		text_add_bytes(&s->out, s->doc->text + s->copied, offset - s->copied);
	s->copied = offset > s->copied ? offset : s->copied;
}

static void skip_to(struct splicer *s, size_t offset)
{
	s->copied = offset > s->copied ? offset : s->copied;
}

static bool blank(const struct splicer *s, size_t from, size_t to)
{
	return tag_skip_space(s->doc->text, from, to) == to;
}

/* Where the white space before OFFSET begins; OFFSET if it is part of some text. */
static size_t space_before(const struct splicer *s, size_t offset)
{
	const char *text = s->doc->text;
	size_t at = offset;

	while (at > 0 && strchr(" \t\r\n", text[at - 1]))
		at--;
	return at == 0 || text[at - 1] == '>' ? at : offset;
}

/* The line end and white space before ELEMENT; NULL if it does not begin a line. The root
 * of a document of several lines begins one. The caller frees it. */
static char *indent_of(const struct splicer *s, const struct element *element)
{
	const char *text = s->doc->text;
	size_t from = space_before(s, element->start);
	const char *line = memrchr(text + from, '\n', element->start - from);

	if (line) {
		line -= line > text && line[-1] == '\r';
		return xstrndup(line, element->start - (size_t)(line - text));
	}
	if (element->parent)
		return NULL;
	line = memchr(text + element->start, '\n', element->end - element->start);
	return line ? xstrdup(line[-1] == '\r' ? "\r\n" : "\n") : NULL;
}

/* What the first of the root's children that begins a line has more than the root. */
static char *step_of(const struct splicer *s)
{
	const struct element *root = s->doc->root;
	cleanup_free char *outer = indent_of(s, root);

	element_foreach (child, root, NULL) {
		cleanup_free char *inner = child->fresh ? NULL : indent_of(s, child);

		if (inner && outer && text_starts(inner, outer) && inner[strlen(outer)])
			return xstrdup(inner + strlen(outer));
		if (inner)
			break;
	}
	return xstrdup("  ");
}

/* Behind ELEMENT, and behind a comment on it on the same line. */
static size_t behind(const struct splicer *s, const struct element *element)
{
	const char *text = s->doc->text;
	size_t at = element->end + strspn(text + element->end, " \t");

	if (!text_starts(text + at, "<!--"))
		return element->end;
	const char *close = strstr(text + at, "-->");
	return close ? (size_t)(close - text) + 3 : element->end;
}

/* Behind the last attribute, or the name. */
static size_t tag_end(const struct splicer *s, const struct element *element)
{
	if (element->n_attributes)
		return element->attributes[element->n_attributes - 1].end;
	return tag_skip_name(s->doc->text, element->start + 1, element->open_end);
}

static void splice_attributes(struct splicer *s, const struct element *element)
{
	struct changes changes = changes_of(&s->changes, element);
	const struct attribute *attribute = element->attributes;
	char quote = s->style.quote;

	for (size_t i = 0; i < element->n_attributes; i++, attribute++) {
		const struct change *change = changes_find(changes, CHANGE_ATTRIBUTE,
							   attribute->name);

		quote = s->doc->text[attribute->value_end];
		if (!change)
			continue;
		copy_to(s, change->value ? attribute->value_start : attribute->start);
		if (change->value)
			print_value(&s->out, change->value, quote);
		skip_to(s, change->value ? attribute->value_end : attribute->end);
	}
	for (size_t i = 0; i < changes.count; i++) {
		const struct change *change = changes.items[i].change;

		if (change->kind != CHANGE_ATTRIBUTE || !change->value ||
		    element_attribute_find(element, change->name))
			continue;
		copy_to(s, tag_end(s, element));
		print_attribute(&s->out, change->name, change->value, quote);
	}
}

static void splice_element(struct splicer *s, const struct element *element);

/* The white space before it goes too; but where a comment on it stands behind it, that
 * takes its place on the line. */
static void splice_removed(struct splicer *s, const struct element *element)
{
	cleanup_free char *indent = indent_of(s, element);
	size_t next = behind(s, element);

	if (!indent || next == element->end) {
		copy_to(s, space_before(s, element->start));
		skip_to(s, element->end);
		return;
	}
	copy_to(s, element->start);
	skip_to(s, element->end + strspn(s->doc->text + element->end, " \t"));
}

static void put_new(struct splicer *s, const struct element *parent,
		    const struct element *fresh, const char *indent)
{
	struct print_style style = s->style;
	struct element *element = composed(&s->changes, fresh, fresh->parent == parent);

	text_add(&s->out, indent ? indent : "");
	style.indent = indent;
	print_element(&s->out, element, style);
	element_free(element);
}

/* What new children of ELEMENT are indented by when their neighbour does not tell. */
static char *usual_indent(const struct splicer *s, const struct element *element)
{
	bool alone = true;

	element_foreach (child, element, NULL) {
		if (child->fresh)
			continue;
		char *indent = indent_of(s, child);
		if (indent)
			return indent;
		alone = false;
	}
	cleanup_free char *own = alone ? indent_of(s, element) : NULL;
	return own ? xasprintf("%s%s", own, s->style.step) : NULL;
}

/* Among children that are in the text. */
static void splice_children(struct splicer *s, const struct element *element,
			    const struct slots *slots)
{
	cleanup_free char *usual = slots->n_new ? usual_indent(s, element) : NULL;
	cleanup_free char *indent = NULL;

	for (size_t i = 0; i < slots->count; i++) {
		struct element *child = slots->items[i];
		bool last = i + 1 == slots->count;

		if (!child->fresh) {
			splice_element(s, child);
			if (!last && slots->items[i + 1]->fresh) {
				copy_to(s, behind(s, child));
				free(indent);
				indent = indent_of(s, child);
			}
			continue;
		}
		copy_to(s, element->open_end);
		put_new(s, element, child, indent ? indent : usual);
	}
}

static bool holds_nothing(const struct splicer *s, const struct element *element,
			  const struct slots *slots)
{
	size_t at = element->open_end;

	for (size_t i = 0; i < slots->count; i++) {
		const struct element *child = slots->items[i];

		if (child->fresh ||
		    !changes_find(changes_of(&s->changes, child), CHANGE_REMOVE, NULL) ||
		    !blank(s, at, child->start))
			return false;
		at = child->end;
	}
	return blank(s, at, element->close_start);
}

/* Into an element that has no children in the text, or loses all that it has inside. */
static void fill(struct splicer *s, const struct element *element,
		 const struct change *content, const struct slots *slots)
{
	const char *text = s->doc->text;
	bool empty = element->open_end == element->end;
	bool inline_text = content || element->text[strspn(element->text, " \t\r\n")];
	cleanup_free char *indent = inline_text ? NULL : usual_indent(s, element);
	cleanup_free char *own = indent ? indent_of(s, element) : NULL;

	copy_to(s, empty ? tag_end(s, element) : element->open_end);
	if (empty)
		text_add(&s->out, ">");
	if (content)
		print_text(&s->out, content->value);
	else if (!empty)
		copy_to(s, space_before(s, element->close_start));
	if (content || empty)
		skip_to(s, element->close_start);
	for (size_t i = 0; i < slots->count; i++)
		put_new(s, element, slots->items[i], indent);
	if (own && !memchr(text + s->copied, '\n', element->close_start - s->copied)) {
		skip_to(s, element->close_start);
		text_add(&s->out, own);
	}
	if (!empty)
		return;
	size_t name = element->start + 1;
	text_printf(&s->out, "</%.*s>",
		    (int)(tag_skip_name(text, name, element->end) - name), text + name);
}

static void splice_inside(struct splicer *s, const struct element *element)
{
	const struct change *content = changes_find(changes_of(&s->changes, element),
						    CHANGE_CONTENT, NULL);
	cleanup_slots struct slots slots = slots_of(&s->changes, element, !content);

	if (slots.count > slots.n_new) {
		if (!holds_nothing(s, element, &slots)) {
			splice_children(s, element, &slots);
			return;
		}
		copy_to(s, tag_end(s, element));
		text_add(&s->out, "/>");
		skip_to(s, element->end);
	} else if (content || slots.n_new) {
		fill(s, element, content, &slots);
	}
}

static void splice_element(struct splicer *s, const struct element *element)
{
	if (changes_find(changes_of(&s->changes, element), CHANGE_REMOVE, NULL)) {
		splice_removed(s, element);
		return;
	}
	splice_attributes(s, element);
	splice_inside(s, element);
}

char *splice(const struct doc *doc, const struct change *const *changes, size_t count)
{
	const struct element *root = doc->root;
	struct splicer s = { .doc = doc, .out = TEXT_INIT, .style.quote = '\'' };
	cleanup_free char *step = step_of(&s);

	changes_init(&s.changes, changes, count);
	if (root->n_attributes)
		s.style.quote = doc->text[root->attributes[0].value_end];
	s.style.step = step;
	splice_element(&s, root);
	copy_to(&s, doc->length);
	changes_done(&s.changes);
	return text_take(&s.out);
}

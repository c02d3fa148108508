/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording edits: only where meaning differs, each with its reach, gate and reason. */
#include <string.h>

#include "base/text.h"
#include "edits/edits.h"

static void edit_done(struct edit *edit)
{
	change_done(&edit->change);
	free(edit->path);
	free(edit->old);
	free(edit->new);
	free(edit->why);
}

void edits_done(struct edits *edits)
{
	for (size_t i = 0; i < edits->count; i++)
		edit_done(&edits->items[i]);
	free(edits->items);
	edits->items = NULL;
	edits->count = 0;
}

static bool same_cpus(const char *a, const char *b)
{
	struct cpuset left, right;

	return cpuset_parse(a, &left, NULL, NULL) &&
	       cpuset_parse(b, &right, NULL, NULL) && cpuset_equal(&left, &right);
}

static bool same_number(const char *a, const char *b)
{
	unsigned long long left, right;

	return text_number(a, &left) && text_number(b, &right) && left == right;
}

static bool is_same(enum same same, const char *a, const char *b)
{
	if (!a || !b || strcmp(a, b) == 0)
		return text_equal(a, b);
	switch (same) {
	case SAME_CPUS:
		return same_cpus(a, b);
	case SAME_NUMBER:
		return same_number(a, b);
	case SAME_TEXT:
		break;
	}
	return false;
}

/* "cputune/vcpupin" for an element or, with its parent, for a child to be. */
static char *table_path(const struct element *element, const char *below)
{
	cleanup_free char *whole = element_path(element);
	const char *path = text_starts(whole, "domain/") ? whole + strlen("domain/") : "";

	return xasprintf("%s%s%s", path, *path && below ? "/" : "", below ? below : "");
}

/* The attribute that tells an element from its siblings of the same name. */
static const struct {
	const char *element, *child, *attribute;
} keys[] = {
	{ "vcpupin", NULL, "vcpu" },	   { "iothreadpin", NULL, "iothread" },
	{ "memnode", NULL, "cellid" },	   { "cell", NULL, "id" },
	{ "disk", "target", "dev" },	   { "interface", "alias", "name" },
	{ "interface", "mac", "address" }, { "controller", NULL, "type" },
};

/* Appends "disk[target/@dev='vdb']". */
static void add_step(struct text *path, const struct element *element)
{
	text_add(path, element->name);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct element *holder = keys[i].child
						       ? element_child(element,
								       keys[i].child)
						       : element;
		const char *value = element_attribute(holder, keys[i].attribute);

		if (!value || strcmp(element->name, keys[i].element) != 0)
			continue;
		text_printf(path, "[%s%s@%s='%s']", keys[i].child ? keys[i].child : "",
			    keys[i].child ? "/" : "", keys[i].attribute, value);
		return;
	}
}

static void add_steps(struct text *path, const struct element *element)
{
	if (!element->parent)
		return;
	add_steps(path, element->parent);
	if (path->length)
		text_add(path, "/");
	add_step(path, element);
}

static char *human_path(const struct element *element, const char *attribute,
			const struct element *child)
{
	struct text path = TEXT_INIT;

	add_steps(&path, element);
	if (child) {
		if (path.length)
			text_add(&path, "/");
		add_step(&path, child);
	}
	if (attribute)
		text_printf(&path, "@%s", attribute);
	return text_take(&path);
}

static void gate_version(const struct edits *edits, const char *what, const char *value,
			 uint64_t needs, uint64_t has, const char *program,
			 struct place said, struct place place)
{
	if (!needs || !has || has >= needs)
		return;
	cleanup_free char *needed = version_format(needs);
	cleanup_free char *there = version_format(has);
	diag_error(edits->diag, place, "version",
		   "%s%s%s needs %s %s or newer, the target has %s", what,
		   value ? " " : "", value ? value : "", program, needed, there);
	if (said.file)
		diag_note(edits->diag, said, "the target's version is said here");
}

static void gate(const struct edits *edits, const char *path, const char *value,
		 struct place place)
{
	const struct reach_entry *row = reach_find(path, value);
	const struct target *target = &edits->target;

	gate_version(edits, path, row->value, row->libvirt, target->libvirt, "libvirt",
		     target->libvirt_place, place);
	gate_version(edits, path, row->value, row->qemu, target->qemu, "QEMU",
		     target->qemu_place, place);
}

/* Everything in a new element is as gated as if it were added one by one. */
static void gate_tree(const struct edits *edits, const char *path,
		      const struct element *element, struct place place)
{
	gate(edits, path, element->text, place);
	for (size_t i = 0; i < element->n_attributes; i++) {
		const struct attribute *attribute = &element->attributes[i];
		cleanup_free char *below = xasprintf("%s@%s", path, attribute->name);

		if (reach_listed(below))
			gate(edits, below, attribute->value, place);
	}
	element_foreach (child, element, NULL) {
		cleanup_free char *below = xasprintf("%s/%s", path, child->name);

		gate_tree(edits, below, child, place);
	}
}

static struct edit *record(struct edits *edits, enum change_kind kind,
			   struct element *element, struct reason reason)
{
	struct edit *edit = append(edits->items, edits->count);

	edit->change.kind = kind;
	edit->change.element = element;
	edit->why = xstrdup(reason.why);
	edit->place = reason.place;
	return edit;
}

void edits_attribute(struct edits *edits, struct element *element, const char *name,
		     const char *value, enum same same, struct reason reason)
{
	const char *old = element_attribute(element, name);

	if (is_same(same, old, value))
		return;
	cleanup_free char *below = table_path(element, NULL);
	cleanup_free char *path = xasprintf("%s@%s", below, name);
	if (value)
		gate(edits, path, value, reason.place);
	struct edit *edit = record(edits, CHANGE_ATTRIBUTE, element, reason);
	edit->change.name = xstrdup(name);
	edit->change.value = value ? xstrdup(value) : NULL;
	edit->path = human_path(element, name, NULL);
	edit->old = old ? xstrdup(old) : NULL;
	edit->new = value ? xstrdup(value) : NULL;
	edit->reach = reach_find(path, value);
}

void edits_content(struct edits *edits, struct element *element, const char *value,
		   enum same same, struct reason reason)
{
	cleanup_free char *old = element_text(element);

	if (is_same(same, old, value))
		return;
	cleanup_free char *path = table_path(element, NULL);
	gate(edits, path, value, reason.place);
	struct edit *edit = record(edits, CHANGE_CONTENT, element, reason);
	edit->change.value = xstrdup(value);
	edit->path = human_path(element, NULL, NULL);
	edit->old = take(old);
	edit->new = xstrdup(value);
	edit->reach = reach_find(path, value);
}

void edits_child(struct edits *edits, struct element *parent, struct element *child,
		 struct reason reason)
{
	cleanup_free char *path = table_path(parent, child->name);

	gate_tree(edits, path, child, reason.place);
	struct edit *edit = record(edits, CHANGE_CHILD, parent, reason);
	edit->change.child = child;
	edit->path = human_path(parent, NULL, child);
	edit->new = element_format(child);
	edit->reach = reach_find(path, NULL);
}

void edits_remove(struct edits *edits, struct element *element, struct reason reason)
{
	cleanup_free char *path = table_path(element, NULL);
	struct edit *edit = record(edits, CHANGE_REMOVE, element, reason);

	edit->path = human_path(element, NULL, NULL);
	edit->old = element_format(element);
	edit->reach = reach_find(path, NULL);
}

void edits_want(struct edits *edits, struct element *parent, struct element *element,
		const char *name, const struct want *wants, struct reason reason)
{
	if (element) {
		for (; wants->name; wants++)
			edits_attribute(edits, element, wants->name, wants->value,
					wants->same, reason);
		return;
	}
	struct element *child = element_new(name);
	for (; wants->name; wants++)
		if (wants->value)
			element_set(child, wants->name, wants->value);
	edits_child(edits, parent, child, reason);
}

char *edits_perform(const struct edits *edits, const struct doc *doc, enum reach reach)
{
	cleanup_free const struct change **changes = xcalloc(edits->count,
							     sizeof(*changes));
	size_t count = 0;

	for (size_t i = 0; i < edits->count; i++)
		if (edits->items[i].reach->reach <= reach)
			changes[count++] = &edits->items[i].change;
	return splice(doc, changes, count);
}

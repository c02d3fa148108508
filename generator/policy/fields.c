/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What interprets a table of fields: YAML in, the struct that the table describes out. */
#include <string.h>

#include "base/text.h"
#include "policy/fields.h"
#include "policy/scalars.h"

static const struct field *field_of(const struct group *group, const char *key)
{
	for (const struct field *field = group->fields; field->key; field++)
		if (strcmp(field->key, key) == 0)
			return field;
	return NULL;
}

/* Ends with NULL; the caller frees it. */
static const char **keys_of(const struct group *group)
{
	const char **keys = NULL;
	size_t count = 0;

	for (const struct field *field = group->fields; field->key; field++)
		*append(keys, count) = field->key;
	*append(keys, count) = NULL;
	return keys;
}

/* "a, b and c" */
static char *list_of(const char *const *words)
{
	struct text out = TEXT_INIT;

	text_add(&out, words[0]);
	for (size_t i = 1; words[i]; i++)
		text_printf(&out, "%s%s", words[i + 1] ? ", " : " and ", words[i]);
	return text_take(&out);
}

/* The key of GROUP below which KEY would be known, or NULL. */
static const char *home_of(const struct group *group, const char *key)
{
	for (const struct field *field = group->fields; field->key; field++)
		if (field->group && field_of(field->group, key))
			return field->key;
	return NULL;
}

/* All known keys are told once a mapping: *LISTED. */
static void report_unknown(const struct group *group, const struct yaml *key,
			   bool *listed, struct diag *diag)
{
	cleanup_free const char **known = keys_of(group);
	const char *home = home_of(group, key->text);
	/* What is no longer kept needs no search for what was meant. */
	const char *near = diag->dropped ? NULL : text_nearest(key->text, known);
	cleanup_free char *hint = NULL;

	if (home) {
		hint = xasprintf("; it belongs below \"%s:\"", home);
	} else if (near) {
		hint = xasprintf("; did you mean \"%s\"?", near);
	} else if (!*listed) {
		cleanup_free char *all = list_of(known);

		hint = xasprintf(", which takes %s", all);
		*listed = true;
	}
	diag_error(diag, key->place, NULL, "unknown key \"%s\" in %s%s", key->text,
		   group->name, hint ? hint : "");
}

static bool reported(const struct yaml *yaml)
{
	return yaml->kind == YAML_SCALAR && !yaml->text;
}

/* "a mapping" of what was found; an empty scalar is what "key:" leaves. */
static const char *found(const struct yaml *yaml)
{
	if (yaml->kind == YAML_SCALAR)
		return *yaml->text ? "a single value" : "nothing";
	return yaml->kind == YAML_SEQUENCE ? "a YAML list" : "a mapping";
}

/* True when YAML is of KIND; else it is reported unless it has been, WANT being what
 * WHO takes. */
static bool expect(const struct yaml *yaml, enum yaml_kind kind, const char *who,
		   const char *want, struct diag *diag)
{
	if (reported(yaml))
		return false;
	if (yaml->kind == kind)
		return true;
	diag_error(diag, yaml->place, NULL, "%s takes %s, not %s", who, want,
		   found(yaml));
	return false;
}

static bool expect_scalar(const struct field *field, const struct yaml *yaml,
			  struct diag *diag)
{
	if (yaml->kind == YAML_SCALAR)
		return true;
	cleanup_free char *takes = fields_takes(field);
	return expect(yaml, YAML_SCALAR, field->key, takes, diag);
}

static bool expect_mapping(const struct group *group, const char *who,
			   const struct yaml *yaml, struct diag *diag)
{
	if (yaml->kind == YAML_MAPPING)
		return true;
	cleanup_free const char **known = keys_of(group);
	cleanup_free char *all = list_of(known);
	cleanup_free char *want = xasprintf("a mapping with the keys %s", all);

	return expect(yaml, YAML_MAPPING, who, want, diag);
}

static bool read_scalar(const struct field *field, const struct yaml *yaml, void *member,
			struct diag *diag)
{
	struct value *value = member;

	value->place = yaml->place;
	return expect_scalar(field, yaml, diag) && scalar_read(field, yaml, value, diag);
}

static bool read_list(const struct field *field, const struct yaml *yaml, void *member,
		      struct diag *diag)
{
	struct values *values = member;
	bool good = true;

	values->place = yaml->place;
	if (yaml->kind != YAML_SEQUENCE) {
		values->items = xcalloc(1, sizeof(*values->items));
		values->count = 1;
		return read_scalar(field, yaml, values->items, diag);
	}
	values->items = xcalloc(yaml->count, sizeof(*values->items));
	for (; values->count < yaml->count; values->count++)
		good &= read_scalar(field, yaml->items[values->count],
				    &values->items[values->count], diag);
	return good;
}

static bool read_items(const struct group *group, const struct yaml *yaml, void *object,
		       struct diag *diag);

static bool read_group(const struct field *field, const struct yaml *yaml, void *member,
		       struct diag *diag)
{
	struct place *place = member;

	*place = yaml->place;
	return expect_mapping(field->group, field->key, yaml, diag) &&
	       read_items(field->group, yaml, member, diag);
}

static bool read_groups(const struct field *field, const struct yaml *yaml, void *member,
			struct diag *diag)
{
	const struct group *group = field->group;
	struct groups *groups = member;
	bool good = true;

	groups->place = yaml->place;
	cleanup_free char *want = xasprintf(
		"a list of mappings (\"- %s: ...\"), one for each %s",
		group->fields[0].key, group->name);
	if (!expect(yaml, YAML_SEQUENCE, field->key, want, diag))
		return false;
	groups->items = xcalloc(yaml->count, group->size);
	for (; groups->count < yaml->count; groups->count++) {
		const struct yaml *item = yaml->items[groups->count];
		char *object = (char *)groups->items + groups->count * group->size;

		good &= expect_mapping(group, group->name, item, diag) &&
			read_items(group, item, object, diag);
	}
	return good;
}

static bool (*const readers[])(const struct field *, const struct yaml *, void *,
			       struct diag *) = {
	[SHAPE_SCALAR] = read_scalar,
	[SHAPE_LIST] = read_list,
	[SHAPE_GROUP] = read_group,
	[SHAPE_GROUPS] = read_groups,
};

/* Every member begins with its place. */
static bool missing(const struct field *field, const void *object)
{
	const struct place *place = (const void *)((const char *)object + field->offset);

	return field->required && !place->line;
}

static bool check_required(const struct group *group, const void *object,
			   struct place place, struct diag *diag)
{
	bool good = true;

	for (const struct field *field = group->fields; field->key; field++) {
		if (!missing(field, object))
			continue;
		good = false;
		diag_error(diag, place, NULL, "%s lacks \"%s:\"%s%s", group->name,
			   field->key, field->example ? ", for example " : "",
			   field->example ? field->example : "");
	}
	return good;
}

static bool read_items(const struct group *group, const struct yaml *yaml, void *object,
		       struct diag *diag)
{
	bool good = true, listed = false;

	*(struct place *)object = yaml->place;
	for (size_t i = 0; i < yaml->count; i++) {
		const struct yaml *key = yaml->keys[i], *item = yaml->items[i];
		const struct field *field = field_of(group, key->text);

		if (field)
			good &= readers[field->shape](
				field, item, (char *)object + field->offset, diag);
		else if (!reported(item))
			report_unknown(group, key, &listed, diag);
		good &= field != NULL;
	}
	return check_required(group, object, yaml->place, diag) && good;
}

bool fields_read(const struct group *group, const struct yaml *yaml, void *ret,
		 struct diag *diag)
{
	return expect_mapping(group, group->name, yaml, diag) &&
	       read_items(group, yaml, ret, diag);
}

bool fields_parse(const struct group *group, const char *file, const char *text,
		  size_t length, void *ret, struct diag *diag)
{
	bool sound = false;
	cleanup_yaml struct yaml *yaml = yaml_salvage(file, text, length, &sound, diag);

	return yaml && fields_read(group, yaml, ret, diag) && sound;
}

static void member_done(const struct field *field, void *member)
{
	struct values *values = member;
	struct groups *groups = member;

	switch (field->shape) {
	case SHAPE_SCALAR:
		scalar_done(member);
		return;
	case SHAPE_LIST:
		for (size_t i = 0; i < values->count; i++)
			scalar_done(&values->items[i]);
		free(values->items);
		return;
	case SHAPE_GROUP:
		fields_done(field->group, member);
		return;
	case SHAPE_GROUPS:
		for (size_t i = 0; i < groups->count; i++)
			fields_done(field->group,
				    (char *)groups->items + i * field->group->size);
		free(groups->items);
		return;
	}
}

void fields_done(const struct group *group, void *object)
{
	for (const struct field *field = group->fields; field->key; field++)
		member_done(field, (char *)object + field->offset);
}

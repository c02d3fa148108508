/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `vmgen schema`: the tables of fields as JSON Schema, draft 2020-12, for editors and CI.
 *
 * Readers of YAML make numbers and booleans of some scalars, each by its own rules, so
 * every scalar may be any of these: patterns and words hold for text, ranges for numbers.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "cli/command.h"
#include "host/host_fields.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

static const char comment[] =
	"Made by `vmgen schema` from the table that vmgen itself reads by. vmgen refuses "
	"more than patterns can say: sizes outside their limits, CPU lists with a range "
	"that runs downwards or with nothing left in them, what two fields say together, "
	"and in a file's form anchors, aliases, tags, duplicate keys and control "
	"characters. `vmgen lint` tells.";

#define UNITS "([bB]([yY][tT][eE][sS])?|[kKmMgGtTpPeE]([iI]?[bB])?)"

/* The numbers with as many digits as LOW, a power of ten, and with more, while these are
 * all below HIGH: "[1-9][0-9]{0,2}". Returns the first number behind. */
static uint64_t add_decades(struct text *out, uint64_t low, uint64_t high)
{
	int zeros = snprintf(NULL, 0, "%" PRIu64, low) - 1, most = zeros;

	for (low *= 10; low * 10 - 1 <= high; low *= 10)
		most++;
	text_printf(out, "[1-9][0-9]{%d,%d}", zeros, most);
	return low;
}

/* The numbers from LOW on that share all but their last DIGITS digits and the one before,
 * as far as HIGH allows: "81[0-8][0-9]". Returns the first number behind. */
static uint64_t add_block(struct text *out, uint64_t low, uint64_t high)
{
	uint64_t step = 1, digits = 0;

	while (low % (step * 10) == 0 && low + step * 10 - 1 <= high) {
		step *= 10;
		digits++;
	}
	uint64_t first = low / step % 10, last = first;
	while (last < 9 && low + (last - first + 2) * step - 1 <= high)
		last++;
	if (low / step >= 10)
		text_printf(out, "%" PRIu64, low / step / 10);
	if (first == last)
		text_printf(out, "%" PRIu64, first);
	else
		text_printf(out, "[%" PRIu64 "-%" PRIu64 "]", first, last);
	if (digits)
		text_printf(out, "[0-9]{%" PRIu64 "}", digits);
	return low + (last - first + 1) * step;
}

static bool power_of_ten(uint64_t number)
{
	while (number >= 10 && number % 10 == 0)
		number /= 10;
	return number == 1;
}

/* Exactly the decimal numbers from LOW to HIGH without leading zeros. */
static void add_range(struct text *out, uint64_t low, uint64_t high)
{
	text_add(out, "(");
	while (low <= high) {
		if (low == 0) {
			text_add(out, "0");
			low = 1;
		} else if (power_of_ten(low) && low * 10 - 1 <= high) {
			low = add_decades(out, low, high);
		} else {
			low = add_block(out, low, high);
		}
		text_add(out, low <= high ? "|" : ")");
	}
}

static char *count_pattern(const struct field *field)
{
	struct text out = TEXT_INIT;

	text_add(&out, "^");
	add_range(&out, field->min, field->max);
	text_add(&out, "$");
	return text_take(&out);
}

static char *cpus_pattern(void)
{
	cleanup_text struct text number = TEXT_INIT;

	text_add(&number, "0*");
	add_range(&number, 0, CPUSET_MAX - 1);
	const char *n = number.data;
	return xasprintf("^ *(%s-)?%s( *, *(%s-|\\^)?%s)* *$", n, n, n, n);
}

/* A scalar whose text is like PATTERN; the caller may add to it. */
static json_t *scalar(const char *pattern)
{
	return json_pack("{s:[s,s,s], s:s}", "type", "string", "number", "boolean",
			 "pattern", pattern);
}

static json_t *without(json_t *schema, json_t *texts)
{
	json_object_set_new(schema, "not", json_pack("{s:o}", "enum", texts));
	return schema;
}

/* JSON's integers end where C's signed ones do. */
static json_t *within(json_t *schema, uint64_t min, uint64_t max)
{
	json_object_set_new(schema, "minimum", json_integer((json_int_t)min));
	json_object_set_new(schema, "maximum", json_integer((json_int_t)max));
	return schema;
}

static json_t *text_schema(const struct field *field)
{
	(void)field;
	json_t *schema = json_pack("{s:[s,s,s], s:i}", "type", "string", "number",
				   "boolean", "minLength", 1);
	return without(schema, json_pack("[s,s,s,s]", "~", "null", "Null", "NULL"));
}

static json_t *name_schema(const struct field *field)
{
	(void)field;
	return without(scalar("^[A-Za-z0-9_+][A-Za-z0-9._+-]*$"),
		       json_pack("[s,s,s]", "null", "Null", "NULL"));
}

static json_t *count_schema(const struct field *field)
{
	cleanup_free char *pattern = count_pattern(field);

	return within(scalar(pattern), field->min, field->max);
}

static json_t *cpus_schema(const struct field *field)
{
	cleanup_free char *pattern = cpus_pattern();

	(void)field;
	return within(scalar(pattern), 0, CPUSET_MAX - 1);
}

static json_t *version_schema(const struct field *field)
{
	(void)field;
	return within(scalar("^[0-9]{1,4}(\\.[0-9]{1,3}){0,2}$"), 0, 9999);
}

static json_t *size_schema(const struct field *field)
{
	cleanup_free char *min = size_format(field->min), *max = size_format(field->max);
	cleanup_free char *limits = xasprintf("from %s to %s", min, max);
	json_t *schema = scalar("^[0-9]+ ?" UNITS "$");

	json_object_set_new(schema, "$comment", json_string(limits));
	return schema;
}

static json_t *path_schema(const struct field *field)
{
	(void)field;
	return scalar("^/[^\\n\\r\\t]*$");
}

static json_t *pattern_schema(const struct field *field)
{
	(void)field;
	return scalar("^/([^{}\\n\\r\\t]|\\{guest\\}|\\{name\\})*$");
}

/* Words as an enum, which editors complete. */
static json_t *words_schema(const char *const *words)
{
	json_t *values = json_array();

	for (size_t i = 0; words[i]; i++)
		json_array_append_new(values, json_string(words[i]));
	return json_pack("{s:o}", "enum", values);
}

static json_t *either(json_t *one, json_t *other)
{
	return json_pack("{s:[o,o]}", "anyOf", one, other);
}

static json_t *only_words(const char *const *words)
{
	return either(words_schema(words),
		      json_pack("{s:[s,s]}", "type", "number", "boolean"));
}

static json_t *bool_schema(const struct field *field)
{
	static const char *const words[] = { "yes", "no",  "true", "false",
					     "on",  "off", NULL };

	(void)field;
	return only_words(words);
}

static json_t *(*const type_schemas[])(const struct field *field) = {
	[SCALAR_TEXT] = text_schema,	   [SCALAR_NAME] = name_schema,
	[SCALAR_BOOL] = bool_schema,	   [SCALAR_COUNT] = count_schema,
	[SCALAR_SIZE] = size_schema,	   [SCALAR_CPUS] = cpus_schema,
	[SCALAR_PATH] = path_schema,	   [SCALAR_PATTERN] = pattern_schema,
	[SCALAR_VERSION] = version_schema,
};

static json_t *scalar_schema(const struct field *field)
{
	if (field->type == SCALAR_NONE)
		return only_words(field->words);
	json_t *schema = type_schemas[field->type](field);
	return field->words ? either(words_schema(field->words), schema) : schema;
}

static json_t *group_schema(const struct group *group);

static json_t *array_of(json_t *items)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *shape_schema(const struct field *field)
{
	switch (field->shape) {
	case SHAPE_LIST:
		return either(scalar_schema(field), array_of(scalar_schema(field)));
	case SHAPE_GROUP:
		return group_schema(field->group);
	case SHAPE_GROUPS:
		return array_of(group_schema(field->group));
	case SHAPE_SCALAR:
		break;
	}
	return scalar_schema(field);
}

/* The field's words for people before the rest. */
static json_t *field_schema(const struct field *field)
{
	json_t *schema = json_object(), *shape = shape_schema(field);

	if (field->doc)
		json_object_set_new(schema, "description", json_string(field->doc));
	if (field->example)
		json_object_set_new(schema, "examples", json_pack("[s]", field->example));
	json_object_update(schema, shape);
	json_decref(shape);
	return schema;
}

static json_t *group_schema(const struct group *group)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct field *field = group->fields; field->key; field++) {
		json_object_set_new(properties, field->key, field_schema(field));
		if (field->required)
			json_array_append_new(required, json_string(field->key));
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:b}", "description", group->doc, "type",
			 "object", "required", required, "properties", properties,
			 "additionalProperties", 0);
}

static int print_schema(const struct group *group)
{
	cleanup_free char *title = xasprintf("vmgen %s", group->name);
	json_t *body = group_schema(group);
	json_t *schema = json_pack("{s:s, s:s, s:s}", "$schema",
				   "https://json-schema.org/draft/2020-12/schema",
				   "$comment", comment, "title", title);

	json_object_update(schema, body);
	json_dumpf(schema, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(body);
	json_decref(schema);
	return 0;
}

static int run(const struct arguments *arguments)
{
	static const struct {
		const char *name;
		const struct group *group;
	} schemas[] = {
		{ "policy", &policy_group },
		{ "host-policy", &host_policy_group },
		{ "host", &host_group },
	};
	const char *which = arguments->n_words ? arguments->words[0] : "policy";

	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++)
		if (text_equal(which, schemas[i].name))
			return print_schema(schemas[i].group);
	fprintf(stderr,
		"vmgen schema: there is a schema of \"policy\", of \"host-policy\" and "
		"of "
		"\"host\", not of \"%s\"\n",
		which);
	return 2;
}

static const struct option_row options[] = { OPTION_END };

const struct command command_schema = {
	.name = "schema",
	.words = "[policy | host-policy | host]",
	.max_words = 1,
	.summary = "print the JSON Schema of policies, host policies or hosts",
	.options = options,
	.run = run,
};

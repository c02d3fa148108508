/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One scalar of a field: its types, and what is said of a value that is not of its type.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "policy/scalars.h"

struct reading {
	const struct field *field;
	const char *text;
	struct value *value;
	/* When a type can say more than that the text is not of it: a sentence fragment,
	 * and the offset in the text that it speaks of. */
	const char *reason;
	size_t at;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool version_parse(const char *text, uint64_t *ret_version)
{
	static const struct {
		uint64_t scale;
		size_t digits;
	} parts[] = { { 1000000, 4 }, { 1000, 3 }, { 1, 3 } };
	uint64_t version = 0;

	for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
		size_t digits = strspn(text, "0123456789");
		uint64_t number = 0;

		if (digits == 0 || digits > parts[part].digits)
			return false;
		for (; digits; digits--)
			number = number * 10 + (uint64_t)(*text++ - '0');
		version += number * parts[part].scale;
		if (!*text) {
			*ret_version = version;
			return true;
		}
		if (*text++ != '.')
			return false;
	}
	return false;
}

char *version_format(uint64_t version)
{
	return xasprintf("%" PRIu64 ".%" PRIu64 ".%" PRIu64, version / 1000000,
			 version / 1000 % 1000, version % 1000);
}

static bool read_text(struct reading *reading)
{
	(void)reading;
	return true;
}

static bool read_name(struct reading *reading)
{
	const char *c = reading->text;

	if (*c == '-' || *c == '.')
		return false;
	while (letter(*c) || digit(*c) || (*c && strchr("._-+", *c)))
		c++;
	return !*c;
}

static bool read_bool(struct reading *reading)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(reading->text, words[i]) == 0) {
			reading->value->number = i % 2;
			return true;
		}
	}
	return false;
}

/* "010" is 8 for some readers of YAML and 10 for others. */
static bool read_count(struct reading *reading)
{
	unsigned long long number;

	if (reading->text[0] == '0' && reading->text[1])
		return false;
	if (!text_number(reading->text, &number) || number < reading->field->min ||
	    number > reading->field->max)
		return false;
	reading->value->number = number;
	return true;
}

static bool read_size(struct reading *reading)
{
	uint64_t bytes;

	if (!size_parse(reading->text, &bytes, &reading->reason))
		return false;
	if (bytes < reading->field->min || bytes > reading->field->max)
		return false;
	reading->value->number = bytes;
	return true;
}

static bool read_cpus(struct reading *reading)
{
	reading->value->cpus = xmalloc(sizeof(*reading->value->cpus));
	if (cpuset_parse(reading->text, reading->value->cpus, &reading->reason,
			 &reading->at))
		return true;
	free(take(reading->value->cpus));
	/* What looks like a slip in a word is better told the words. */
	if (reading->field->words && letter(*reading->text))
		reading->reason = NULL;
	return false;
}

static bool read_path(struct reading *reading)
{
	return reading->text[0] == '/' && !strpbrk(reading->text, "\n\r\t");
}

static bool read_pattern(struct reading *reading)
{
	if (!read_path(reading))
		return false;
	for (const char *at = reading->text; *at;) {
		if (text_starts(at, "{guest}") || text_starts(at, "{name}")) {
			at = strchr(at, '}') + 1;
			continue;
		}
		if (*at == '{' || *at == '}') {
			reading->reason = "in braces there is only {guest} or {name}";
			reading->at = (size_t)(at - reading->text);
			return false;
		}
		at++;
	}
	return true;
}

static bool read_version(struct reading *reading)
{
	return version_parse(reading->text, &reading->value->number);
}

static const struct type {
	bool (*read)(struct reading *reading);
	const char *takes;
	bool shown; /* an example says more than the name */
} types[] = {
	[SCALAR_NONE] = { NULL, NULL, false },
	[SCALAR_TEXT] = { read_text, "a text", false },
	[SCALAR_NAME] = { read_name, "a name of letters, digits and ._-+", true },
	[SCALAR_BOOL] = { read_bool, "yes or no", false },
	[SCALAR_COUNT] = { read_count, "a whole number", false },
	[SCALAR_SIZE] = { read_size, "a size", true },
	[SCALAR_CPUS] = { read_cpus, "a list", true },
	[SCALAR_PATH] = { read_path, "an absolute path", true },
	[SCALAR_PATTERN] = { read_pattern, "an absolute path", true },
	[SCALAR_VERSION] = { read_version, "a version", true },
};

/* "vhostuser", "raw or qcow2", "one of off, on or unmap"; before a type "auto or ", "one
 * of housekeeping, own, or " */
static void add_words(struct text *out, const char *const *words, bool typed)
{
	bool many = words[1] && (words[2] || typed);

	text_add(out, many ? "one of " : "");
	text_add(out, words[0]);
	for (size_t i = 1; words[i]; i++) {
		text_add(out, words[i + 1] || typed ? ", " : " or ");
		text_add(out, words[i]);
	}
	if (typed)
		text_add(out, many ? ", or " : " or ");
}

static void add_range(struct text *out, const struct field *field)
{
	if (field->type == SCALAR_COUNT)
		text_printf(out, " from %" PRIu64 " to %" PRIu64, field->min, field->max);
	if (field->type != SCALAR_SIZE)
		return;
	cleanup_free char *min = size_format(field->min), *max = size_format(field->max);
	text_printf(out, " from %s to %s", min, max);
}

char *fields_takes(const struct field *field)
{
	const struct type *type = &types[field->type];
	struct text out = TEXT_INIT;

	if (field->words)
		add_words(&out, field->words, type->takes != NULL);
	if (type->takes) {
		text_add(&out, type->takes);
		add_range(&out, field);
	}
	if (type->shown)
		text_printf(&out, " such as %s", field->example);
	return text_take(&out);
}

static int word_of(const struct field *field, const char *text)
{
	for (int i = 0; field->words && field->words[i]; i++)
		if (strcmp(field->words[i], text) == 0)
			return i;
	return -1;
}

/* What is no longer kept needs no search for what was meant. */
static const char *meant(const struct field *field, const char *text,
			 const struct diag *diag)
{
	return field->words && !diag->dropped ? text_nearest(text, field->words) : NULL;
}

/* Nothing, or what stands for nothing in YAML. */
static bool empty(const char *text)
{
	return !*text || !strcmp(text, "~") || !strcmp(text, "null") ||
	       !strcmp(text, "Null") || !strcmp(text, "NULL");
}

static void report(const struct reading *reading, const struct yaml *yaml,
		   struct diag *diag)
{
	const struct field *field = reading->field;
	struct place place = yaml->place;

	if (reading->reason) {
		if (yaml->text_column)
			place.column = yaml->text_column + (unsigned)reading->at;
		diag_error(diag, place, NULL, "%s is \"%s\": %s", field->key, yaml->text,
			   reading->reason);
		return;
	}
	cleanup_free char *takes = fields_takes(field);
	const char *near = meant(field, yaml->text, diag);
	if (empty(yaml->text))
		diag_error(diag, place, NULL, "%s is empty, but takes %s", field->key,
			   takes);
	else if (near)
		diag_error(diag, place, NULL,
			   "%s is \"%s\", but takes %s; did you mean \"%s\"?", field->key,
			   yaml->text, takes, near);
	else
		diag_error(diag, place, NULL, "%s is \"%s\", but takes %s", field->key,
			   yaml->text, takes);
}

static bool read_word(const struct field *field, struct value *value)
{
	unsigned long long number;

	value->word = word_of(field, value->text);
	if (value->word < 0)
		return false;
	if (text_number(value->text, &number))
		value->number = number;
	return true;
}

bool scalar_read(const struct field *field, const struct yaml *yaml, struct value *ret,
		 struct diag *diag)
{
	const struct type *type = &types[field->type];
	struct reading reading = { .field = field, .text = yaml->text, .value = ret };

	ret->place = yaml->place;
	if (!yaml->text)
		return false;
	ret->text = xstrdup(yaml->text);
	if (read_word(field, ret) ||
	    (type->read && !empty(yaml->text) && type->read(&reading)))
		return true;
	report(&reading, yaml, diag);
	return false;
}

void scalar_done(struct value *value)
{
	free(value->text);
	free(value->cpus);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interpreter of field tables, each type of scalar, and what every table must have.
 */
#include "base/size.h"
#include "base/text.h"
#include "policy/host_policy.h"
#include "policy/policy.h"
#include "policy/scalars.h"
#include "tap.h"

/* What FIELD says to TEXT: "" if it is accepted, else the complaint without its place. */
static char *complaint(const struct field *field, const char *text, struct value *value)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *copy = xstrdup(text);
	struct yaml yaml = { .place = { "t", 1, 1 }, .text = copy, .text_column = 1 };

	if (scalar_read(field, &yaml, value, &diag))
		return xstrdup(diag.count ? "both" : "");
	return xstrdup(diag.count == 1 ? diag.findings[0].text : "none");
}

static bool accepts(const struct field *field, const char *text)
{
	struct value value = { .text = NULL };
	cleanup_free char *said = complaint(field, text, &value);

	scalar_done(&value);
	return !*said;
}

static void number_is(const struct field *field, const char *text, uint64_t want)
{
	struct value value = { .text = NULL };
	cleanup_free char *said = complaint(field, text, &value);

	is(said, "", "'%s' is accepted", text);
	ok(value.number == want && value.word == -1, "... as %ju", (uintmax_t)want);
	scalar_done(&value);
}

static void refused(const struct field *field, const char *text)
{
	ok(!accepts(field, text), "'%s' is refused", text);
}

static void counts(void)
{
	const struct field field = {
		.key = "k", .type = SCALAR_COUNT, .min = 2, .max = 64
	};

	number_is(&field, "2", 2);
	number_is(&field, "64", 64);
	refused(&field, "1");
	refused(&field, "65");
	refused(&field, "02");
	refused(&field, "+2");
	refused(&field, " 2");
	refused(&field, "2 ");
	refused(&field, "0x2");
	refused(&field, "2.0");
	refused(&field, "18446744073709551618"); /* 2^64 + 2 */
}

static void sizes(void)
{
	const struct field field = { .key = "k",
				     .type = SCALAR_SIZE,
				     .min = MIB,
				     .max = GIB,
				     .example = "8 MiB" };

	number_is(&field, "1 MiB", MIB);
	number_is(&field, "1G", GIB);
	number_is(&field, "80 MB", 80000000);
	refused(&field, "1 MB");
	refused(&field, "1048577 KiB1");
	refused(&field, "1025 MiB");
	refused(&field, "8");
	refused(&field, "99999999999 EiB");
}

static void names_and_paths(void)
{
	const struct field name = { .key = "k", .type = SCALAR_NAME, .example = "n" };
	const struct field path = { .key = "k", .type = SCALAR_PATH, .example = "/n" };
	const struct field pattern = { .key = "k",
				       .type = SCALAR_PATTERN,
				       .example = "/n" };

	ok(accepts(&name, "A-z_0.9+"), "a name");
	refused(&name, "a/b");
	refused(&name, "..");
	refused(&name, "-rf");
	refused(&name, "null");
	ok(accepts(&path, "/a b/{x}/\xc3\xa4"), "a path");
	refused(&path, "a/b");
	refused(&path, "/a\nb");
	ok(accepts(&pattern, "/{guest}{name}/{guest}"), "a pattern");
	refused(&pattern, "/{guest");
	refused(&pattern, "/{}");
	refused(&pattern, "/{guest}}");
	refused(&pattern, "{guest}");
}

static void words(void)
{
	static const char *const list[] = { "256", "off", "auto", NULL };
	const struct field alone = { .key = "k", .words = list };
	const struct field beside = {
		.key = "k", .words = list, .type = SCALAR_COUNT, .min = 1, .max = 9
	};
	struct value value = { .text = NULL }, other = { .text = NULL };
	cleanup_free char *none = complaint(&alone, "256", &value);
	cleanup_free char *near = complaint(&beside, "aut", &other);
	cleanup_free char *takes = fields_takes(&beside);

	is(none, "", "a word");
	ok(value.word == 0 && value.number == 256, "... that is a number");
	is(near,
	   "k is \"aut\", but takes one of 256, off, auto, or a whole number from 1 to "
	   "9; "
	   "did you mean \"auto\"?",
	   "a slip of the pen");
	is(takes, "one of 256, off, auto, or a whole number from 1 to 9",
	   "what it takes");
	number_is(&beside, "9", 9);
	refused(&alone, "9");
	refused(&alone, "Auto");
	scalar_done(&value);
	scalar_done(&other);
}

static void version_is(const char *text, uint64_t want, const char *back)
{
	uint64_t version = 0;
	bool parsed = version_parse(text, &version);
	cleanup_free char *format = version_format(version);

	ok(parsed && version == want, "version '%s'", text);
	is(format, back, "... is %s", back);
}

static void versions(void)
{
	static const char *const bad[] = { "",	      ".",	"9.",	  ".9",
					   "9..0",    "9.0.0.", "9.1000", "9.0.1000",
					   "12345",   "v9",	"9.0-1",  " 9",
					   "9.0.0.0", "-1" };
	uint64_t version = 7;
	size_t parsed = 0;

	version_is("9", 9000000, "9.0.0");
	version_is("7.2.22", 7002022, "7.2.22");
	version_is("16.07", 16007000, "16.7.0");
	version_is("9999.999.999", 9999999999, "9999.999.999");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		parsed += version_parse(bad[i], &version);
	ok(parsed == 0 && version == 7, "%zu that are none", ARRAY_SIZE(bad));
}

/* What a CPU list is refused for is pointed at in the list. */
static void columns(void)
{
	static const struct field fields[] = {
		{ .key = "k",
		  .type = SCALAR_CPUS,
		  .offset = sizeof(struct place),
		  .example = "1" },
		{ .key = NULL },
	};
	static const struct group group = { .name = "g",
					    .size = sizeof(struct place) +
						    sizeof(struct value),
					    .fields = fields };
	static const char text[] = "k: '0-3, 7-x'";
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_yaml struct yaml *yaml = yaml_parse("t", text, strlen(text), &diag);
	cleanup_free void *object = xcalloc(1, group.size);

	ok(!fields_read(&group, yaml, object, &diag), "a wrong CPU list is refused");
	ok(diag.count == 1 && diag.findings[0].column == 12, "... where it is wrong (%u)",
	   diag.findings[0].column);
	fields_done(&group, object);
}

/* Adds to *UNFIT the fields below GROUP that lack something or contradict themselves. */
static size_t walk(const struct group *group, size_t *unfit)
{
	size_t count = 0;

	for (const struct field *field = group->fields; field->key; field++, count++) {
		bool scalar = !field->group;
		const char *doc = field->doc	 ? field->doc
				  : field->group ? field->group->doc
						 : "";
		size_t length = strlen(doc);
		bool fit = length > 10 && doc[length - 1] == '.' &&
			   scalar == (field->example != NULL) &&
			   (!scalar || accepts(field, field->example)) &&
			   (!scalar || field->required || strstr(doc, "Not given: ")) &&
			   field->offset >= sizeof(struct place) &&
			   field->offset < group->size;

		if (!fit)
			note("%s.%s is not fit: %s", group->name, field->key, doc);
		*unfit += !fit;
		if (field->group)
			count += walk(field->group, unfit);
	}
	return count;
}

static void tables(void)
{
	size_t unfit = 0;
	size_t count = walk(&policy_group, &unfit) + walk(&host_policy_group, &unfit);

	ok(count > 90 && unfit == 0,
	   "%zu fields have an example that they take, and say what holds without them",
	   count);
}

int main(void)
{
	counts();
	sizes();
	names_and_paths();
	words();
	versions();
	columns();
	tables();
	return tap_done();
}

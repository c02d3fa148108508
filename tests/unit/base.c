/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU lists, sizes, text, diagnostics. */
#include "base/cpulist.h"
#include "base/cpuset.h"
#include "base/diag.h"
#include "base/size.h"
#include "base/text.h"
#include "random.h"
#include "tap.h"

static void list_is(const char *text, const char *want)
{
	struct cpuset set;
	cleanup_free char *got = NULL;

	if (cpuset_parse(text, &set, NULL, NULL))
		got = cpuset_format(&set);
	is(got, want, "CPU list '%s'", text);
}

static void list_fails(const char *text, size_t at)
{
	struct cpuset set;
	const char *error = NULL;
	size_t where = 0;
	bool parsed = cpuset_parse(text, &set, &error, &where);

	ok(!parsed && error && where == at, "CPU list '%s' is refused at %zu: %s (%zu)",
	   text, at, error ? error : "-", where);
}

static void cpu_lists(void)
{
	list_is("0", "0");
	list_is("1-3,7-19", "1-3,7-19");
	list_is("1,2,3", "1-3");
	list_is("3,1,2", "1-3");
	list_is("0-7,^3,^4", "0-2,5-7");
	list_is("0-1 , 3", "0-1,3");
	list_is("16383", "16383");
	list_is("63,64,65", "63-65");
	list_fails("", 0);
	list_fails("0-3x", 3);
	list_fails("0,", 2);
	list_fails(",0", 0);
	list_fails("3-1", 0);
	list_fails("^3", 0);
	list_fails("16384", 0);
	list_fails("99999999999999999999", 0);
	list_fails("0,^0", 4);
	list_fails("-1", 0);
	list_fails("1--2", 2);
	list_fails("0x10", 1);
}

/* Any set survives being written and read. */
static void cpu_list_round_trip(void)
{
	unsigned seed = 1, wrong = 0;

	for (int round = 0; round < 500; round++) {
		struct cpuset set = CPUSET_INIT, back;

		for (int i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			unsigned first = seed >> 18;
			cpuset_set_range(&set, first, first + (seed >> 8) % 5);
		}
		cleanup_free char *text = cpuset_format(&set);
		wrong += !cpuset_parse(text, &back, NULL, NULL) ||
			 !cpuset_equal(&set, &back);
	}
	ok(wrong == 0, "500 random sets survive being written and read");
}

static void size_is(const char *text, uint64_t want, const char *written)
{
	uint64_t bytes = 0;
	const char *error = NULL;
	bool parsed = size_parse(text, &bytes, &error);
	cleanup_free char *back = size_format(bytes);

	ok(parsed && bytes == want, "size '%s'", text);
	is(back, written, "'%s' is written", text);
}

/* A range is the numbers in it, wherever words begin and end. */
static void cpu_ranges(void)
{
	unsigned seed = 1, wrong = 0;

	for (int round = 0; round < 500; round++) {
		struct cpuset range = CPUSET_INIT, single = CPUSET_INIT;

		seed = seed * 1103515245 + 12345;
		unsigned first = seed >> 17;
		seed = seed * 1103515245 + 12345;
		unsigned last = round % 2 ? seed >> 17 : first + seed % 130;
		cpuset_set_range(&range, first, last);
		for (unsigned cpu = first; cpu <= last; cpu++)
			cpuset_set(&single, cpu);
		wrong += !cpuset_equal(&range, &single);
	}
	ok(wrong == 0, "500 random ranges, number by number");
}

/* Few or many, low or high: sets that use different numbers of words. */
static struct cpuset some_numbers(void)
{
	struct cpuset set = CPUSET_INIT;
	unsigned limit = below(3) ? 200 : CPUSET_MAX;

	for (unsigned ranges = below(8); ranges; ranges--) {
		unsigned first = below(limit);

		cpuset_set_range(&set, first, first + below(70));
	}
	return set;
}

/* What is done to sets, number by number. */
static bool agree(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset both = *a, either = *a, left = *a;
	bool fine = true, subset = true, meet = false, same = true;

	cpuset_and(&both, b);
	cpuset_or(&either, b);
	cpuset_andnot(&left, b);
	for (unsigned i = 0; i < CPUSET_MAX; i++) {
		bool in_a = cpuset_has(a, i), in_b = cpuset_has(b, i);

		fine &= cpuset_has(&both, i) == (in_a && in_b);
		fine &= cpuset_has(&either, i) == (in_a || in_b);
		fine &= (cpuset_next(&either, i) == i) == (in_a || in_b);
		fine &= cpuset_has(&left, i) == (in_a && !in_b);
		subset &= !in_a || in_b;
		meet |= in_a && in_b;
		same &= in_a == in_b;
	}
	return fine && cpuset_subset(a, b) == subset && cpuset_equal(a, b) == same &&
	       cpuset_intersects(a, b) == meet && cpuset_subset(&both, b) &&
	       cpuset_subset(b, &either) &&
	       cpuset_count(&left) + cpuset_count(&both) == cpuset_count(a);
}

static void cpu_sets(void)
{
	unsigned wrong = 0;

	for (int round = 0; round < 300; round++) {
		struct cpuset a = some_numbers(), b = some_numbers();
		struct cpulist list = cpulist_of(&a);
		struct cpuset back = cpulist_set(&list), cleared = a;

		cpuset_foreach (number, &a)
			cpuset_clear(&cleared, number);
		wrong += !agree(&a, &b) || !agree(&a, &a) || !agree(&cleared, &b) ||
			 !cpuset_empty(&cleared) || !cpuset_equal(&a, &back);
		cpulist_done(&list);
	}
	ok(wrong == 0, "300 pairs of random sets, number by number");
}

static void sizes(void)
{
	uint64_t bytes;
	const char *error;
	static const char *const bad[] = { "",
					   "8",
					   "GiB",
					   "8 XB",
					   "-8 GiB",
					   "8.5 GiB",
					   "8  GiB",
					   "8 GiBs",
					   "0x8 G",
					   "99999999999999999999 KiB",
					   "20000000 TiB" };

	size_is("80 GB", UINT64_C(80000000000), "78125000 KiB");
	size_is("8 GiB", 8 * GIB, "8 GiB");
	size_is("8G", 8 * GIB, "8 GiB");
	size_is("512 kib", 512 * KIB, "512 KiB");
	size_is("1000 bytes", 1000, "1000 bytes");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!size_parse(bad[i], &bytes, &error), "size '%s' is refused: %s",
		   bad[i], error);
}

static void words(void)
{
	static const char *const keys[] = { "vcpupin", "emulatorpin", "smt", NULL };

	is(text_nearest("vcpupins", keys), "vcpupin", "nearest to vcpupins");
	is(text_nearest("emulatorpn", keys), "emulatorpin", "nearest to emulatorpn");
	is(text_nearest("banana", keys), NULL, "nothing is near banana");
	cleanup_free char *escaped = text_escape_xml("a<b>&'\"");
	is(escaped, "a&lt;b&gt;&amp;&apos;&quot;", "XML is escaped");
}

static void diagnostics(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct place later = { "b.yaml", 9, 2 }, sooner = { "b.yaml", 3, 1 };
	char *printed = NULL;
	size_t length;

	diag_error(&diag, later, "some-rule", "bad %s", "\x1b[2J\n");
	diag_note(&diag, sooner, "first here");
	diag_warning(&diag, sooner, NULL, "odd");
	diag_sort(&diag);
	FILE *stream = open_memstream(&printed, &length);
	diag_print(&diag, stream, false);
	fclose(stream);
	is(printed,
	   "b.yaml:3:1: warning: odd\n"
	   "b.yaml:9:2: error: bad \\x1b[2J\\x0a [some-rule]\n"
	   "b.yaml:3:1: note: first here\n",
	   "findings are sorted, tamed and printed");
	free(printed);
	ok(diag.errors == 1, "errors are counted");
}

int main(void)
{
	cpu_lists();
	cpu_list_round_trip();
	cpu_ranges();
	cpu_sets();
	sizes();
	words();
	diagnostics();
	return tap_done();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TAP for C tests (cmocka 1.1.5 prints skips as failures). A test program is
 *
 *	int main(void)
 *	{
 *		ok(1 + 1 == 2, "sums");
 *		is(text, "expected", "name of %s", it);
 *		return tap_done();
 *	}
 */
#ifndef VMGEN_TAP_H
#define VMGEN_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned tap_run, tap_failed;

__attribute__((format(printf, 4, 5))) static inline bool tap_result(
	bool passed, const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("%sok %u - ", passed ? "" : "not ", ++tap_run);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	if (!passed) {
		tap_failed++;
		printf("#   at %s:%d\n", file, line);
	}
	fflush(stdout);
	return passed;
}

static inline bool tap_is(const char *got, const char *want)
{
	bool same = got == want || (got && want && strcmp(got, want) == 0);

	if (!same)
		printf("#   got:  %s\n#   want: %s\n", got ? got : "(null)",
		       want ? want : "(null)");
	return same;
}

#define ok(condition, ...) tap_result((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is(got, want, ...) \
	tap_result(tap_is((got), (want)), __FILE__, __LINE__, __VA_ARGS__)

/* What was measured, for whoever reads the log. */
#define note(...) (printf("# "), printf(__VA_ARGS__), putchar('\n'))

static inline void tap_skip(const char *why)
{
	printf("ok %u # SKIP %s\n", ++tap_run, why);
}

static inline int tap_done(void)
{
	printf("1..%u\n", tap_run);
	return tap_failed != 0;
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen doctor: whether this machine would keep its guests to their policies. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/checkup.h"
#include "cli/command.h"
#include "cli/load.h"
#include "machine/live.h"

static void say(const char *level, const char *colour, const char *topic,
		const char *format, va_list arguments)
	__attribute__((format(printf, 4, 0)));

static void say(const char *level, const char *colour, const char *topic,
		const char *format, va_list arguments)
{
	bool coloured = load_colour(STDOUT_FILENO);

	printf("%s%-7s%s  %s: ", coloured ? colour : "", level, coloured ? "\033[0m" : "",
	       topic);
	vprintf(format, arguments);
	putchar('\n');
}

void checkup_ok(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("ok", "\033[32m", topic, format, arguments);
	va_end(arguments);
}

void checkup_warning(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("warning", "\033[33m", topic, format, arguments);
	va_end(arguments);
}

void checkup_error(struct checkup *checkup, const char *topic, const char *format, ...)
{
	va_list arguments;

	checkup->errors++;
	va_start(arguments, format);
	say("error", "\033[31m", topic, format, arguments);
	va_end(arguments);
}

static char *place_of(const struct finding *finding)
{
	if (!finding->file)
		return xstrdup("");
	return finding->line ? xasprintf("%s:%u: ", finding->file, finding->line)
			     : xasprintf("%s: ", finding->file);
}

bool checkup_diag(struct checkup *checkup, const char *topic, const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++) {
		const struct finding *finding = &diag->findings[i];
		cleanup_free char *place = place_of(finding);

		if (finding->level == DIAG_ERROR)
			checkup_error(checkup, topic, "%s%s", place, finding->text);
		else
			checkup_warning(topic, "%s%s", place, finding->text);
	}
	return diag->count > 0;
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = live_host(&diag);
	struct checkup checkup = { .host = host, .store = STORE_INIT };

	(void)arguments;
	if (geteuid() != 0)
		checkup_warning("user", "not everything can be seen; run it as root");
	checkup_diag(&checkup, "host", &diag);
	store_load(&checkup.store, STORE_DIRECTORY);
	store_complete(&checkup.store);
	checkup_hook(&checkup);
	checkup_policies(&checkup);
	checkup_machine(&checkup);
	store_done(&checkup.store);
	return checkup.errors != 0;
}

static const struct option_row options[] = {
	OPTION_END,
};

const struct command command_doctor = {
	.name = "doctor",
	.words = "",
	.summary = "check that this machine will keep its guests to their policies",
	.options = options,
	.run = run,
};

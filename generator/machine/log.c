/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system's log. */
#include <stdarg.h>

#include "machine/log.h"

void log_guest(int level, const char *guest, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		abort();
	openlog("vmgen", LOG_PID, LOG_DAEMON);
	syslog(level, "%s: %s", guest, text);
}

static void log_finding(const char *guest, const struct finding *finding)
{
	static const int levels[] = {
		[DIAG_NOTE] = LOG_NOTICE,
		[DIAG_WARNING] = LOG_WARNING,
		[DIAG_ERROR] = LOG_ERR,
	};

	if (finding->file)
		log_guest(levels[finding->level], guest, "%s:%u:%u: %s", finding->file,
			  finding->line, finding->column, finding->text);
	else
		log_guest(levels[finding->level], guest, "%s", finding->text);
	for (size_t i = 0; i < finding->n_notes; i++)
		log_finding(guest, &finding->notes[i]);
}

void log_diag(const char *guest, const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++)
		log_finding(guest, &diag->findings[i]);
}

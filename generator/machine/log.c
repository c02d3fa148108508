/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system's log. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/log.h"

/* Not syslog(3), which waits where the log does not read: a guest would wait, too. */
static void send_line(const char *line)
{
	static const struct sockaddr_un address = { AF_UNIX, "/dev/log" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	sendto(fd, line, strlen(line), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       sizeof(address));
	close(fd);
}

void log_guest(int level, const char *guest, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		abort();
	cleanup_free char *line = xasprintf("<%d>vmgen[%d]: %s: %s", LOG_DAEMON | level,
					    (int)getpid(), guest, text);
	send_line(line);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who listens on a Unix socket. */
#include <stdio.h>

#include "base/text.h"
#include "machine/sockets.h"

/* __SO_ACCEPTCON of the kernel's flags: the socket listens. */
enum { ACCEPTS = 1 << 16 };

/* "Num RefCount Protocol Flags Type St Inode Path" */
static bool listens(const char *line, const char *path)
{
	unsigned flags;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) != 1 || !at)
		return false;
	return (flags & ACCEPTS) && text_equal(line + at, path);
}

bool sockets_listening(const char *path)
{
	FILE *stream = fopen("/proc/net/unix", "re");
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t length;
	bool found = !stream;

	while (!found && (length = getline(&line, &room, stream)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		found = listens(line, path);
	}
	if (stream)
		fclose(stream);
	return found;
}

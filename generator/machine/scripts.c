/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts written beside one another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "machine/scripts.h"

/* Readable and executable for all, as far as the umask lets it be. */
static bool write_script(int at, const char *name, const char *text)
{
	cleanup_free char *fresh = xasprintf("%s.new", name);
	size_t length = strlen(text);

	unlinkat(at, fresh, 0);
	int fd = openat(at, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0777);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!stream)
		return false;
	bool good = fwrite(text, 1, length, stream) == length;
	good = fclose(stream) == 0 && good;
	if (good && renameat(at, fresh, at, name) == 0)
		return true;
	unlinkat(at, fresh, 0);
	return false;
}

bool scripts_put(const char *directory, const char *name, const char *text,
		 struct diag *diag)
{
	bool made = mkdir(directory, 0755) == 0 || errno == EEXIST;
	int at = made ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool good = at >= 0;

	if (good && text)
		good = write_script(at, name, text);
	else if (good)
		good = unlinkat(at, name, 0) == 0 || errno == ENOENT;
	if (!good)
		diag_error(diag, (struct place){ directory, 0, 0 }, NULL,
			   "%s cannot be written here: %m", name);
	if (at >= 0)
		close(at);
	return good;
}

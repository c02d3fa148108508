/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files read whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/file.h"

static void close_pointer(int *fd)
{
	if (*fd > STDIN_FILENO)
		close(*fd);
}

/* -1 and a report when PATH is not a regular file that can be opened. */
static int open_regular(int directory, const char *path, int flags, struct place place,
			struct diag *diag)
{
	struct stat status;
	cleanup(close_pointer) int fd = openat(directory, path,
					       O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);

	if (fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW)) {
		diag_error(diag, place, NULL, "is a symbolic link; a file goes here");
		return -1;
	}
	if (fd < 0 || fstat(fd, &status)) {
		diag_error(diag, place, NULL, "cannot be opened: %s", strerror(errno));
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		diag_error(diag, place, NULL, "is %s, not a regular file",
			   S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
		return -1;
	}
	int opened = fd;
	fd = -1;
	return opened;
}

enum { BLOCK = 4096 };

/* All that is left in FD, or NULL and a report. What it seems to hold is where to begin:
 * those of proc are empty by that. */
static char *read_all(int fd, size_t max, size_t *ret_length, struct place place,
		      struct diag *diag)
{
	struct stat status;
	size_t size = fstat(fd, &status) || status.st_size < 0 ? 0
							       : (size_t)status.st_size;
	size_t length = 0, room = size ? (size < max ? size : max) + 1 : BLOCK;
	cleanup_free char *bytes = xmalloc(room + 1);
	ssize_t count;

	while ((count = read(fd, bytes + length, room - length)) > 0) {
		length += (size_t)count;
		if (length > max) {
			diag_error(diag, place, NULL, "holds more than %zu bytes", max);
			return NULL;
		}
		if (length == room)
			bytes = xreallocarray(bytes, (room *= 2) + 1, 1);
	}
	if (count < 0) {
		diag_error(diag, place, NULL, "cannot be read: %s", strerror(errno));
		return NULL;
	}
	bytes[length] = '\0';
	*ret_length = length;
	return take(bytes);
}

char *file_read(const char *path, size_t max, size_t *ret_length, struct diag *diag)
{
	bool input = text_equal(path, "-");
	struct place place = { .file = input ? "standard input" : path };
	cleanup(close_pointer) int fd = input ? STDIN_FILENO
					      : open_regular(AT_FDCWD, path, 0, place,
							     diag);

	return fd < 0 ? NULL : read_all(fd, max, ret_length, place, diag);
}

char *file_read_at(int directory, const char *name, const char *shown, size_t max,
		   size_t *ret_length, struct diag *diag)
{
	struct place place = { .file = shown };
	cleanup(close_pointer) int fd = open_regular(directory, name, O_NOFOLLOW, place,
						     diag);

	return fd < 0 ? NULL : read_all(fd, max, ret_length, place, diag);
}

bool file_write(int fd, const char *text)
{
	for (size_t length = strlen(text); length;) {
		ssize_t count = write(fd, text, length);

		if (count < 0 && errno != EINTR)
			return false;
		if (count > 0) {
			text += count;
			length -= (size_t)count;
		}
	}
	return true;
}

bool file_replace_at(int directory, const char *name, const char *text, mode_t mode)
{
	cleanup_free char *fresh = xasprintf("%s.new", name);

	/* What a killed writer or an ill-wisher left there is not written into. */
	unlinkat(directory, fresh, 0);
	cleanup(close_pointer) int fd = openat(
		directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		mode);
	if (fd < 0)
		return false;
	if (file_write(fd, text) && fsync(fd) == 0 &&
	    renameat(directory, fresh, directory, name) == 0)
		return true;
	int error = errno;
	unlinkat(directory, fresh, 0);
	errno = error;
	return false;
}

bool file_is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

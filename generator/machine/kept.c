/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Definitions of guests as they were before vmgen changed them, for `vmgen undo`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "guest/doc.h"
#include "machine/file.h"
#include "machine/kept.h"

static const char head[] = "<!-- vmgen: what came after this is ";

uint64_t kept_hash(const char *xml)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *xml; xml++)
		hash = (hash ^ (unsigned char)*xml) * UINT64_C(0x100000001b3);
	return hash;
}

/* While a change is being made; and when it is done. */
#define PENDING "pending.xml"
#define DONE "xml"

static char *directory(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (geteuid() == 0)
		return xstrdup("/var/lib/vmgen/kept");
	if (state && *state == '/')
		return xasprintf("%s/vmgen/kept", state);
	return xasprintf("%s/.local/state/vmgen/kept", home ? home : "");
}

/* All of PATH, the last of it for its owner alone. */
static bool make_directory(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
		*slash = '/';
		if (!made)
			return false;
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The directory, opened; -1 and a report when others could read or replace what is put
 * there. */
static int open_directory(struct diag *diag)
{
	cleanup_free char *path = directory();
	struct place place = { path, 0, 0 };
	struct stat status;

	if (!make_directory(path)) {
		diag_error(diag, place, NULL, "cannot be made: %m");
		return -1;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & 077))
		return fd;
	diag_error(diag, place, NULL,
		   "is open to others, or not ours; it keeps definitions with passwords: "
		   "chown it to the user and chmod it to 700");
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool keep(const char *uuid, const char *extension, uint64_t after,
		 const char *before, struct diag *diag)
{
	cleanup_free char *name = xasprintf("%s.%s", uuid, extension);
	cleanup_free char *text = xasprintf("%s%016" PRIx64 " -->\n%s", head, after,
					    before);
	int at = open_directory(diag);

	if (at < 0)
		return false;
	bool good = file_replace_at(at, name, text, 0600);
	if (!good) {
		cleanup_free char *path = directory();

		diag_error(diag, (struct place){ path, 0, 0 }, NULL,
			   "the definition before cannot be kept here: %m");
	}
	close(at);
	return good;
}

static char *path_of(const char *uuid, const char *extension)
{
	cleanup_free char *path = directory();

	return xasprintf("%s/%s.%s", path, uuid, extension);
}

bool kept_begin(const char *uuid, const char *before, struct diag *diag)
{
	return keep(uuid, PENDING, 0, before, diag);
}

bool kept_end(const char *uuid, const char *before, const char *after, struct diag *diag)
{
	if (!keep(uuid, DONE, kept_hash(after), before, diag))
		return false;
	kept_cancel(uuid);
	return true;
}

void kept_cancel(const char *uuid)
{
	cleanup_free char *path = path_of(uuid, PENDING);

	unlink(path);
}

void kept_drop(const char *uuid)
{
	cleanup_free char *path = path_of(uuid, DONE);

	unlink(path);
	kept_cancel(uuid);
}

char *kept_get(const char *uuid, uint64_t *ret_after, struct diag *diag)
{
	cleanup_free char *pending = path_of(uuid, PENDING);
	cleanup_free char *done = path_of(uuid, DONE);
	const char *path = access(pending, F_OK) == 0 ? pending : done;
	size_t length;

	if (access(path, F_OK) != 0) {
		diag_error(diag, (struct place){ path, 0, 0 }, NULL,
			   "is not there: vmgen did not change the definition of this "
			   "guest");
		return NULL;
	}
	cleanup_free char *text = file_read(path, DOC_BYTES, &length, diag);
	const char *line = text ? strchr(text, '\n') : NULL;
	if (!text)
		return NULL;
	if (!line || !text_starts(text, head)) {
		diag_error(diag, (struct place){ path, 1, 0 }, NULL,
			   "was not written by vmgen");
		return NULL;
	}
	*ret_after = strtoull(text + strlen(head), NULL, 16);
	return xstrdup(line + 1);
}

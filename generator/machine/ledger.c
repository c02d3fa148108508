/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The claims file and its lock. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/clock.h"
#include "machine/file.h"
#include "machine/heal.h"
#include "machine/ledger.h"

static const char claims_name[] = "claims", fresh_name[] = "claims.new",
		  bad_name[] = "claims.bad", lock_name[] = "lock";

/* A thousand guests take a quarter of one MiB. */
enum { CLAIMS_BYTES = 16 << 20 };

const struct ledger_places ledger_here = {
	.directory = "/run/vmgen",
	.status = "/run/libvirt/qemu",
	.proc = "/proc",
};

static bool fail(const struct ledger *ledger, const char *name, struct diag *diag,
		 const char *what, int error)
{
	cleanup_free char *path = xasprintf("%s%s%s", ledger->path, *name ? "/" : "",
					    name);

	diag_error(diag, (struct place){ .file = path }, NULL, "%s%s%s", what,
		   error ? ": " : "", error ? strerror(error) : "");
	return false;
}

/* The directory. */

static bool check_directory(const struct ledger *ledger, struct diag *diag)
{
	struct stat status;

	if (fstat(ledger->directory, &status) != 0)
		return fail(ledger, "", diag, "cannot be looked at", errno);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return fail(ledger, "", diag,
			    "belongs to another user than root; remove it", 0);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return fail(ledger, "", diag,
			    "others than its owner may write to it; chmod 755 it", 0);
	return true;
}

static bool open_directory(struct ledger *ledger, struct diag *diag)
{
	if (mkdir(ledger->path, 0755) != 0 && errno != EEXIST)
		return fail(ledger, "", diag, "cannot be made", errno);
	ledger->directory = open(ledger->path,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ledger->directory < 0 && errno == ENOTDIR)
		return fail(ledger, "", diag, "is no directory; remove it", 0);
	if (ledger->directory < 0)
		return fail(ledger, "", diag, "cannot be opened", errno);
	return check_directory(ledger, diag);
}

/* The lock. Whoever may open a file may lock it, so only its owner may. */

static bool open_lock(struct ledger *ledger, struct diag *diag)
{
	struct stat status;

	ledger->lock = openat(ledger->directory, lock_name,
			      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			      0600);
	if (ledger->lock < 0 && errno == ELOOP)
		return fail(ledger, lock_name, diag, "is a symbolic link; remove it", 0);
	if (ledger->lock < 0 || fstat(ledger->lock, &status) != 0)
		return fail(ledger, lock_name, diag, "cannot be opened", errno);
	if (!S_ISREG(status.st_mode))
		return fail(ledger, lock_name, diag, "is no regular file; remove it", 0);
	if (status.st_mode & 077 && fchmod(ledger->lock, 0600) != 0)
		return fail(ledger, lock_name, diag,
			    "may be locked by others than its owner; chmod 600 it", 0);
	return true;
}

/* Whether the lock is that of the file that is there now: somebody may have removed the
 * file that this one was opened from, and then others lock another. */
static bool lock_stands(const struct ledger *ledger)
{
	struct stat mine, there;

	return fstat(ledger->lock, &mine) == 0 &&
	       fstatat(ledger->directory, lock_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* The process that /proc/locks names for the lock, or 0. */
static unsigned lock_holder(const struct ledger *ledger, const char *proc)
{
	cleanup_free char *path = xasprintf("%s/locks", proc);
	cleanup_diag struct diag ignored = DIAG_INIT;
	struct stat status;
	size_t length;
	cleanup_free char *locks = file_read(path, 1 << 20, &length, &ignored);
	char *rest = locks, *line;

	if (!locks || fstat(ledger->lock, &status) != 0)
		return 0;
	while ((line = strsep(&rest, "\n"))) {
		unsigned long long inode;
		unsigned pid;

		if (sscanf(line, "%*u: FLOCK %*s %*s %u %*x:%*x:%llu", &pid, &inode) ==
			    2 &&
		    inode == status.st_ino)
			return pid;
	}
	return 0;
}

static bool fail_late(const struct ledger *ledger, const char *proc,
		      unsigned milliseconds, struct diag *diag)
{
	unsigned pid = lock_holder(ledger, proc);
	cleanup_free char *who = pid ? xasprintf("process %u", pid)
				     : xstrdup("another process");
	cleanup_free char *what = xasprintf("%s has held the claims for the %u ms that "
					    "were left to wait",
					    who, milliseconds);

	return fail(ledger, lock_name, diag, what, 0);
}

/* Attempts at growing intervals: a blocking flock() could be ended by a signal only, and
 * signals are not ours to take. */
static bool take_lock(struct ledger *ledger, const char *proc, unsigned milliseconds,
		      struct diag *diag)
{
	const int64_t end = clock_now(CLOCK_MONOTONIC) + milliseconds;
	long pause = 500000; /* nanoseconds */

	for (;;) {
		if (flock(ledger->lock, LOCK_EX | LOCK_NB) == 0) {
			if (lock_stands(ledger))
				return true;
			close(ledger->lock);
			if (!open_lock(ledger, diag))
				return false;
		} else if (errno != EWOULDBLOCK && errno != EINTR) {
			return fail(ledger, lock_name, diag, "cannot be locked", errno);
		}
		if (clock_now(CLOCK_MONOTONIC) >= end)
			return fail_late(ledger, proc, milliseconds, diag);
		nanosleep(&(struct timespec){ .tv_nsec = pause }, NULL);
		pause = pause < 8000000 ? pause * 2 : pause;
	}
}

/* The file. */

/* No file is no claims, and *ret_claims is then empty; NULL: what is in it is no claims,
 * and WHY says what is wrong. False and a report when it cannot be told. */
static bool read_claims(const struct ledger *ledger, struct claims **ret_claims,
			struct diag *why, struct diag *diag)
{
	cleanup_free char *path = xasprintf("%s/%s", ledger->path, claims_name);
	struct stat status;
	size_t length;

	if (fstatat(ledger->directory, claims_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno != ENOENT)
			return fail(ledger, claims_name, diag, "cannot be looked at",
				    errno);
		*ret_claims = xcalloc(1, sizeof(**ret_claims));
		return true;
	}
	cleanup_free char *text = file_read_at(ledger->directory, claims_name, path,
					       CLAIMS_BYTES, &length, diag);
	if (!text)
		return false;
	*ret_claims = claims_parse(path, text, length, why);
	return true;
}

static bool put_aside(const struct ledger *ledger, const struct diag *why,
		      struct diag *diag)
{
	const struct finding *first = &why->findings[0];
	struct place place = { first->file, first->line, first->column };

	if (renameat(ledger->directory, claims_name, ledger->directory, bad_name) != 0)
		return fail(ledger, claims_name, diag,
			    "is damaged and cannot be put aside as claims.bad", errno);
	diag_warning(diag, place, NULL,
		     "%s; the file is claims.bad now, and the claims are made anew",
		     first->text);
	return true;
}

static bool load(struct ledger *ledger, struct diag *diag)
{
	cleanup_diag struct diag why = DIAG_INIT;

	if (!read_claims(ledger, &ledger->claims, &why, diag))
		return false;
	if (ledger->claims)
		return true;
	ledger->claims = xcalloc(1, sizeof(*ledger->claims));
	return put_aside(ledger, &why, diag);
}

bool ledger_open(struct ledger *ledger, const struct ledger_places *places,
		 unsigned milliseconds, struct diag *diag)
{
	*ledger = (struct ledger)LEDGER_INIT;
	ledger->path = places->directory;
	if (open_directory(ledger, diag) && open_lock(ledger, diag) &&
	    take_lock(ledger, places->proc, milliseconds, diag) && load(ledger, diag) &&
	    heal(ledger->claims, places, diag))
		return true;
	ledger_close(ledger);
	return false;
}

/* What a killed writer or an ill-wisher left under the name is not written into. */
static bool write_fresh(const struct ledger *ledger, const char *text)
{
	unlinkat(ledger->directory, fresh_name, 0);
	int fd = openat(ledger->directory, fresh_name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	bool fine = fchmod(fd, 0644) == 0 && file_write(fd, text);
	int error = errno;
	fine = close(fd) == 0 && fine;
	errno = error;
	return fine;
}

bool ledger_write(struct ledger *ledger, struct diag *diag)
{
	cleanup_free char *text = claims_format(ledger->claims);

	if (write_fresh(ledger, text) &&
	    renameat(ledger->directory, fresh_name, ledger->directory, claims_name) == 0)
		return true;
	int error = errno;
	unlinkat(ledger->directory, fresh_name, 0);
	return fail(ledger, claims_name, diag, "cannot be written", error);
}

void ledger_close(struct ledger *ledger)
{
	if (ledger->lock >= 0)
		close(ledger->lock);
	if (ledger->directory >= 0)
		close(ledger->directory);
	claims_free(ledger->claims);
	*ledger = (struct ledger)LEDGER_INIT;
}

struct claims *ledger_look(const struct ledger_places *places, struct diag *diag)
{
	struct ledger ledger = LEDGER_INIT;
	struct claims *claims = NULL;

	ledger.path = places->directory;
	ledger.directory = open(ledger.path,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ledger.directory < 0 && errno == ENOENT)
		return xcalloc(1, sizeof(*claims));
	if (ledger.directory < 0)
		fail(&ledger, "", diag, "cannot be opened", errno);
	else if (!read_claims(&ledger, &claims, diag, diag))
		claims = NULL;
	ledger_close(&ledger);
	return claims;
}

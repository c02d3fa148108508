/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine as a host without hwloc. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/facts.h"
#include "machine/file.h"
#include "machine/snapshot.h"
#include "machine/sysfs.h"

enum { SNAPSHOT_BYTES = 4 << 20 };

/* The programs whose versions the snapshot holds. */
static const char *const programs[] = {
	"/usr/sbin/virtqemud",
	"/usr/sbin/libvirtd",
	"/usr/bin/qemu-system-x86_64",
	"/usr/bin/qemu-system-aarch64",
};

static void add_file(struct text *key, const char *path)
{
	cleanup_free char *text = sysfs_text("%s", path);

	text_printf(key, " %s", text ? text : "-");
}

/* What the snapshot stands and falls with, on one line. */
static char *make_key(void)
{
	struct text key = TEXT_INIT;
	struct stat status;

	text_add(&key, "# vmgen " VERSION);
	add_file(&key, "/proc/sys/kernel/random/boot_id");
	add_file(&key, "/sys/devices/system/cpu/online");
	add_file(&key, "/sys/devices/system/node/online");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (stat(programs[i], &status) == 0)
			text_printf(&key, " %jd.%09ld", (intmax_t)status.st_ctim.tv_sec,
				    status.st_ctim.tv_nsec);
	text_add(&key, "\n");
	return text_take(&key);
}

/* The snapshot's text if it is root's and of this key, or NULL. */
static char *read_fresh(const char *key, size_t *ret_length)
{
	cleanup_diag struct diag ignored = DIAG_INIT;
	struct stat status;

	if (lstat(SNAPSHOT_PATH, &status) || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid() || (status.st_mode & 022))
		return NULL;
	char *text = file_read(SNAPSHOT_PATH, SNAPSHOT_BYTES, ret_length, &ignored);
	if (text && text_starts(text, key))
		return text;
	free(text);
	return NULL;
}

/* Runs `vmgen host --snapshot`; the deadline is the hook's own. */
static bool refresh(struct diag *diag)
{
	static char program[] = BINDIR "/vmgen", command[] = "host",
		    option[] = "--snapshot";
	char *const arguments[] = { program, command, option, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	int error = posix_spawn(&child, program, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	if (!error && waitpid(child, &status, 0) == child && status == 0)
		return true;
	diag_error(
		diag, NOWHERE, NULL,
		"%s host --snapshot %s, so this machine is not known; run it by hand to "
		"see why",
		program, error ? strerror(error) : "failed");
	return false;
}

struct host *snapshot_load(struct diag *diag)
{
	cleanup_free char *key = make_key();
	size_t length;
	cleanup_free char *text = read_fresh(key, &length);

	if (!text && !refresh(diag))
		return NULL;
	if (!text)
		text = read_fresh(key, &length);
	if (!text) {
		diag_error(diag, NOWHERE, NULL,
			   "%s is not of this boot and these programs", SNAPSHOT_PATH);
		return NULL;
	}
	struct host *host = host_from_yaml(SNAPSHOT_PATH, text, length, diag);
	if (host)
		facts_memory(host, "");
	return host;
}

static bool write_failed(const char *what, struct diag *diag)
{
	diag_error(diag, (struct place){ SNAPSHOT_PATH, 0, 0 }, NULL, "%s: %s", what,
		   strerror(errno));
	return false;
}

bool snapshot_write(const struct host *host, struct diag *diag)
{
	static const char temporary[] = SNAPSHOT_PATH ".new";
	cleanup_free char *key = make_key();

	if (mkdir("/run/vmgen", 0755) && errno != EEXIST)
		return write_failed("its directory cannot be made", diag);
	unlink(temporary);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0644);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!stream)
		return write_failed("cannot be written", diag);
	fputs(key, stream);
	host_print(host, stream);
	bool failed = fflush(stream) || ferror(stream);
	if (fclose(stream) || failed || rename(temporary, SNAPSHOT_PATH))
		return write_failed("cannot be written", diag);
	return true;
}

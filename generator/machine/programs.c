/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Versions of the programs that run guests here. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/clock.h"
#include "machine/programs.h"
#include "policy/fields.h"

enum { DEADLINE_MS = 2000, OUTPUT_MAX = 4096 };

/* Not PATH: root's programs, wherever the caller's PATH points. */
static const char *const directories[] = {
	"/usr/local/sbin", "/usr/sbin", "/sbin",	"/usr/local/bin",
	"/usr/bin",	   "/bin",	"/usr/libexec", "/run/current-system/sw/bin",
};

struct child {
	pid_t pid; /* 0: none */
	int output;
	char text[OUTPUT_MAX];
	size_t length;
};

char *programs_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		cleanup_free char *path = xasprintf("%s/%s", directories[i], name);

		if (access(path, X_OK) == 0)
			return take(path);
	}
	return NULL;
}

/* The first of NAMES that is installed. */
static char *installed(const char *const *names)
{
	char *path = NULL;

	for (; !path && *names; names++)
		path = programs_find(*names);
	return path;
}

static pid_t spawn(const char *path, int output)
{
	char program[] = "program", option[] = "--version", locale[] = "LC_ALL=C";
	char *const arguments[] = { program, option, NULL };
	char *const environment[] = { locale, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;

	if (posix_spawn_file_actions_init(&actions))
		return 0;
	if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_adddup2(&actions, output, 1) ||
	    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
	    posix_spawn(&pid, path, &actions, NULL, arguments, environment))
		pid = 0;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static struct child start(const char *const *names)
{
	struct child child = { .pid = 0, .output = -1 };
	cleanup_free char *path = installed(names);
	int ends[2];

	if (!path || pipe2(ends, O_CLOEXEC))
		return child;
	child.pid = spawn(path, ends[1]);
	close(ends[1]);
	child.output = ends[0];
	return child;
}

/* Reads to the end of the output, of what we want of it, or of our patience. */
static uint64_t finish(struct child *child, int64_t deadline)
{
	while (child->pid && child->length < sizeof(child->text) - 1) {
		struct pollfd wait = { .fd = child->output, .events = POLLIN };
		int64_t left = deadline - clock_now(CLOCK_MONOTONIC);

		if (left <= 0 || poll(&wait, 1, (int)left) <= 0)
			break;
		ssize_t count = read(child->output, child->text + child->length,
				     sizeof(child->text) - 1 - child->length);
		if (count <= 0)
			break;
		child->length += (size_t)count;
	}
	if (child->output >= 0)
		close(child->output);
	if (!child->pid)
		return 0;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	child->text[child->length] = '\0';
	return programs_version_in(child->text);
}

uint64_t programs_version_in(const char *output)
{
	static const char digits[] = "0123456789";

	for (const char *at = strpbrk(output, digits); at; at = strpbrk(at, digits)) {
		size_t length = strspn(at, "0123456789.");
		cleanup_free char *word = xstrndup(at, length);
		uint64_t version;

		if (at > output && at[-1] == ' ' && strchr(word, '.') &&
		    version_parse(word, &version))
			return version;
		at += length;
	}
	return 0;
}

/* QEMU's name for a target where it differs from the kernel's. */
static const char *target(const char *arch)
{
	static const struct {
		const char *arch, *target;
	} names[] = {
		{ "i686", "i386" },
		{ "ppc64le", "ppc64" },
		{ "armv7l", "arm" },
		{ "armv6l", "arm" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].arch, arch))
			return names[i].target;
	return arch;
}

struct programs programs_versions(const char *arch)
{
	cleanup_free char *system = xasprintf("qemu-system-%s", target(arch));
	const char *const daemons[] = { "libvirtd", "virtqemud", NULL };
	const char *const emulators[] = { system, "qemu-kvm", "kvm", NULL };
	int64_t deadline = clock_now(CLOCK_MONOTONIC) + DEADLINE_MS;
	struct child libvirt = start(daemons), qemu = start(emulators);

	return (struct programs){
		.libvirt = finish(&libvirt, deadline),
		.qemu = finish(&qemu, deadline),
	};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who listens on a Unix socket. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "machine/sockets.h"

/* __SO_ACCEPTCON of the kernel's flags: the socket listens. */
enum { ACCEPTS = 1 << 16 };

/* The socket that is looked for. */
struct target {
	const char *path;
	bool exists;
	dev_t device; /* of its file */
	ino_t inode;
};

static struct target target_of(const char *path)
{
	struct target target = { .path = path };
	struct stat status;

	if (stat(path, &status) == 0 && S_ISSOCK(status.st_mode)) {
		target.exists = true;
		target.device = status.st_dev;
		target.inode = status.st_ino;
	}
	return target;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The kernel shows the path that was bound: another one may be the same file's, through a
 * link (/var/run) or in a container, whose root is ROOT. */
static bool same_file(const struct target *target, const char *root, const char *bound)
{
	struct stat status;

	if (!target->exists || strcmp(base_of(target->path), base_of(bound)) != 0)
		return false;
	cleanup_free char *path = xasprintf("%s%s", root, bound);
	return stat(path, &status) == 0 && status.st_dev == target->device &&
	       status.st_ino == target->inode;
}

/* "Num RefCount Protocol Flags Type St Inode Path" */
static bool listens(const char *line, const char *root, const struct target *target)
{
	unsigned flags;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) != 1 || !at ||
	    !(flags & ACCEPTS))
		return false;
	return (!*root && strcmp(line + at, target->path) == 0) ||
	       same_file(target, root, line + at);
}

/* Whether a table like /proc/net/unix has it; UNREADABLE when there is no such table. */
static bool table_has(const char *table, const char *root, const struct target *target,
		      bool unreadable)
{
	FILE *stream = fopen(table, "re");
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t length;
	bool found = !stream && unreadable;

	while (stream && !found && (length = getline(&line, &room, stream)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		found = listens(line, root, target);
	}
	if (stream)
		fclose(stream);
	return found;
}

/* Network namespaces that were looked at. */
struct seen {
	ino_t *items;
	size_t count;
};

static bool is_new(struct seen *seen, const char *process)
{
	cleanup_free char *path = xasprintf("%s/ns/net", process);
	struct stat status;

	if (stat(path, &status))
		return false;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i] == status.st_ino)
			return false;
	*append(seen->items, seen->count) = status.st_ino;
	return true;
}

/* A switch in a container lists its sockets in its own network namespace. */
static bool elsewhere(const struct target *target)
{
	struct seen seen = { NULL, 0 };
	DIR *directory = opendir("/proc");
	bool found = !directory;

	is_new(&seen, "/proc/self");
	for (struct dirent *entry; !found && (entry = readdir(directory));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		cleanup_free char *process = xasprintf("/proc/%s", entry->d_name);
		cleanup_free char *table = xasprintf("%s/net/unix", process);
		cleanup_free char *root = xasprintf("%s/root", process);

		found = is_new(&seen, process) && table_has(table, root, target, false);
	}
	if (directory)
		closedir(directory);
	free(seen.items);
	return found;
}

bool sockets_listening(const char *path)
{
	struct target target = target_of(path);

	return table_has("/proc/net/unix", "", &target, true) ||
	       (target.exists && elsewhere(&target));
}

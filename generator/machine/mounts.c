/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block devices, and what is mounted from them. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "host/reader.h"
#include "machine/mounts.h"
#include "machine/sysfs.h"

/* LVM on LUKS on MD on partitions is five. */
enum { STACK_MAX = 16 };

struct mount {
	char *directory;
	char *device;  /* block device's name; NULL: not from one */
	char *numbers; /* "259:1"; of the file system, so "0:41" where there is no device
			*/
	char *type;    /* "ext4" */
};

struct mounts {
	struct mount *items;
	size_t count;
};

static void mount_done(struct mount *mount)
{
	free(mount->directory);
	free(mount->device);
	free(mount->numbers);
	free(mount->type);
}

static void mounts_done(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		mount_done(&mounts->items[i]);
	free(mounts->items);
}

#define cleanup_mounts cleanup(mounts_done)

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Where PATH leads, or NULL; the caller frees it. */
static char *resolve(const char *root, const char *path)
{
	cleanup_free char *whole = xasprintf("%s%s", root, path);

	return realpath(whole, NULL);
}

/* The device of the last PCI function in a path below /sys/devices, or NULL. */
static struct host_device *pci_in(struct host *host, const char *path)
{
	struct host_device *found = NULL;

	while (*path) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");

		for (size_t i = 0; i < host->n_devices; i++)
			if (!strncmp(host->devices[i].pci, path, length) &&
			    !host->devices[i].pci[length])
				found = &host->devices[i];
		path += length;
	}
	return found;
}

/* What is told of each device that a block device is on. */
struct told {
	struct host *host;
	const char *root;
	const char *name, *mount; /* either may be NULL */
	bool any;		  /* a device was found */
};

static void tell(struct told *told, const char *path)
{
	struct host_device *device = pci_in(told->host, path);

	if (!device)
		return;
	told->any = true;
	if (told->name)
		host_add_text(&device->names, &device->n_names, told->name);
	if (told->mount)
		host_add_text(&device->mounts, &device->n_mounts, told->mount);
}

/* A name space that NVMe's own multipath joins hangs on all controllers of its subsystem:
 * links nvme0, nvme1 beside it. */
static void tell_controllers(struct told *told, const char *name_space)
{
	cleanup_free char *subsystem = xstrndup(
		name_space, (size_t)(strrchr(name_space, '/') - name_space));
	size_t count;
	char **names = sysfs_list(&count, "%s", subsystem);

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *link = xasprintf("%s/%s", subsystem, names[i]);
		cleanup_free char *path = realpath(link, NULL);

		if (path && text_starts(names[i], "nvme") && strcmp(path, link) != 0)
			tell(told, path);
	}
	free_names(names, count);
}

/* Down to whole disks; DEPTH ends loops, which the kernel does not make. */
static void tell_block(struct told *told, const char *name, unsigned depth)
{
	cleanup_free char *class = xasprintf("/sys/class/block/%s", name);
	cleanup_free char *path = resolve(told->root, class);
	size_t count;

	if (!path || depth == STACK_MAX)
		return;
	cleanup_free char *partition = sysfs_text("%s/partition", path);
	if (partition)
		*strrchr(path, '/') = '\0';
	char **slaves = sysfs_list(&count, "%s/slaves", path);
	for (size_t i = 0; i < count; i++)
		tell_block(told, slaves[i], depth + 1);
	if (!count && strstr(path, "/nvme-subsystem/"))
		tell_controllers(told, path);
	else if (!count)
		tell(told, path);
	free_names(slaves, count);
}

static void add_names(struct host *host, const char *root)
{
	size_t count;
	char **names = sysfs_list(&count, "%s/sys/block", root);

	for (size_t i = 0; i < count; i++) {
		struct told told = { .host = host, .root = root, .name = names[i] };
		cleanup_free char *path = xasprintf("%s/sys/block/%s/slaves", root,
						    names[i]);
		size_t slaves;
		uint64_t hidden = 0; /* one path of a multipath's name space */
		char **below = sysfs_list(&slaves, "%s", path);

		sysfs_number(&hidden, "%s/sys/block/%s/hidden", root, names[i]);
		if (!slaves && !hidden)
			tell_block(&told, names[i], 0);
		free_names(below, slaves);
	}
	free_names(names, count);
}

/* \040 is a space; the kernel writes so in mountinfo. In place. */
static char *unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned code;

		if (*from == '\\' && strspn(from + 1, "01234567") >= 3 &&
		    sscanf(from + 1, "%3o", &code) == 1) {
			*to = (char)(unsigned char)code;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* The name of the block device with these numbers; else, since btrfs has numbers of its
 * own, the name that /dev/NAME as source gives. NULL: there is none. */
static char *block_name(const char *root, const char *numbers, const char *source)
{
	cleanup_free char *dev = xasprintf("/sys/dev/block/%s", numbers);
	cleanup_free char *path = resolve(root, dev);

	if (!path && text_starts(source, "/dev/")) {
		cleanup_free char *class = xasprintf("/sys/class/block/%s",
						     strrchr(source, '/') + 1);
		path = resolve(root, class);
	}
	return path ? xstrdup(strrchr(path, '/') + 1) : NULL;
}

/* "36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw": proc(5). A mount hides
 * an earlier one on the same directory. */
static void add_line(struct mounts *mounts, const char *root, char *line)
{
	char *rest = line, *fields[6], *behind = strstr(line, " - ");

	if (!behind)
		return;
	*behind = '\0';
	behind += strlen(" - ");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!(fields[i] = strsep(&rest, " ")))
			return;
	char *type = strsep(&behind, " "), *source = strsep(&behind, " ");
	struct mount mount = {
		.directory = xstrdup(unescape(fields[4])),
		.device = block_name(root, fields[2], source ? unescape(source) : ""),
		.numbers = xstrdup(fields[2]),
		.type = xstrdup(type),
	};
	for (size_t i = 0; i < mounts->count; i++) {
		if (strcmp(mounts->items[i].directory, mount.directory) != 0)
			continue;
		mount_done(&mounts->items[i]);
		mounts->items[i] = mount;
		return;
	}
	*append(mounts->items, mounts->count) = mount;
}

static struct mounts read_mounts(const char *root)
{
	struct mounts mounts = { NULL, 0 };
	cleanup_free char *text = sysfs_text("%s/proc/self/mountinfo", root);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		add_line(&mounts, root, line);
	return mounts;
}

/* The mount that DIRECTORY would be on if nothing were mounted there, or NULL. */
static const struct mount *around(const struct mounts *mounts, const char *directory)
{
	const struct mount *longest = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->items[i];

		if (strcmp(mount->directory, directory) != 0 &&
		    host_path_is_below(directory, mount->directory) &&
		    (!longest || strlen(mount->directory) > strlen(longest->directory)))
			longest = mount;
	}
	return longest;
}

/* Bind mounts of files, and of directories around which the same file system is. Only
 * what is on a disk here is looked at: a server that is gone would hang whoever asks. */
static bool tells_nothing(const struct mounts *mounts, const struct mount *mount,
			  const char *root)
{
	const struct mount *outer = around(mounts, mount->directory);
	cleanup_free char *path = xasprintf("%s%s", root, mount->directory);
	struct stat status;

	if (outer && !strcmp(outer->numbers, mount->numbers))
		return true;
	return mount->device && stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* File systems without a block device where a guest's disks may be all the same. */
static bool holds_disks(const struct mount *mount)
{
	static const char *const types[] = { "9p",   "btrfs",	 "ceph", "cifs",
					     "gpfs", "nfs",	 "nfs4", "lustre",
					     "smb3", "virtiofs", "zfs" };

	if (mount->device)
		return !text_starts(mount->device, "loop");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(mount->type, types[i]))
			return true;
	return text_starts(mount->type, "fuse") || !strcmp(mount->directory, "/");
}

void mounts_add(struct host *host, const char *root)
{
	cleanup_mounts struct mounts mounts = read_mounts(root);

	add_names(host, root);
	for (size_t i = 0; i < mounts.count; i++) {
		const struct mount *mount = &mounts.items[i];
		struct told told = { .host = host,
				     .root = root,
				     .mount = mount->directory };

		if (!holds_disks(mount) || tells_nothing(&mounts, mount, root))
			continue;
		if (mount->device)
			tell_block(&told, mount->device, 0);
		if (!told.any)
			host_add_text(&host->other_mounts, &host->n_other_mounts,
				      mount->directory);
	}
}

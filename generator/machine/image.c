/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Image files of data disks: looked at, and made where there is none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/image.h"
#include "machine/interrupt.h"
#include "machine/qemu_img.h"

enum { IMAGE_MODE = 0600, BLOCK = 512 };

static bool fail(struct diag *diag, const char *path, const char *what)
{
	diag_error(diag, NOWHERE, "disk", "%s %s: %s", path, what, strerror(errno));
	return false;
}

bool image_look(const char *path, const char *format, struct image_seen *ret,
		struct diag *diag)
{
	struct image_seen seen = { .exists = true };
	struct stat status;

	if (stat(path, &status) == 0) {
		if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)) {
			diag_error(diag, NOWHERE, "disk",
				   "%s is neither a file nor a block device", path);
			return false;
		}
		if (format && !qemu_img_size(path, format, &seen.size, diag))
			return false;
	} else if (errno == ENOENT || errno == ENOTDIR) {
		seen.exists = false;
	} else {
		return fail(diag, path, "cannot be looked at");
	}
	*ret = seen;
	return true;
}

/* An image on its way. */
struct making {
	const char *path, *base; /* base: the name in its directory */
	const struct policy_disk *disk;
	int directory, fd;
	char *hidden; /* its name until it is whole; NULL: it has none */
	bool shown;   /* progress on the terminal */
};

static void making_done(struct making *making)
{
	if (making->shown)
		fputs("\r\033[K", stderr);
	if (making->hidden)
		unlinkat(making->directory, making->hidden, 0);
	free(making->hidden);
	if (making->fd >= 0)
		close(making->fd);
	if (making->directory >= 0)
		close(making->directory);
}

static bool open_directory(struct making *making, struct diag *diag)
{
	const char *slash = strrchr(making->path, '/');
	cleanup_free char *directory = xstrndup(making->path,
						(size_t)(slash + 1 - making->path));
	struct statvfs room;

	making->base = slash + 1;
	making->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (making->directory < 0 || fstatvfs(making->directory, &room))
		return fail(diag, directory, "cannot hold a disk");
	const struct image_room seen = { (uint64_t)room.f_bavail * room.f_frsize,
					 directory };
	return provision_fits(making->disk, &seen, diag);
}

/* Without a name it goes by itself, whatever befalls us. NFS and others want one. */
static bool open_file(struct making *making, struct diag *diag)
{
	making->fd = openat(making->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
			    IMAGE_MODE);
	for (unsigned i = 0; making->fd < 0 && i < 100; i++) {
		cleanup_free char *name = xasprintf(".%s.%d.%u", making->base, getpid(),
						    i);

		making->fd = openat(making->directory, name,
				    O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
				    IMAGE_MODE);
		if (making->fd >= 0)
			making->hidden = take(name);
		else if (errno != EEXIST)
			break;
	}
	return making->fd >= 0 || fail(diag, making->path, "cannot be made");
}

static void show(struct making *making)
{
	struct stat status;
	uint64_t size = making->disk->size.number;

	if (!given(&making->disk->preallocation) || !isatty(STDERR_FILENO) ||
	    fstat(making->fd, &status))
		return;
	uint64_t blocks = (uint64_t)status.st_blocks * BLOCK;
	making->shown = true;
	fprintf(stderr, "\r\033[K%s: %u %%", making->path,
		(unsigned)(blocks < size ? blocks * 100 / size : 100));
}

static bool look(void *data)
{
	show(data);
	return !interrupt_waits();
}

static bool fill(struct making *making, struct diag *diag)
{
	const struct policy_disk *disk = making->disk;
	const struct supervise_watch watch = { look, making };
	const struct qemu_img_create create = {
		.fd = making->fd,
		.format = given(&disk->format) ? disk->format.text : "raw",
		.preallocation = given(&disk->preallocation) ? disk->preallocation.text
							     : NULL,
		.size = disk->size.number,
		.watch = &watch,
	};

	return qemu_img_create(&create, making->path, diag);
}

/* linkat() gives a name only where there is none. */
static bool put(const struct making *making, const struct image_owner *owner,
		struct diag *diag)
{
	cleanup_free char *file = xasprintf("/proc/self/fd/%d", making->fd);

	if ((owner->known && fchown(making->fd, owner->user, owner->group)) ||
	    fchmod(making->fd, IMAGE_MODE) || fsync(making->fd) ||
	    linkat(AT_FDCWD, file, making->directory, making->base, AT_SYMLINK_FOLLOW))
		return fail(diag, making->path, "cannot be put in its place");
	if (fsync(making->directory) == 0)
		return true;
	fail(diag, making->path, "cannot be put on the disk for good");
	unlinkat(making->directory, making->base, 0);
	return false;
}

bool image_make(const char *path, const struct policy_disk *disk,
		const struct image_owner *owner, struct diag *diag)
{
	cleanup(making_done) struct making making = {
		.path = path,
		.disk = disk,
		.directory = -1,
		.fd = -1,
	};

	return open_directory(&making, diag) && open_file(&making, diag) &&
	       fill(&making, diag) && put(&making, owner, diag);
}

void image_remove(const char *path)
{
	unlink(path);
}

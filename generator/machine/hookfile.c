/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that libvirt runs as qemu hooks. */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/file.h"
#include "machine/hookfile.h"

enum { FILE_MAX = 256 << 20 };

void hookfiles_done(struct hookfiles *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free(files->items[i].version);
	}
	free(files->items);
}

/* Without a program header that asks for a loader. */
static bool static_elf(const char *data, size_t length)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (length < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(part))
		return false;
	for (size_t i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + i * sizeof(part);

		if (head.e_phoff > length || at + sizeof(part) > length)
			return false;
		memcpy(&part, data + at, sizeof(part));
		if (part.p_type == PT_INTERP)
			return false;
	}
	return true;
}

static char *version_in(const char *data, size_t length)
{
	const char *mark = memmem(data, length, HOOKFILE_MARK, strlen(HOOKFILE_MARK));

	return mark ? xstrdup(mark + strlen(HOOKFILE_MARK)) : NULL;
}

/* What a file system does not tell is told by the last change. */
static uint64_t birth(const char *path, const struct stat *status)
{
	struct statx more;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &more) == 0 &&
	    more.stx_mask & STATX_BTIME)
		return (uint64_t)more.stx_btime.tv_sec * 1000 +
		       more.stx_btime.tv_nsec / 1000000;
	return (uint64_t)status->st_ctim.tv_sec * 1000 +
	       (uint64_t)status->st_ctim.tv_nsec / 1000000;
}

/* Takes PATH. */
static void look(struct hookfiles *files, char *path)
{
	cleanup_diag struct diag ignored = DIAG_INIT;
	cleanup_free char *owned = path;
	struct stat status;
	size_t length = 0;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return;
	cleanup_free char *data = file_read(path, FILE_MAX, &length, &ignored);
	*append(files->items, files->count) = (struct hookfile){
		.path = take(owned),
		.executable = access(path, X_OK) == 0,
		.safe = status.st_uid == 0 && !(status.st_mode & 022),
		.is_static = data && static_elf(data, length),
		.version = data ? version_in(data, length) : NULL,
		.born = birth(path, &status),
	};
}

static int not_itself(const struct dirent *entry)
{
	return !text_equal(entry->d_name, ".") && !text_equal(entry->d_name, "..");
}

struct hookfiles hookfiles_find(const char *directory)
{
	struct hookfiles files = { NULL, 0 };
	cleanup_free char *more = xasprintf("%s/qemu.d", directory);
	struct dirent **entries = NULL;
	int count = scandir(more, &entries, not_itself, alphasort);

	look(&files, xasprintf("%s/qemu", directory));
	for (int i = 0; i < count; i++) {
		look(&files, xasprintf("%s/%s", more, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return files;
}

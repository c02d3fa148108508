/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests that may come back with the hardware that they were saved with. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/file.h"
#include "machine/saved.h"

static const char state_directory[] = "/var/lib/libvirt/qemu";

enum { SNAPSHOT_BYTES = 16 << 20 };

/* libvirt's own words, in files that only it writes. */
static bool holds_memory(const char *path)
{
	cleanup_diag struct diag ignored = DIAG_INIT;
	size_t length;
	cleanup_free char *text = file_read(path, SNAPSHOT_BYTES, &length, &ignored);

	return text && (strstr(text, "<memory snapshot='internal'") ||
			strstr(text, "<memory snapshot='external'"));
}

static bool snapshot_with_memory(const char *guest)
{
	cleanup_free char *directory = xasprintf("%s/snapshot/%s", state_directory,
						 guest);
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	bool found = false;

	while (stream && !found && (entry = readdir(stream))) {
		cleanup_free char *path = xasprintf("%s/%s", directory, entry->d_name);

		found = entry->d_name[0] != '.' && holds_memory(path);
	}
	if (stream)
		closedir(stream);
	return found;
}

bool saved_state(const char *guest)
{
	cleanup_free char *image = xasprintf("%s/save/%s.save", state_directory, guest);

	return access(image, F_OK) == 0 || snapshot_with_memory(guest);
}

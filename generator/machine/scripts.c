/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts written beside one another. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/file.h"
#include "machine/scripts.h"

bool scripts_put(const char *directory, const char *name, const char *text,
		 struct diag *diag)
{
	bool made = mkdir(directory, 0755) == 0 || errno == EEXIST;
	int at = made ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool good = at >= 0;

	if (good && text)
		good = file_replace_at(at, name, text, 0777);
	else if (good)
		good = unlinkat(at, name, 0) == 0 || errno == ENOENT;
	if (!good)
		diag_error(diag, (struct place){ directory, 0, 0 }, NULL,
			   "%s cannot be written here: %m", name);
	if (at >= 0)
		close(at);
	return good;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recorded domain XMLs, read in place; tests skip where they are absent. */
#ifndef VMGEN_CORPUS_H
#define VMGEN_CORPUS_H

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define CORPUS_DOMAINS "../shared/corpus/domains/*.xml"

struct corpus_file {
	const char *name;
	char *text;
	size_t length;
};

/* Calls EACH for every file, in the order of names; yields how many there were. */
static inline size_t corpus_each(void (*each)(const struct corpus_file *file, void *data),
				 void *data)
{
	glob_t found;

	if (glob(CORPUS_DOMAINS, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *stream = fopen(found.gl_pathv[i], "re");
		struct corpus_file file = { found.gl_pathv[i], NULL, 0 };
		size_t room = 0;
		ssize_t length = stream ? getdelim(&file.text, &room, '\0', stream) : -1;

		if (length >= 0) {
			file.length = (size_t)length;
			each(&file, data);
		}
		free(file.text);
		if (stream)
			fclose(stream);
	}
	size_t count = found.gl_pathc;
	globfree(&found);
	return count;
}

#endif

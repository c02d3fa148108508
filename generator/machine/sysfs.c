/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of proc and sys. */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "machine/file.h"
#include "machine/sysfs.h"

enum { FILE_MAX = 4 << 20 };

printf_like(1, 0) static char *format_path(const char *format, va_list arguments)
{
	char *path;

	if (vasprintf(&path, format, arguments) < 0)
		abort();
	return path;
}

static char *read_path(const char *path)
{
	cleanup_diag struct diag ignored = DIAG_INIT;
	size_t length;
	char *text = file_read(path, FILE_MAX, &length, &ignored);

	if (text && length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	return text;
}

char *sysfs_text(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cleanup_free char *path = format_path(format, arguments);
	va_end(arguments);
	return read_path(path);
}

bool sysfs_number(uint64_t *ret_number, const char *format, ...)
{
	unsigned long long number;
	va_list arguments;

	va_start(arguments, format);
	cleanup_free char *path = format_path(format, arguments);
	va_end(arguments);
	cleanup_free char *text = read_path(path);
	if (!text || !text_number(text, &number))
		return false;
	*ret_number = number;
	return true;
}

bool sysfs_cpus(struct cpuset *ret_set, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cleanup_free char *path = format_path(format, arguments);
	va_end(arguments);
	cleanup_free char *text = read_path(path);
	if (!text)
		return false;
	*ret_set = (struct cpuset)CPUSET_INIT;
	return !*text || cpuset_parse(text, ret_set, NULL, NULL);
}

char **sysfs_list(size_t *ret_count, const char *format, ...)
{
	struct dirent **entries;
	char **names = NULL;
	va_list arguments;

	*ret_count = 0;
	va_start(arguments, format);
	cleanup_free char *path = format_path(format, arguments);
	va_end(arguments);
	int count = scandir(path, &entries, NULL, alphasort);
	if (count < 0)
		return NULL;
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			*append(names, *ret_count) = xstrdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return names;
}

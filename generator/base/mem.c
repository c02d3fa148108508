/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocation that aborts. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void *checked(void *memory)
{
	if (!memory) {
		fputs("vmgen: out of memory\n", stderr);
		abort();
	}
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
	return checked(strndup(text, length));
}

char *xasprintf(const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return checked(length < 0 ? NULL : text);
}

void *mem_grow(void *items, size_t count, size_t size)
{
	if ((count & (count - 1)) == 0) /* 0, 1, 2, 4 ...: full */
		items = xreallocarray(items, count ? count * 2 : 1, size);
	memset((char *)items + count * size, 0, size);
	return items;
}

void mem_free_pointer(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}

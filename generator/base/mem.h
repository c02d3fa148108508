/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that aborts when there is none, and owners that clean up after themselves.
 *
 *	cleanup_free char *name = xstrdup(text);
 *	...
 *	return take(name);	the caller owns it now
 */
#ifndef VMGEN_MEM_H
#define VMGEN_MEM_H

#include <stddef.h>
#include <stdlib.h>

#define cleanup(function) __attribute__((cleanup(function)))
#define cleanup_free cleanup(mem_free_pointer)
#define printf_like(string, first) __attribute__((format(printf, string, first)))

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Hand over what a local owns: yields the pointer and leaves NULL behind. */
#define take(pointer)                                   \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

/* Make room for one more item at the end of ITEMS, which holds COUNT; yields a pointer
 * to it, zeroed. COUNT is raised. The array is owned by whoever owns ITEMS: free(). */
#define append(items, count) \
	((items) = mem_grow((items), (count), sizeof(*(items))), &(items)[(count)++])

/* All of these abort the program when memory is exhausted; none returns NULL. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *format, ...) printf_like(1, 2);

/* What append() is made of: grows at powers of two, zeroes the new item. */
void *mem_grow(void *items, size_t count, size_t size);

/* What cleanup_free is made of. */
void mem_free_pointer(void *pointer_to_pointer);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a tag, once libxml2 has found it well formed; on any other bytes: safe. */
#ifndef VMGEN_TAG_H
#define VMGEN_TAG_H

#include <stdbool.h>
#include <stddef.h>

/* An attribute: [start, end) with the space before it, its name, what its quotes hold. */
struct tag_attribute {
	size_t start, end;
	size_t name, name_end;
	size_t value, value_end;
};

enum tag_kind { TAG_START, TAG_EMPTY, TAG_END };

struct tag {
	enum tag_kind kind;
	size_t start, end;
	size_t name;
};

/* The tag that begins at *AT or behind it; *AT is moved behind the tag. Comments, CDATA
 * sections and processing instructions are passed over. False if there is none, or what
 * only a malformed document has. This is to skim a document that is long, not to read it:
 * what is found must be parsed. */
bool tag_next(const char *text, size_t *at, size_t limit, struct tag *ret_tag);
bool tag_is_named(const char *text, const struct tag *tag, const char *name);

size_t tag_skip_space(const char *text, size_t at, size_t limit);
/* The end of the element's name that begins at AT. */
size_t tag_skip_name(const char *text, size_t at, size_t limit);

/* The attribute at *AT, which is moved behind it; false if none ends before LIMIT. Takes
 * all that libxml2 takes. */
bool tag_attribute_next(const char *text, size_t *at, size_t limit,
			struct tag_attribute *ret_attribute);

#endif

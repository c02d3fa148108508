/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of fields: what a YAML document may hold, as data.
 *
 * One table drives the parser, its checks, the JSON Schema (`vmgen schema`), and the
 * manual page. It stays simple under one rule: a union is words plus at most one scalar
 * type, and no key takes both a scalar and a mapping.
 */
#ifndef VMGEN_FIELDS_H
#define VMGEN_FIELDS_H

#include <stdint.h>

#include "base/cpuset.h"
#include "base/diag.h"
#include "policy/yaml.h"

/* What a scalar may be besides one of the field's words. Never "null" or "~" (but for
 * a word): whoever writes these means that there is no value. */
enum scalar {
	SCALAR_NONE,	/* only the words */
	SCALAR_TEXT,	/* anything not empty */
	SCALAR_NAME,	/* letters, digits, and "._-+", not beginning with "-" or "." */
	SCALAR_BOOL,	/* yes, no, true, false, on, off */
	SCALAR_COUNT,	/* a whole number from min to max, without leading zeros */
	SCALAR_SIZE,	/* a size with its unit; min and max are bytes */
	SCALAR_CPUS,	/* a list of small numbers as libvirt writes it */
	SCALAR_PATH,	/* an absolute path on one line */
	SCALAR_PATTERN, /* a path with {guest} and {name}; no other braces */
	SCALAR_VERSION, /* 9, 9.0 or 9.0.0 */
};

enum shape {
	SHAPE_SCALAR, /* struct value */
	SHAPE_LIST, /* struct values: a sequence of scalars, or one scalar for one item */
	SHAPE_GROUP,  /* a struct beginning with struct place: a mapping */
	SHAPE_GROUPS, /* struct groups: a sequence of mappings */
};

/* A scalar that was read. place.line is 0 when it was not given; all else is 0 then. */
struct value {
	struct place place;
	char *text; /* as written */
	int word;   /* index of the word that it is, or -1; meaningless when not given */
	/* Of COUNT, SIZE (bytes), BOOL (0, 1), VERSION (version_parse), and of a word
	 * that is a number. */
	uint64_t number;
	struct cpuset *cpus; /* of CPUS; NULL when it is a word */
};

struct values {
	struct place place;
	struct value *items;
	size_t count;
};

/* A sequence of mappings; items is an array of the struct that the group describes. */
struct groups {
	struct place place;
	void *items;
	size_t count;
};

struct field {
	const char *key;
	enum shape shape;
	enum scalar type;
	size_t offset; /* of the member in the struct that the group describes */
	const char *const *words;  /* ends with NULL, or NULL */
	uint64_t min, max;	   /* of COUNT and SIZE */
	const struct group *group; /* of GROUP and GROUPS */
	bool required;
	const char *example; /* a value that is accepted; not of groups */
	const char *doc; /* for schema and manual; NULL of GROUP: its group's says it */
};

struct group {
	const char *name; /* "policy", "interface": for messages */
	size_t size;	  /* of the struct; its first member is its struct place */
	const struct field *fields; /* ends with a NULL key */
	const char *doc;
};

/* Reads YAML into RET, a zeroed struct as GROUP describes it: all faults are reported,
 * with the nearest known key for an unknown one. False when there was any; what RET then
 * owns is still to be freed with fields_done(). */
bool fields_read(const struct group *group, const struct yaml *yaml, void *ret,
		 struct diag *diag);
/* The same from TEXT, the faults of YAML and of fields in one run. FILE names it in
 * places and must live as long as RET. */
bool fields_parse(const struct group *group, const char *file, const char *text,
		  size_t length, void *ret, struct diag *diag);
void fields_done(const struct group *group, void *object);

/* What a scalar of FIELD may be, for messages and the manual: "one of dedicated, shared,
 * or a list such as 1-3,7-19"; the caller frees it. */
char *fields_takes(const struct field *field);

static inline bool given(const struct value *value)
{
	return value->place.line != 0;
}

/* 9.0.0 as 9000000, as libvirt counts (major * 1000000 + minor * 1000 + release). */
bool version_parse(const char *text, uint64_t *ret_version);
/* "9.0.0"; the caller frees it. */
char *version_format(uint64_t version);

#endif

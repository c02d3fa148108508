/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YAML as a tree in which every node knows its place. The only file that knows libyaml.
 *
 * Scalars are text: no YAML 1.1 surprises ("no", "1e3", "0x10" stay as written). Refused,
 * each with one line: anchors, aliases, tags, duplicate keys, keys that are not scalars,
 * a second document, NULs and other control characters, invalid UTF-8, nesting beyond
 * YAML_DEPTH, more than YAML_NODES nodes, more than YAML_BYTES bytes.
 *
 * The tree is freed by yaml_tree_free(): libyaml exports a yaml_free() of its own, and
 * would call ours in its place.
 */
#ifndef VMGEN_YAML_H
#define VMGEN_YAML_H

#include <stdbool.h>

#include "base/diag.h"

enum { YAML_DEPTH = 16, YAML_NODES = 100000, YAML_BYTES = 4 << 20 };

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml {
	enum yaml_kind kind;
	struct place place; /* where it begins */
	/* Of a scalar. NULL, only after yaml_salvage(): what stood here has been
	 * reported. */
	char *text;
	/* Column of the text's first byte where the file has it byte for byte on the line
	 * of place, so that an offset in it can be pointed at; else 0. */
	unsigned text_column;
	struct yaml **keys;  /* of a mapping: scalars, one for each item */
	struct yaml **items; /* of a sequence or mapping */
	size_t count;
};

#define cleanup_yaml cleanup(yaml_free_pointer)

/* The tree of the one document in TEXT of LENGTH bytes, or NULL. FILE names it in places
 * and must live as long as the tree. As many faults as can be seen are reported. */
struct yaml *yaml_parse(const char *file, const char *text, size_t length,
			struct diag *diag);

/* As yaml_parse(), for callers that want to report their own faults in the same run: what
 * can be read beside the faults, in which case *RET_SOUND is false. NULL when nothing
 * can. */
struct yaml *yaml_salvage(const char *file, const char *text, size_t length,
			  bool *ret_sound, struct diag *diag);

/* As yaml_salvage(), but of a mapping no more than it takes to find KEYS (the last is
 * NULL): most of a file is then not read, and its faults are not seen. */
struct yaml *yaml_head(const char *file, const char *text, size_t length,
		       const char *const *keys, struct diag *diag);

void yaml_tree_free(struct yaml *yaml);
void yaml_free_pointer(struct yaml **yaml);

/* The value of KEY in a mapping, or NULL; also NULL when YAML is no mapping. */
const struct yaml *yaml_get(const struct yaml *yaml, const char *key);

#endif

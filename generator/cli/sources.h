/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that lint reads, and what each of them is. */
#ifndef VMGEN_SOURCES_H
#define VMGEN_SOURCES_H

#include "base/diag.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

enum source_kind {
	SOURCE_POLICY,
	SOURCE_HOST_POLICY,
	SOURCE_HOST,
	SOURCE_DOMAIN,
	SOURCE_UNKNOWN,
};

struct source {
	char *path;
	bool found; /* in a directory, not named by the user */
	char *text; /* NULL: could not be read */
	size_t length;
	enum source_kind kind;
	struct policy *policy;		 /* of SOURCE_POLICY, NULL if it is faulty */
	struct host_policy *host_policy; /* likewise */
	struct diag diag;		 /* what was found in it */
};

struct sources {
	struct source *items; /* by path, each once */
	size_t count;
};

#define cleanup_sources cleanup(sources_done)

/* The COUNT files that WORDS name; of a directory all *.yaml, *.yml and *.xml in it and
 * below, without hidden ones. What cannot be looked at is reported to DIAG. */
struct sources sources_find(const char *const *words, size_t count, struct diag *diag);
void sources_done(struct sources *sources);

/* Reads each file, tells what it is, and parses policies and host policies: by several
 * threads where there are many, since that is most of the work of lint. */
void sources_load(struct sources *sources);

/* NULL when there is none of that path. */
const struct source *source_of(const struct sources *sources, const char *path);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vmgen is a compiler; this is its one pipeline. Read it first.
 *
 *	policy (YAML) ─┐               ┌─► placement ──► claim
 *	host ──────────┼──► compile ───┼─► edits ──────► domain XML
 *	claims ────────┤               ├─► companions, if asked for
 *	domain XML ────┘               └─► diagnostics
 *
 * It is pure: no clock, no environment, no files. Same input, same outcome, byte for
 *byte.
 */
#ifndef VMGEN_COMPILE_H
#define VMGEN_COMPILE_H

#include "edits/companion.h"
#include "edits/control.h"
#include "edits/edits.h"
#include "placement/claims.h"
#include "rules/rules.h"

/* All borrowed; all but policy, host, doc and guest may be NULL. */
struct input {
	const struct policy *policy;
	const struct host *host;
	const struct host_policy *host_policy;
	const struct claims *claims;
	struct doc *doc;	   /* gains fresh containers; its text stays what it is */
	const struct guest *guest; /* of doc */
	const struct levels *levels; /* of the rules */
	bool replace;		     /* look for a better place than the one it has */
	bool fixed;   /* the guest has run with this hardware: none is added */
	bool running; /* its memory is where it is bound, and stays there */
	bool records; /* whoever asks makes its data disks, and wants them recorded */
	const struct cpuset *usable; /* CPUs that guests\' cgroup may use; NULL: all */
	bool made;	 /* doc was made from a template: its topology is ours too */
	bool companions; /* make them, too */
	enum control control;
};

struct outcome {
	struct placement *placement;
	struct edits edits;
	char *xml;		      /* doc with all edits made */
	struct claim claim;	      /* what the guest takes when it runs */
	char *companions[COMPANIONS]; /* scripts for the switch; NULL: none */
};

#define OUTCOME_INIT                                      \
	{                                                 \
		NULL, EDITS_INIT, NULL, { .name = NULL }, \
		{                                         \
			NULL                              \
		}                                         \
	}
#define cleanup_outcome cleanup(outcome_done)

/* False when the policy cannot be met, and the reasons are in DIAG; then there is no
 * outcome. Warnings do not fail. */
bool compile(const struct input *input, struct outcome *ret_outcome, struct diag *diag);
void outcome_done(struct outcome *outcome);

#endif

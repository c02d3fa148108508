/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Controls: the deliberately mis-tuned twin of a guest, one rule broken, for A/B runs
 * ("purposely mis-tune your environment to validate your settings").
 */
#ifndef VMGEN_CONTROL_H
#define VMGEN_CONTROL_H

#include "edits/edits.h"

enum control {
	CONTROL_NONE,
	CONTROL_REMOTE_MEMORY,	  /* memory on the node farthest from the vCPUs */
	CONTROL_REMOTE_CPU,	  /* the guest away from what the policy wants near */
	CONTROL_SHARE_SMT,	  /* vCPUs as siblings, whatever smt says */
	CONTROL_FLOAT,		  /* no pins at all */
	CONTROL_EMULATOR_ON_VCPU, /* emulator and I/O threads on the vCPUs' CPUs */
	CONTROL_SMALL_QUEUES,	  /* vhost-user rings of 256 and one queue */
	CONTROL_NO_HUGEPAGES,	  /* normal pages, shared if they were shared */
};

/* control_words[control] is its name on the command line; ends with NULL. */
extern const char *const control_words[];

/* A policy with one thing broken: a copy that borrows all but the interfaces. */
struct control_policy {
	struct policy policy;
	struct policy_interface *interfaces;
};

void control_policy_init(struct control_policy *twin, const struct policy *policy,
			 enum control control);
void control_policy_done(struct control_policy *twin);

/* What has to be broken in the plan rather than in the policy; false and a report when
 * the host cannot do it wrong (one node has no remote memory). */
bool control_plan(struct plan *plan, enum control control, struct diag *diag);

/* Takes out of the document what the twin must not have. */
void control_edits(struct edits *edits, const struct plan *plan, enum control control);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What render, rewrite and diff share: everything loaded, then compiled. */
#ifndef VMGEN_JOB_H
#define VMGEN_JOB_H

#include "cli/command.h"
#include "compile.h"

struct job {
	struct policy **policies; /* all that were loaded; policy is one of them */
	size_t n_policies;
	const struct policy *policy;
	struct host *host;
	struct host_policy *host_policy;
	struct claims *claims;
	struct doc *doc;
	struct guest *guest;
	struct cpuset usable; /* CPUs that guests here may use; empty: all */
	bool fixed;	      /* the guest runs with the hardware that it has */
	bool records;	      /* its data disks are made here, and recorded */
	struct outcome outcome;
	struct diag diag;
};

#define JOB_INIT                                           \
	{                                                  \
		.outcome = OUTCOME_INIT, .diag = DIAG_INIT \
	}
#define cleanup_job cleanup(job_done)

/* The options that job_load() understands. */
#define JOB_OPTIONS                                                                   \
	OPTION_HOST, OPTION_HOST_POLICY, OPTION_CLAIMS,                               \
		{ "control", 0, "NAME",                                               \
		  "break one rule on purpose: remote-memory, remote-cpu, share-smt, " \
		  "float, emulator-on-vcpu, small-queues, no-hugepages" },            \
	{                                                                             \
		"replace", 0, NULL,                                                   \
			"look for a better place even where the present one will do"  \
	}

#define OPTION_COMPANION                                                            \
	{                                                                           \
		"companion", 0, "DIR",                                              \
			"write the commands for the guest's switch into files here" \
	}

/* The host, the host policy and the claims. */
bool job_load(struct job *job, const struct arguments *arguments);

/* The policy in the file PATH, or those in the directory PATH. */
bool job_load_policies(struct job *job, const char *path);

/* The next domain, in place of the one before: XML, called NAME in messages. */
bool job_next(struct job *job, const char *name, const char *xml);

/* Of the policies that were loaded, the one that the guest names or matches;
 * job->policy is NULL when it is under none. */
bool job_choose(struct job *job);

/* The domain in FILE, and the policy for it: the one in POLICY, or of the policies in the
 * directory POLICY the one that the guest names or matches. */
bool job_load_domain(struct job *job, const char *policy, const char *file);

/* Compiles, and writes the companions if --companion says where; MADE as in struct input.
 */
bool job_compile(struct job *job, const struct arguments *arguments, bool made);

/* Prints the findings and yields the exit status. */
int job_report(struct job *job);
void job_done(struct job *job);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests that libvirt knows, brought to their policies: what apply and worker share. */
#ifndef VMGEN_CONFORM_H
#define VMGEN_CONFORM_H

#include "cli/job.h"
#include "connect/domain.h"
#include "machine/store.h"
#include "verify.h"

struct conform {
	struct job job;
	struct connection *connection;
	const struct arguments *arguments;
	struct store store;    /* of policies, without --policy */
	struct claims planned; /* of guests that do not run yet */
	const char *policies;  /* --policy, or NULL */
	const char *uri;       /* set before it is opened, without --connect; or NULL */
	bool read_only;	       /* set before it is opened: nothing will be changed */
	bool one;  /* --policy is a file: for guests that are named it is the policy */
	bool here; /* the guests run on this machine */
	bool root; /* and we may see to their claims */
};

#define CONFORM_INIT                                 \
	{                                            \
		.job = JOB_INIT, .store = STORE_INIT \
	}
#define cleanup_conform cleanup(conform_done)

/* The options that conform_open() understands, beside those of job_load(). */
#define OPTION_POLICY                                                       \
	{                                                                   \
		"policy", 0, "PATH",                                        \
			"the policy, or a directory of policies (default: " \
			"/etc/vmgen/policies)"                              \
	}
#define CONFORM_OPTIONS OPTION_POLICY, OPTION_CONNECT

/* Connects, and loads policies, host, host policy and claims: of this machine, or of the
 * one that the connection leads to. */
bool conform_open(struct conform *conform, const struct arguments *arguments);
void conform_done(struct conform *conform);

/* Compiles the guest as it is defined, or as it runs: the next of the job. True without
 * an outcome when it is under no policy (job.policy is NULL). */
bool conform_compile(struct conform *conform, struct domain *domain,
		     enum domain_view view);

/* The guests that follow keep off what the one that was compiled last will take when it
 * runs, if they can: there may be more guests than fit at once. */
void conform_plan(struct conform *conform);

/* How the guest runs, if that is on this machine; else false and a report. */
bool conform_observe(struct conform *conform, struct domain *domain,
		     struct seen *ret_seen, struct diag *diag);

/* Moves the threads of the running guest that was compiled last (DOMAIN_LIVE) to where
 * the outcome has them, unless another guest was given these CPUs meanwhile. */
bool conform_pin(struct conform *conform, struct domain *domain);

/* Makes the data disks that the guest that was compiled last (DOMAIN_DEFINITION) lacks,
 * and gives it the definition in the outcome, unless its definition is no longer what was
 * compiled, or a disk is not as it must be. The one before is kept. */
bool conform_define(struct conform *conform, struct domain *domain);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policies of this machine: the YAML files in /etc/vmgen/policies and
 * /etc/vmgen/host.yaml.
 *
 * What is broken concerns only the guests that it names or matches: a broken policy stays
 * in the list with what could be read of it. Files and directories that others than root
 * may write to are as good as broken: the hook runs as root on what they say.
 */
#ifndef VMGEN_STORE_H
#define VMGEN_STORE_H

#include "base/diag.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

#define STORE_DIRECTORY "/etc/vmgen"

struct store {
	struct policy **policies; /* sound and broken */
	char **faults;		  /* faults[i]: what is wrong with policies[i], or NULL */
	size_t n_policies;
	struct host_policy *host_policy; /* NULL: none, or broken */
	char *host_fault;		 /* what is wrong with the host policy, or NULL */
};

#define STORE_INIT                        \
	{                                 \
		NULL, NULL, 0, NULL, NULL \
	}
#define cleanup_store cleanup(store_done)

/* Never fails: no directory is no policies. */
void store_load(struct store *store, const char *directory);
void store_done(struct store *store);

/* The policy for a guest of this name, METADATA being what its own metadata names (or
 * NULL); *ret_policy is NULL when none concerns it. False and a report when two tie, or
 * the one that concerns it is broken, or the host policy lets metadata not choose it. */
bool store_choose(const struct store *store, const char *guest, const char *metadata,
		  const struct policy **ret_policy, struct diag *diag);

#endif

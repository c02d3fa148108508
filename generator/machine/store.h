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

/* The file is read when the store is loaded, its head parsed, and all the rest only if it
 * is chosen. */
struct store_policy {
	struct policy *policy; /* sound or broken; name and match, or all of it */
	char *text;	       /* of the file; NULL: it cannot be read, or is parsed */
	size_t length;
	char *fault; /* what is wrong with it, or NULL */
};

struct store {
	struct store_policy *policies;
	size_t n_policies;
	bool safe;			 /* their directory is root's */
	struct host_policy *host_policy; /* NULL: none, or broken */
	char *host_fault;		 /* what is wrong with the host policy, or NULL */
};

#define STORE_INIT                         \
	{                                  \
		NULL, 0, false, NULL, NULL \
	}
#define cleanup_store cleanup(store_done)

/* Never fails: no directory is no policies. */
void store_load(struct store *store, const char *directory);
/* All of each policy, for whoever wants to judge them all. */
void store_complete(struct store *store);
void store_done(struct store *store);

/* The policy for a guest of this name, METADATA being what its own metadata names (or
 * NULL); *ret_policy is NULL when none concerns it. False and a report when two tie, or
 * the one that concerns it is broken, or the host policy lets metadata not choose it. */
bool store_choose(struct store *store, const char *guest, const char *metadata,
		  const struct policy **ret_policy, struct diag *diag);

#endif

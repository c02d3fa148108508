/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies, the host policy, and whether they fit this machine. */
#include "cli/checkup.h"
#include "rules/rules.h"

static struct rule_input input_of(const struct checkup *checkup,
				  const struct policy *policy)
{
	return (struct rule_input){
		.policy = policy,
		.host_policy = checkup->store.host_policy,
		.host = checkup->host,
		.libvirt = checkup->host ? checkup->host->libvirt : 0,
		.qemu = checkup->host ? checkup->host->qemu : 0,
	};
}

static void check_host_policy(struct checkup *checkup)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct rule_input input = input_of(checkup, NULL);

	if (checkup->store.host_fault)
		checkup_error(checkup, "host policy", "%s", checkup->store.host_fault);
	else if (!checkup->store.host_policy)
		checkup_ok("host policy", "none; every CPU may be a guest's");
	if (!checkup->store.host_policy)
		return;
	rules_run(RULE_HOST_POLICY, &input, NULL, NULL, NULL, &diag);
	if (!checkup_diag(checkup, "host policy", &diag))
		checkup_ok("host policy", "%s fits this host",
			   checkup->store.host_policy->file);
}

static void check_policy(struct checkup *checkup, const struct policy *policy)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct rule_input input = input_of(checkup, policy);

	rules_run(RULE_POLICY, &input, NULL, NULL, NULL, &diag);
	if (!checkup_diag(checkup, "policy", &diag))
		checkup_ok("policy", "%s", policy->file);
}

/* What two of them say of each other. */
static void check_set(struct checkup *checkup)
{
	const struct store *store = &checkup->store;
	cleanup_free const struct policy **sound = xcalloc(store->n_policies,
							   sizeof(const struct policy *));
	cleanup_diag struct diag diag = DIAG_INIT;
	struct rule_input input = input_of(checkup, NULL);

	for (size_t i = 0; i < store->n_policies; i++)
		if (!store->policies[i].fault)
			sound[input.n_policies++] = store->policies[i].policy;
	input.policies = sound;
	rules_run(RULE_SET, &input, NULL, NULL, NULL, &diag);
	checkup_diag(checkup, "policies", &diag);
}

void checkup_policies(struct checkup *checkup)
{
	const struct store *store = &checkup->store;

	check_host_policy(checkup);
	for (size_t i = 0; i < store->n_policies; i++) {
		const struct store_policy *stored = &store->policies[i];

		if (stored->fault)
			checkup_error(checkup, "policy", "%s", stored->fault);
		else
			check_policy(checkup, stored->policy);
	}
	check_set(checkup);
	if (!store->n_policies)
		checkup_warning("policies",
				"there are none in " STORE_DIRECTORY "/policies, so no "
				"guest is asked for anything");
}

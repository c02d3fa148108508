/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on the names, queues and sockets of a policy's devices. */
#include <string.h>

#include "base/text.h"
#include "rules/rules.h"

enum { SOCKET_PATH_MAX = 108 };

static const struct policy_disk *disks(const struct rule_input *input)
{
	return input->policy->disks.items;
}

static const struct policy_interface *interfaces(const struct rule_input *input)
{
	return input->policy->interfaces.items;
}

static int value_order(const void *left, const void *right)
{
	const struct value *const *a = left, *const *b = right;
	int order = strcmp((*a)->text, (*b)->text);

	if (order)
		return order;
	return *a < *b ? -1 : *a > *b;
}

/* Sorts VALUES and reports each that an earlier one is equal to. */
static void repeated(const struct rule_run *run, const struct value **values,
		     size_t count, const char *what)
{
	if (count)
		qsort(values, count, sizeof(*values), value_order);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(values[i - 1]->text, values[i]->text) != 0)
			continue;
		rule_report(run, values[i]->place,
			    "a second %s \"%s\"; give each its own", what,
			    values[i]->text);
		rule_note(run, values[i - 1]->place, "the first one");
	}
}

static void names(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free const struct value **values = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->policy->disks.count; i++)
		*append(values, count) = &disks(input)[i].name;
	for (size_t i = 0; i < input->policy->interfaces.count; i++)
		*append(values, count) = &interfaces(input)[i].name;
	repeated(run, values, count, "device of the name");
}

static void targets(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free const struct value **values = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->policy->disks.count; i++)
		if (given(&disks(input)[i].target))
			*append(values, count) = &disks(input)[i].target;
	repeated(run, values, count, "disk with the target");
}

static void queues(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *vcpus = &input->policy->domain.vcpus;

	if (!given(vcpus))
		return;
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct value *count = &disks(input)[i].queues;

		if (given(count) && count->number > vcpus->number)
			rule_report(run, count->place,
				    "%s queues for %s vCPUs: the guest uses one for "
				    "each; say at most %s",
				    count->text, vcpus->text, vcpus->text);
	}
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct value *count = &interfaces(input)[i].queues;

		if (given(count) && count->number > vcpus->number)
			rule_report(run, count->place,
				    "%s queues for %s vCPUs: the guest uses one for "
				    "each; say auto",
				    count->text, vcpus->text);
	}
}

static bool server(const struct policy_interface *interface)
{
	return given(&interface->source.mode) &&
	       interface->source.mode.word == SOCKET_SERVER;
}

static void reconnect(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];

		if (given(&interface->reconnect) && server(interface))
			rule_report(run, interface->reconnect.place,
				    "reconnect is for mode client, and libvirt refuses "
				    "it for a server, which waits for its peer; remove "
				    "it");
	}
}

static void reconnect_missing(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];

		if (!given(&interface->reconnect) && !server(interface))
			rule_report(run, interface->place,
				    "a client without reconnect: when the switch "
				    "restarts the interface is dead until the guest "
				    "restarts; add reconnect: 10");
	}
}

/* As the first guest that comes to mind would expand it. */
static void path(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;
	const char *guest = given(&policy->domain.name) ? policy->domain.name.text : "";

	for (size_t i = 0; i < policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];
		const struct value *pattern = &interface->source.path;

		if (!given(pattern))
			continue;
		cleanup_free char *full = policy_expand(pattern->text, guest,
							interface->name.text);

		if (strlen(full) >= SOCKET_PATH_MAX)
			rule_report(
				run, pattern->place,
				"the socket's path is %zu bytes long once filled in, and "
				"the start fails; at most %d fit",
				strlen(full), SOCKET_PATH_MAX - 1);
	}
}

static void path_shared(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;

	for (size_t i = 0; i < policy->interfaces.count; i++) {
		const struct value *pattern = &interfaces(input)[i].source.path;

		if (!given(pattern))
			continue;
		if (!strstr(pattern->text, "{name}") && policy->interfaces.count > 1)
			rule_report(
				run, pattern->place,
				"several interfaces and no {name} in the path: if it is "
				"not this one's alone they meet on one socket; add "
				"{name}");
		else if (!strstr(pattern->text, "{guest}") && policy->match.name.count)
			rule_report(run, pattern->place,
				    "no {guest} in the path, so all guests of this "
				    "policy meet on one socket; add {guest}");
	}
}

const struct rule rules_policy_devices[] = {
	{ "policy-device-name", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, names,
	  "two disks or interfaces of one name",
	  "Devices that vmgen makes carry the alias ua-vmgen-NAME, by which it knows "
	  "them again, and libvirt refuses two devices with one alias." },
	{ "policy-target-duplicate", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, targets,
	  "two disks with one target", "See disk-target." },
	{ "policy-queues", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, queues,
	  "more queues than vCPUs", "See queues-vcpus and disk-queues-vcpus." },
	{ "policy-reconnect", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, reconnect,
	  "reconnect on the socket's server", "See vhost-reconnect." },
	{ "policy-reconnect-missing", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING,
	  reconnect_missing, "a client that does not come back when the switch restarts",
	  "See vhost-reconnect-missing." },
	{ "policy-path", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, path,
	  "a socket's path that is too long once filled in", "See vhost-path." },
	{ "policy-path-shared", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, path_shared,
	  "interfaces or guests that meet on one socket",
	  "{guest} and {name} in the path stand for the guest's and the interface's "
	  "name. Without them several devices use one socket; see vhost-path-server and "
	  "vhost-path-shared." },
	{ .id = NULL },
};

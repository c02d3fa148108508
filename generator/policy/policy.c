/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy from its text, and the one that applies to a guest. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "policy/policy.h"

struct policy *policy_parse(const char *file, const char *text, size_t length,
			    struct diag *diag)
{
	struct policy *policy = xcalloc(1, sizeof(*policy));

	policy->file = xstrdup(file);
	if (fields_parse(&policy_group, policy->file, text, length, policy, diag))
		return policy;
	policy_free(policy);
	return NULL;
}

/* What a file is called stands for a policy's name that cannot be read. */
static void name_after(struct policy *policy, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	free(policy->name.text);
	policy->name.text = xstrndup(name, dot ? (size_t)(dot - name) : strlen(name));
}

struct policy *policy_salvage(const char *file, const char *text, size_t length,
			      bool *ret_sound, struct diag *diag)
{
	struct policy *policy = xcalloc(1, sizeof(*policy));

	policy->file = xstrdup(file);
	*ret_sound = fields_parse(&policy_group, policy->file, text, length, policy,
				  diag);
	if (!policy->name.text)
		name_after(policy, file);
	return policy;
}

struct policy *policy_skim(const char *file, const char *text, size_t length)
{
	static const char *const keys[] = { "policy", "match", NULL };
	struct policy *policy = xcalloc(1, sizeof(*policy));
	cleanup_diag struct diag ignored = DIAG_INIT;

	policy->file = xstrdup(file);
	cleanup_yaml struct yaml *yaml = yaml_head(policy->file, text, length, keys,
						   &ignored);
	if (yaml)
		fields_read(&policy_group, yaml, policy, &ignored);
	if (!policy->name.text)
		name_after(policy, file);
	return policy;
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	fields_done(&policy_group, policy);
	free(policy->file);
	free(policy);
}

static bool matches(const struct policy *policy, const char *guest)
{
	const struct values *names = &policy->match.name;

	for (size_t i = 0; i < names->count; i++)
		if (names->items[i].text && fnmatch(names->items[i].text, guest, 0) == 0)
			return true;
	return false;
}

static bool named(const struct policy *const *policies, size_t count, const char *guest,
		  const char *metadata, const struct policy **ret_policy,
		  struct diag *diag)
{
	cleanup_free const char **names = NULL;
	size_t n_names = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(policies[i]->name.text, metadata) == 0) {
			*ret_policy = policies[i];
			return true;
		}
	}
	for (size_t i = 0; i < count; i++)
		*append(names, n_names) = policies[i]->name.text;
	*append(names, n_names) = NULL;
	const char *near = text_nearest(metadata, names);
	diag_error(
		diag, NOWHERE, NULL,
		"guest %s names the policy \"%s\" in its metadata, but there is none of "
		"that name%s%s%s",
		guest, metadata, near ? "; did you mean \"" : "", near ? near : "",
		near ? "\"?" : "");
	return false;
}

static uint64_t priority(const struct policy *policy)
{
	return policy->match.priority.number;
}

static bool refuse_tie(const struct policy *a, const struct policy *b, const char *guest,
		       struct diag *diag)
{
	diag_error(
		diag, b->match.place, NULL,
		"guest %s matches the policies \"%s\" and \"%s\" with the same priority "
		"%" PRIu64 "; give one a higher match.priority",
		guest, a->name.text, b->name.text, priority(a));
	diag_note(diag, a->match.place, "the other one is here");
	return false;
}

bool policy_choose(const struct policy *const *policies, size_t count, const char *guest,
		   const char *metadata, const struct policy **ret_policy,
		   struct diag *diag)
{
	const struct policy *best = NULL, *rival = NULL;

	if (metadata)
		return named(policies, count, guest, metadata, ret_policy, diag);
	for (size_t i = 0; i < count; i++) {
		if (!matches(policies[i], guest))
			continue;
		if (best && priority(policies[i]) == priority(best)) {
			rival = policies[i];
		} else if (!best || priority(policies[i]) > priority(best)) {
			best = policies[i];
			rival = NULL;
		}
	}
	if (rival)
		return refuse_tie(best, rival, guest, diag);
	*ret_policy = best;
	return true;
}

const struct place *policy_vhostuser(const struct policy *policy)
{
	const struct policy_interface *interfaces = policy->interfaces.items;
	const struct policy_disk *disks = policy->disks.items;

	if (policy->interfaces.count)
		return &interfaces->place;
	for (size_t i = 0; i < policy->disks.count; i++)
		if (given(&disks[i].socket))
			return &disks[i].place;
	return NULL;
}

/* What stands for the {guest} or {name} that AT begins with, or NULL. */
static const char *replacement(const char *at, const char *guest, const char *name)
{
	if (text_starts(at, "{guest}"))
		return guest;
	return text_starts(at, "{name}") ? name : NULL;
}

char *policy_expand(const char *pattern, const char *guest, const char *name)
{
	struct text out = TEXT_INIT;

	while (*pattern) {
		const char *text = replacement(pattern, guest, name);

		if (text)
			text_add(&out, text);
		else
			text_add_bytes(&out, pattern, 1);
		pattern = text ? strchr(pattern, '}') + 1 : pattern + 1;
	}
	return text_take(&out);
}

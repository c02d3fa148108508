/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on policies and guests that live side by side: what no file shows by itself. */
#include <fnmatch.h>
#include <string.h>

#include "base/text.h"
#include "rules/globs.h"
#include "rules/pools.h"
#include "rules/rules.h"

/* One pattern of one policy. */
struct pattern {
	const struct policy *policy;
	const struct value *name;
	struct glob *glob; /* where patterns are compared; NULL: not one that can be */
};

static int name_order(const void *left, const void *right)
{
	const struct policy *const *a = left, *const *b = right;
	int order = strcmp((*a)->name.text, (*b)->name.text);

	if (order)
		return order;
	return strcmp((*a)->file, (*b)->file);
}

static void names(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free const struct policy **sorted = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->n_policies; i++)
		*append(sorted, count) = input->policies[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), name_order);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i - 1]->name.text, sorted[i]->name.text) != 0)
			continue;
		rule_report(
			run, sorted[i]->name.place,
			"a second policy \"%s\", and guests that name it get either one; "
			"rename it",
			sorted[i]->name.text);
		rule_note(run, sorted[i - 1]->name.place, "the first one");
	}
}

/* The characters of PATTERN before its first wildcard. */
static size_t stem(const char *pattern)
{
	return strcspn(pattern, "*?[\\");
}

static bool literal(const char *pattern)
{
	return !pattern[stem(pattern)];
}

/* What PATTERN matches begins with its stem, and so must TEXT. */
static bool continues(const char *text, const char *pattern)
{
	return strncmp(text, pattern, stem(pattern)) == 0;
}

static uint64_t priority(const struct pattern *pattern)
{
	return pattern->policy->match.priority.number;
}

/* Rivals of the same text are neighbours. */
static int pattern_order(const void *left, const void *right)
{
	const struct pattern *a = left, *b = right;
	int order = strcmp(a->name->text, b->name->text);

	if (order)
		return order;
	if (priority(a) != priority(b))
		return priority(a) < priority(b) ? -1 : 1;
	order = strcmp(a->policy->file, b->policy->file);
	if (order)
		return order;
	return a->name < b->name ? -1 : a->name > b->name;
}

static bool rivals(const struct pattern *a, const struct pattern *b)
{
	return a->policy != b->policy && priority(a) == priority(b);
}

static void conflict(const struct rule_run *run, const struct pattern *first,
		     const struct pattern *second, const char *guests)
{
	rule_report(
		run, second->name->place,
		"guests \"%s\" match policy %s and policy %s, both of priority %llu, and "
		"are refused; raise match.priority of one",
		guests, first->policy->name.text, second->policy->name.text,
		(unsigned long long)priority(second));
	rule_note(run, first->name->place, "the other match");
}

/* Lists of names that long are not written by people; what is beyond is not compared. */
enum { COMPARISONS_MAX = 10000000 };

static void literals(const struct rule_run *run, const struct pattern *all, size_t count)
{
	cleanup_free const struct pattern **globs = NULL;
	size_t n_globs = 0, left = COMPARISONS_MAX;

	for (size_t i = 0; i < count; i++)
		if (!literal(all[i].name->text))
			*append(globs, n_globs) = &all[i];
	for (size_t i = 0; i < count && left >= n_globs; i++) {
		if (!literal(all[i].name->text))
			continue;
		left -= n_globs;
		for (size_t k = 0; k < n_globs; k++)
			if (continues(all[i].name->text, globs[k]->name->text) &&
			    rivals(&all[i], globs[k]) &&
			    fnmatch(globs[k]->name->text, all[i].name->text, 0) == 0)
				conflict(run, globs[k], &all[i], all[i].name->text);
	}
}

/* Of all policies, sorted; the caller frees them. */
static struct pattern *patterns_of(const struct rule_input *input, size_t *ret_count)
{
	struct pattern *all = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->n_policies; i++) {
		const struct values *list = &input->policies[i]->match.name;

		for (size_t k = 0; k < list->count; k++)
			*append(all, count) = (struct pattern){ input->policies[i],
								&list->items[k], NULL };
	}
	if (count)
		qsort(all, count, sizeof(*all), pattern_order);
	*ret_count = count;
	return all;
}

static void matches(const struct rule_input *input, const struct rule_run *run)
{
	size_t count = 0;
	cleanup_free struct pattern *all = patterns_of(input, &count);

	for (size_t i = 1; i < count; i++)
		if (strcmp(all[i - 1].name->text, all[i].name->text) == 0 &&
		    rivals(&all[i - 1], &all[i]))
			conflict(run, &all[i - 1], &all[i], all[i].name->text);
	literals(run, all, count);
}

static size_t read_globs(struct pattern *all, size_t count, size_t *steps)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (literal(all[i].name->text))
			continue;
		all[i].glob = glob_read(all[i].name->text, steps);
		if (all[i].glob)
			all[kept++] = all[i];
	}
	return kept;
}

static void compare(const struct rule_run *run, const struct pattern *a,
		    const struct pattern *b, size_t *steps)
{
	char sample[GLOB_SAMPLE];

	if (!rivals(a, b) || strcmp(a->name->text, b->name->text) == 0 ||
	    !globs_meet(a->glob, b->glob, steps, sample))
		return;
	rule_report(
		run, b->name->place,
		"a guest of a name like \"%s\" matches policy %s and policy %s, both of "
		"priority %llu, and is refused; raise match.priority of one",
		sample, a->policy->name.text, b->policy->name.text,
		(unsigned long long)priority(b));
	rule_note(run, a->name->place, "the other match");
}

/* Two patterns can only meet if one continues the other's stem; sorted, all that continue
 * one stem are neighbours. Each pair is compared from the shorter stem, or the later. */
static void ambiguous(const struct rule_input *input, const struct rule_run *run)
{
	size_t count = 0, left = COMPARISONS_MAX / 10, steps = 2 * COMPARISONS_MAX;
	cleanup_free struct pattern *all = patterns_of(input, &count);

	count = read_globs(all, count, &steps);
	for (size_t i = 0; i < count && left; i++) {
		const char *text = all[i].name->text;
		size_t first = i, end = i + 1;

		while (first && left && continues(all[first - 1].name->text, text))
			first--, left--;
		while (end < count && left && continues(all[end].name->text, text))
			end++, left--;
		for (size_t k = first; k < i; k++)
			compare(run, &all[k], &all[i], &steps);
		for (size_t k = i + 1; k < end; k++)
			if (stem(all[k].name->text) > stem(text))
				compare(run, &all[i], &all[k], &steps);
	}
	for (size_t i = 0; i < count; i++)
		free(all[i].glob);
}

static void pools(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset seen = CPUSET_INIT;

	for (size_t i = 0; i < input->n_policies; i++) {
		const struct value *pin = &input->policies[i]->cputune.vcpupin;
		struct cpuset common;

		if (!given(pin) || !pin->cpus)
			continue;
		common = *pin->cpus;
		cpuset_and(&common, &seen);
		cpuset_or(&seen, pin->cpus);
		if (cpuset_empty(&common))
			continue;
		cleanup_free char *what = cpuset_format(&common);

		rule_report(run, pin->place,
			    "CPU %s is in the vcpupin of another policy too, so guests "
			    "of both cannot run together; name other CPUs, or say "
			    "dedicated",
			    what);
	}
}

/* CPUs that the guest of POLICY's <domain> takes for itself; 0 where that is not said. */
static uint64_t takes(const struct policy *policy, unsigned threads)
{
	const struct value *pin = &policy->cputune.vcpupin, *smt = &policy->cputune.smt;

	if (!given(&policy->domain.vcpus) || !given(pin) ||
	    pin->word != VCPUPIN_DEDICATED)
		return 0;
	return policy->domain.vcpus.number *
	       (given(smt) && smt->word == SMT_ISOLATE ? threads : 1);
}

static bool served(const struct host_policy *owner, const struct policy *policy)
{
	for (size_t i = 0; i < owner->policies.count; i++)
		if (text_equal(owner->policies.items[i].text, policy->name.text))
			return true;
	return false;
}

static void capacity(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset pool = pools_dedicated(input->host, input->host_policy);
	unsigned have = cpuset_count(&pool), cores = pools_cores(input->host, &pool);
	unsigned threads = cores ? have / cores : 1, guests = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < input->n_policies; i++) {
		const struct policy *policy = input->policies[i];
		uint64_t more = served(input->host_policy, policy)
					? takes(policy, threads)
					: 0;

		guests += more && more <= have;
		sum += more <= have ? more : 0; /* else policy-capacity says so */
		if (!more || sum <= have)
			continue;
		rule_report(
			run, policy->domain.vcpus.place,
			"one guest each of this policy and the %u before it take %llu "
			"dedicated CPUs, and %s has %u: they do not all run at once",
			guests - 1, (unsigned long long)sum, input->host->origin, have);
		rule_note(run, input->host_policy->policies.place,
			  "the host policy says here that it has them all");
		return;
	}
}

static int text_order(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void allowed(const struct rule_input *input, const struct rule_run *run)
{
	enum { GUESSES = 50 }; /* each looks at all names */
	const struct values *list = &input->host_policy->policies;
	cleanup_free const char **known = NULL;
	size_t count = 0, terminated = 0, guesses = 0;

	if (!input->n_policies)
		return;
	for (size_t i = 0; i < input->n_policies; i++)
		*append(known, count) = input->policies[i]->name.text;
	qsort(known, count, sizeof(*known), text_order);
	terminated = count;
	*append(known, terminated) = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->items[i].text;

		if (bsearch(&name, known, count, sizeof(*known), text_order))
			continue;
		const char *near = guesses++ < GUESSES ? text_nearest(name, known) : NULL;

		rule_report(run, list->items[i].place,
			    "the host policy allows policy \"%s\", which is not among "
			    "these%s%s",
			    name, near ? "; did you mean " : "", near ? near : "");
	}
}

static const struct rule_guest *owner_of(const struct rule_input *input, size_t before,
					 const struct cpuset *cpus)
{
	for (size_t i = 0; i < before; i++)
		if (cpuset_intersects(&input->guests[i].alone, cpus) &&
		    !text_equal(input->guests[i].name, input->guests[before].name))
			return &input->guests[i];
	return NULL;
}

static void guests(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset seen = CPUSET_INIT;

	for (size_t i = 0; i < input->n_guests; i++) {
		const struct rule_guest *guest = &input->guests[i], *other = NULL;
		struct cpuset common = guest->alone;

		cpuset_and(&common, &seen);
		cpuset_or(&seen, &guest->alone);
		if (!cpuset_empty(&common))
			other = owner_of(input, i, &common);
		if (!other)
			continue;
		cpuset_and(&common, &other->alone);
		cleanup_free char *what = cpuset_format(&common);

		rule_report(
			run, guest->place,
			"guests %s and %s both pin a vCPU to CPU %s and nothing else, so "
			"each gets half of it; give each its own",
			other->name, guest->name, what);
		rule_note(run, other->place, "the other guest's pins");
	}
}

const struct rule rules_set[] = {
	{ "set-name", DIAG_ERROR, RULE_SET, NEEDS_NOTHING, names,
	  "two policies of one name",
	  "A guest's metadata chooses a policy by its name; with two of that name the "
	  "first file that is read wins." },
	{ "set-match", DIAG_ERROR, RULE_SET, NEEDS_NOTHING, matches,
	  "two policies of the same priority match the same guests",
	  "The hook refuses such a guest and names both. Seen here are equal patterns, "
	  "and names that another policy's pattern matches. Give the more particular one "
	  "a higher match.priority." },
	{ "set-ambiguous", DIAG_WARNING, RULE_SET, NEEDS_NOTHING, ambiguous,
	  "patterns of two policies of the same priority that meet",
	  "A guest whose name both patterns match is refused when it starts; whether "
	  "there will ever be one only its owner knows. An example of such a name is "
	  "given. Patterns with classes such as [[:digit:]] are not compared. See "
	  "set-match." },
	{ "set-pools", DIAG_WARNING, RULE_SET, NEEDS_NOTHING, pools,
	  "two policies pin to the same CPUs",
	  "Each CPU has one owner: while a guest of the one runs, guests of the other "
	  "are refused. Source: risu issue 580." },
	{ "set-capacity", DIAG_WARNING, RULE_SET, NEEDS_HOST | NEEDS_SERVED, capacity,
	  "more dedicated vCPUs than the host has CPUs for, of all its policies together",
	  "Each dedicated vCPU owns a CPU, with smt: isolate a whole core; counted is "
	  "one "
	  "guest, that of domain, for each policy with vcpupin: dedicated that the host "
	  "policy lists under policies. Others may be alternatives, or for other hosts. "
	  "See policy-capacity. Source: risu issue 580." },
	{ "set-guests", DIAG_WARNING, RULE_SET, NEEDS_HOST, guests,
	  "two guests pinned to one CPU",
	  "The files are for one host (--host), so these guests meet on it. A definition "
	  "that is copied or migrated takes its pins along, and nothing in libvirt keeps "
	  "account. Versions of one guest, by its name, are not compared. Source: risu "
	  "issue 580; OpenStack's spec numa-aware-live-migration; LXD issue 3109." },
	{ "set-allowed", DIAG_WARNING, RULE_SET, NEEDS_HOST_POLICY, allowed,
	  "the host policy allows a policy that is not there",
	  "policies in the host policy are those that a guest's metadata may choose." },
	{ .id = NULL },
};

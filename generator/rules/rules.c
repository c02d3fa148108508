/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running the rules, and finding and moving them. */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "rules/pins.h"

const struct rule *const rules_topics[] = {
	rules_pins,	   rules_helpers,   rules_cores,	  rules_sched,
	rules_numa,	   rules_locality,  rules_devices,	  rules_shm,
	rules_hugepages,   rules_vhostuser, rules_interfaces,	  rules_zerocopy,
	rules_switch,	   rules_disks,	    rules_elements,	  rules_dropped,
	rules_versions,	   rules_policy,    rules_policy_devices, rules_policy_disks,
	rules_policy_host, rules_set,	    rules_host_policy,	  NULL,
};

const char *const rule_needs_words[NEEDS_KINDS] = {
	"a host (--host)",
	"a host policy (--host-policy)",
	"the guest's policy",
	"the libvirt version",
	"the QEMU version",
	"a host with its hugepage pools",
	"a host with its free hugepages",
	"a host with its nodes' memory",
	"a host with its nodes' free memory",
	"a host with its devices",
	"a host with its isolated CPUs",
	"a host policy that lists its policies",
};

#define rules_foreach(rule)                                                      \
	for (const struct rule *const *topic_ = rules_topics; *topic_; topic_++) \
		for (const struct rule *rule = *topic_; rule->id; rule++)

struct rule_run {
	const struct rule *rule;
	enum diag_level level;
	struct diag *diag;
};

void rule_report(const struct rule_run *run, struct place place, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	if (run->level == DIAG_ERROR)
		diag_error(run->diag, place, run->rule->id, "%s", text);
	else
		diag_warning(run->diag, place, run->rule->id, "%s", text);
}

void rule_note(const struct rule_run *run, struct place place, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	diag_note(run->diag, place, "%s", text);
}

const struct rule *rule_find(const char *id)
{
	rules_foreach(rule) if (strcmp(rule->id, id) == 0) return rule;
	return NULL;
}

static const char *nearest_id(const char *id)
{
	cleanup_free const char **ids = NULL;
	size_t count = 0;

	rules_foreach(rule) * append(ids, count) = rule->id;
	*append(ids, count) = NULL;
	return text_nearest(id, ids);
}

const struct rule *rule_get(const char *id, struct diag *diag)
{
	const struct rule *rule = rule_find(id);
	const char *near = rule ? NULL : nearest_id(id);

	if (near)
		diag_error(diag, NOWHERE, NULL, "there is no rule %s; did you mean %s?",
			   id, near);
	else if (!rule)
		diag_error(diag, NOWHERE, NULL,
			   "there is no rule %s; `vmgen rules` lists them", id);
	return rule;
}

bool levels_move(struct levels *levels, enum diag_level level, const char *what,
		 struct diag *diag)
{
	bool less = text_starts(what, "no-");
	const struct rule *rule = rule_get(less ? what + 3 : what, diag);

	if (!rule)
		return false;
	__typeof__(levels->items) item = append(levels->items, levels->count);
	item->rule = rule;
	item->off = less && level == DIAG_WARNING;
	item->level = less ? DIAG_WARNING : level;
	return true;
}

void levels_done(struct levels *levels)
{
	free(levels->items);
	*levels = (struct levels){ NULL, 0 };
}

static enum diag_level level_of(const struct rule *rule, const struct levels *levels,
				bool *ret_off)
{
	enum diag_level level = rule->level;

	*ret_off = false;
	for (size_t i = 0; levels && i < levels->count; i++) {
		if (levels->items[i].rule != rule)
			continue;
		*ret_off = levels->items[i].off;
		level = levels->items[i].level;
	}
	return level;
}

/* What NODE tells of what not every form does. */
static unsigned node_tells(const struct host_node *node)
{
	unsigned known = 0;

	if (node->memory != HOST_UNKNOWN)
		known |= NEEDS_MEMORY;
	if (node->free != HOST_UNKNOWN)
		known |= NEEDS_FREE_MEMORY;
	if (node->pages_known)
		known |= NEEDS_PAGES | NEEDS_FREE_PAGES;
	for (size_t i = 0; i < node->n_pages; i++)
		if (node->pages[i].free == HOST_UNKNOWN)
			known &= ~(unsigned)NEEDS_FREE_PAGES;
	return known;
}

static unsigned host_tells(const struct host *host)
{
	unsigned known = NEEDS_PAGES | NEEDS_FREE_PAGES | NEEDS_MEMORY |
			 NEEDS_FREE_MEMORY;

	for (size_t i = 0; i < host->n_nodes; i++)
		known &= node_tells(&host->nodes[i]);
	return known | NEEDS_HOST | (host->devices_known ? NEEDS_DEVICES : 0) |
	       (host->isolated_known ? NEEDS_ISOLATED : 0);
}

static unsigned known_of(const struct rule_input *input)
{
	return (input->host ? host_tells(input->host) : 0) |
	       (input->host_policy ? NEEDS_HOST_POLICY : 0) |
	       (input->host_policy && input->host_policy->policies.place.line
			? NEEDS_SERVED
			: 0) |
	       (input->policy ? NEEDS_POLICY : 0) | (input->libvirt ? NEEDS_LIBVIRT : 0) |
	       (input->qemu ? NEEDS_QEMU : 0);
}

/* Where there is no host, or host policy, at all that is what lacks, and not its parts.
 */
unsigned rule_lacks(const struct rule *rule, const struct rule_input *input)
{
	const unsigned parts = NEEDS_HOST | NEEDS_PAGES | NEEDS_FREE_PAGES |
			       NEEDS_MEMORY | NEEDS_FREE_MEMORY | NEEDS_DEVICES |
			       NEEDS_ISOLATED;
	unsigned lacks = rule->needs & ~known_of(input);

	if (!input->host_policy && lacks & NEEDS_SERVED)
		lacks = (lacks & ~(unsigned)NEEDS_SERVED) | NEEDS_HOST_POLICY;
	if (input->host || !(lacks & parts))
		return lacks;
	return (lacks & ~(parts | NEEDS_LIBVIRT | NEEDS_QEMU)) | NEEDS_HOST;
}

static void skip(const struct rule *rule, const struct rule ***skipped, size_t *n_skipped)
{
	for (size_t i = 0; i < *n_skipped; i++)
		if ((*skipped)[i] == rule)
			return;
	*append(*skipped, *n_skipped) = rule;
}

void rules_run(enum rule_scope scope, const struct rule_input *input,
	       const struct levels *levels, const struct rule ***skipped,
	       size_t *n_skipped, struct diag *diag)
{
	unsigned known = known_of(input);

	rules_foreach(rule)
	{
		struct rule_run run = { rule, DIAG_ERROR, diag };
		bool off;

		if (rule->scope != scope)
			continue;
		run.level = level_of(rule, levels, &off);
		if (off)
			continue;
		if (!(rule->needs & ~known))
			rule->check(input, &run);
		else if (skipped)
			skip(rule, skipped, n_skipped);
	}
}

struct rule_guest rule_guest(const struct guest *guest)
{
	const struct element *cputune = element_find(guest->domain, "cputune");

	return (struct rule_guest){
		.name = guest->name,
		.place = cputune ? cputune->place : guest->domain->place,
		.alone = pins_alone(guest),
	};
}

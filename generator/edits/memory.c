/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What backs the guest's memory: hugepages, sharing, allocation. */
#include <inttypes.h>

#include "base/size.h"
#include "base/text.h"
#include "edits/edits.h"

/* The page's size in bytes, 0 when it cannot be told. */
static uint64_t page_bytes(const struct element *page)
{
	const char *size = element_attribute(page, "size");
	unsigned long long number;
	uint64_t bytes;

	return size && text_number(size, &number) &&
			       size_scale(number, element_attribute(page, "unit"), &bytes)
		       ? bytes
		       : 0;
}

/* All of the guest's memory is on pages of this size. */
static bool pages_conform(const struct guest *guest, const struct element *hugepages,
			  uint64_t size)
{
	struct cpuset covered = CPUSET_INIT;
	bool all = false;

	element_foreach (page, hugepages, "page") {
		const char *nodeset = element_attribute(page, "nodeset");
		struct cpuset cells;

		if (page_bytes(page) != size)
			return false;
		if (!nodeset)
			all = true;
		else if (cpuset_parse(nodeset, &cells, NULL, NULL))
			cpuset_or(&covered, &cells);
	}
	for (size_t i = 0; !all && i < guest->n_cells; i++)
		if (!cpuset_has(&covered, guest->cells[i].id))
			return false;
	return all || (guest->n_cells && !cpuset_empty(&covered));
}

/* Pages are of files: libvirt refuses them beside anonymous memory, memory on demand, and
 * discarding is of no use to fixed pages. */
static void clear_conflicts(struct edits *edits, const struct plan *plan,
			    const struct element *backing, struct reason reason)
{
	struct element *source = element_child(backing, "source");
	struct element *allocation = element_child(backing, "allocation");

	if (!given(&plan->policy->memoryBacking.source) &&
	    text_equal(element_attribute(source, "type"), "anonymous"))
		edits_remove(edits, source, reason);
	if (!given(&plan->policy->memoryBacking.allocation) &&
	    text_equal(element_attribute(allocation, "mode"), "ondemand"))
		edits_attribute(edits, allocation, "mode", "immediate", SAME_TEXT,
				reason);
}

static void want_hugepages(struct edits *edits, const struct plan *plan,
			   struct element *backing)
{
	const struct value *said = &plan->policy->memoryBacking.hugepages;
	struct element *hugepages = element_child(backing, "hugepages");
	struct reason reason = { said->place,
				 "hugepages: fewer TLB misses, and memory that is there "
				 "before the guest starts" };

	if (!given(said))
		return;
	clear_conflicts(edits, plan, backing, reason);
	if (pages_conform(plan->guest, hugepages, said->number))
		return;
	element_foreach (page, hugepages, "page")
		edits_remove(edits, page, reason);
	struct element *page = element_new("page");
	cleanup_free char *size = xasprintf("%" PRIu64, said->number / KIB);
	element_set(page, "size", size);
	element_set(page, "unit", "KiB");
	edits_child(edits, doc_need(backing, "hugepages"), page, reason);
}

/* A word of the policy, or one that its devices imply; NULL: as the guest has it. */
struct wish {
	struct place place;
	const char *text;
};

static struct wish wish_of(const struct value *said)
{
	return (struct wish){ said->place, said->text };
}

static struct wish access_wish(const struct policy *policy)
{
	const struct value *said = &policy->memoryBacking.access;
	const struct place *vhostuser = policy_vhostuser(policy);

	return given(said) || !vhostuser ? wish_of(said)
					 : (struct wish){ *vhostuser, "shared" };
}

/* Shared memory that is neither hugepages nor memfd would be a file on a disk. */
static struct wish source_wish(const struct policy *policy, const struct element *backing)
{
	const struct value *said = &policy->memoryBacking.source;
	const struct element *source = element_child(backing, "source");
	const struct place *vhostuser = policy_vhostuser(policy);

	if (given(said) || !vhostuser || given(&policy->memoryBacking.hugepages) ||
	    element_child(backing, "hugepages") ||
	    text_equal(element_attribute(source, "type"), "file"))
		return wish_of(said);
	return (struct wish){ *vhostuser, "memfd" };
}

/* <access mode="shared"/> and its like. */
static void want_mode(struct edits *edits, struct element *backing, const char *name,
		      const char *attribute, struct wish wish, const char *why)
{
	const struct want wants[] = {
		{ attribute, wish.text, SAME_TEXT },
		{ NULL, NULL, SAME_TEXT },
	};

	if (wish.text)
		edits_want(edits, backing, element_child(backing, name), name, wants,
			   (struct reason){ wish.place, why });
}

/* <locked/> and its like: there, or not there. */
static void want_flag(struct edits *edits, struct element *backing, const char *name,
		      const struct value *said, const char *why)
{
	struct element *element = element_child(backing, name);
	struct reason reason = { said->place, why };

	if (!given(said))
		return;
	if (said->number && !element)
		edits_child(edits, backing, element_new(name), reason);
	if (!said->number && element)
		edits_remove(edits, element, reason);
}

/* A cell's own memAccess beats memoryBacking's. */
static void share_cells(struct edits *edits, const struct plan *plan, struct wish access)
{
	for (size_t i = 0; access.text && i < plan->guest->n_cells; i++)
		if (plan->guest->cells[i].access)
			edits_attribute(edits, plan->guest->cells[i].element, "memAccess",
					access.text, SAME_TEXT,
					(struct reason){ access.place,
							 "the cell would overrule it" });
}

void edits_memory(struct edits *edits, const struct plan *plan)
{
	const struct policy *policy = plan->policy;
	struct element *backing = doc_need(plan->guest->domain, "memoryBacking");
	struct wish access = access_wish(policy);

	want_hugepages(edits, plan, backing);
	want_mode(edits, backing, "source", "type", source_wish(policy, backing),
		  "what the guest's memory is made of");
	want_mode(
		edits, backing, "access", "mode", access,
		"a vhost-user back end reads and writes the guest's memory only if it is "
		"shared");
	want_mode(edits, backing, "allocation", "mode",
		  wish_of(&policy->memoryBacking.allocation), "when the memory is taken");
	want_flag(edits, backing, "nosharepages", &policy->memoryBacking.nosharepages,
		  "KSM leaves this guest's pages alone");
	want_flag(edits, backing, "locked", &policy->memoryBacking.locked,
		  "the guest's memory is never swapped out");
	share_cells(edits, plan, access);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of the data disks in the guest's metadata: what keeps them from being made
 * a second time. */
#include <inttypes.h>

#include "base/text.h"
#include "edits/data_disk.h"
#include "edits/edits.h"
#include "guest/records.h"

static const char why[] = "made once, by vmgen apply or the hook's worker";

struct fresh {
	struct element **items;
	size_t count;
};

static void record(struct edits *edits, const struct data_disk *disk, struct fresh *fresh)
{
	cleanup_free char *size = xasprintf("%" PRIu64, disk->policy->size.number);
	const struct want wants[] = {
		{ "name", disk->policy->name.text, SAME_TEXT },
		{ "file", disk->source.path, SAME_TEXT },
		{ "pool", disk->source.pool, SAME_TEXT },
		{ "volume", disk->source.volume, SAME_TEXT },
		{ "format", disk->format, SAME_TEXT },
		{ "size", size, SAME_NUMBER },
		{ .name = NULL },
	};

	if (disk->record) {
		edits_want(edits, NULL, disk->record, NULL, wants,
			   (struct reason){ disk->policy->place, why });
		return;
	}
	struct element *element = element_new("vmgen:disk");
	for (const struct want *want = wants; want->name; want++)
		if (want->value)
			element_set(element, want->name, want->value);
	*append(fresh->items, fresh->count) = element;
}

static void add_container(struct edits *edits, const struct plan *plan,
			  const struct fresh *fresh)
{
	struct element *all = element_new("vmgen:disks");

	element_set(all, "xmlns:vmgen", RECORDS_NS);
	for (size_t i = 0; i < fresh->count; i++)
		element_add(all, fresh->items[i]);
	edits_child(edits, doc_need(plan->guest->domain, "metadata"), all,
		    (struct reason){ plan->policy->disks.place, why });
}

void edits_records(struct edits *edits, const struct plan *plan)
{
	const struct policy_disk *disks = plan->policy->disks.items;
	struct element *all = records(plan->guest);
	struct fresh fresh = { NULL, 0 };

	for (size_t i = 0; plan->records && i < plan->policy->disks.count; i++) {
		cleanup_data_disk struct data_disk disk;

		data_disk_init(&disk, &disks[i], plan->guest);
		if (data_disk_is_made(&disk))
			record(edits, &disk, &fresh);
	}
	if (fresh.count && !all)
		add_container(edits, plan, &fresh);
	for (size_t i = 0; all && i < fresh.count; i++) {
		/* whatever prefix is in use there */
		element_set(fresh.items[i], "xmlns:vmgen", RECORDS_NS);
		edits_child(edits, all, fresh.items[i],
			    (struct reason){ plan->policy->disks.place, why });
	}
	free(fresh.items);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <driver> of a data disk: caches, queues, and the I/O threads that work for it. */
#include <stdio.h>

#include "base/text.h"
#include "edits/disk_driver.h"

/* The first that deal out a disk's queues to several I/O threads. Source: libvirt's and
 * QEMU's release notes. */
enum { MAPPING_LIBVIRT = 10000000, MAPPING_QEMU = 9000000 };

/* What the policy asks of <driver>; ends with a NULL name. */
enum { TUNINGS = 7 };
struct tuning {
	struct want wants[TUNINGS + 1];
	size_t count;
	char iothread[12];
	bool mapped; /* all I/O threads, by <iothreads> */
};

static void tune(struct tuning *tuning, const char *name, const char *value)
{
	tuning->wants[tuning->count++] = (struct want){ name, value, SAME_TEXT };
}

static void tune_given(struct tuning *tuning, const char *name, const struct value *value)
{
	if (given(value))
		tune(tuning, name, value->text);
}

static unsigned n_iothreads(const struct plan *plan)
{
	unsigned count = 0;

	while (edits_iothread(plan, count + 1))
		count++;
	return count;
}

static bool takes_all(const struct policy_disk *disk)
{
	return given(&disk->iothread) && disk->iothread.word >= 0;
}

/* Of the disks that would take all threads, how many stand before this one. */
static unsigned turn_of(const struct plan *plan, const struct policy_disk *disk)
{
	const struct policy_disk *disks = plan->policy->disks.items;
	unsigned turn = 0;

	for (const struct policy_disk *before = disks; before < disk; before++)
		turn += takes_all(before);
	return turn;
}

static void tune_iothread(struct tuning *tuning, const struct edits *edits,
			  const struct plan *plan, const struct policy_disk *disk)
{
	const struct target *target = &edits->target;
	unsigned count = n_iothreads(plan);
	uint64_t which = disk->iothread.number;

	if (!given(&disk->iothread))
		return;
	if (takes_all(disk) && count) {
		tuning->mapped = count > 1 && target->libvirt >= MAPPING_LIBVIRT &&
				 target->qemu >= MAPPING_QEMU;
		which = turn_of(plan, disk) % count + 1;
	}
	if (tuning->mapped) {
		tune(tuning, "iothread", NULL);
		return;
	}
	snprintf(tuning->iothread, sizeof(tuning->iothread), "%u",
		 edits_iothread(plan, which));
	tune(tuning, "iothread", tuning->iothread);
}

static void tuning_of(struct tuning *tuning, const struct edits *edits,
		      const struct plan *plan, const struct policy_disk *disk,
		      const char *bus)
{
	*tuning = (struct tuning){ .count = 0 };
	tune_given(tuning, "cache", &disk->cache);
	tune_given(tuning, "io", &disk->io);
	tune_given(tuning, "discard", &disk->discard);
	tune_given(tuning, "detect_zeroes", &disk->detect_zeroes);
	if (!text_equal(bus, "virtio"))
		return;
	tune_given(tuning, "queues", &disk->queues);
	tune_given(tuning, "queue_size", &disk->queue_size);
	tune_iothread(tuning, edits, plan, disk);
}

static struct element *new_mapping(const struct plan *plan)
{
	struct element *mapping = element_new("iothreads");
	unsigned id;

	for (unsigned i = 1; (id = edits_iothread(plan, i)); i++) {
		cleanup_free char *text = xasprintf("%u", id);

		element_set(element_add(mapping, element_new("iothread")), "id", text);
	}
	return mapping;
}

/* Puts what is wanted into a fresh DRIVER. */
static struct element *fill(struct element *driver, const struct plan *plan,
			    const struct tuning *tuning)
{
	for (size_t i = 0; i < tuning->count; i++)
		if (tuning->wants[i].value)
			element_set(driver, tuning->wants[i].name,
				    tuning->wants[i].value);
	if (tuning->mapped)
		element_add(driver, new_mapping(plan));
	return driver;
}

struct element *disk_driver_new(const struct edits *edits, const struct plan *plan,
				const struct data_disk *disk, const char *bus)
{
	struct element *driver = element_new("driver");
	struct tuning tuning;

	element_set(driver, "name", "qemu");
	element_set(driver, "type", disk->format);
	tuning_of(&tuning, edits, plan, disk->policy, bus);
	return fill(driver, plan, &tuning);
}

static size_t count_threads(const struct element *mapping, const char *id)
{
	size_t count = 0;

	element_foreach (thread, mapping, "iothread")
		count += !id || text_equal(element_attribute(thread, "id"), id);
	return count;
}

/* The same threads, in whatever order. */
static bool same_mapping(const struct element *has, const struct element *wanted)
{
	element_foreach (thread, wanted, "iothread")
		if (!count_threads(has, element_attribute(thread, "id")))
			return false;
	return count_threads(has, NULL) == count_threads(wanted, NULL);
}

static void tune_mapping(struct edits *edits, const struct plan *plan,
			 const struct tuning *tuning, struct element *driver,
			 struct reason reason)
{
	struct element *has = element_child(driver, "iothreads");
	struct element *wanted = tuning->mapped ? new_mapping(plan) : NULL;

	if (has && wanted && same_mapping(has, wanted)) {
		element_free(wanted);
		return;
	}
	if (has)
		edits_remove(edits, has, reason);
	if (wanted)
		edits_child(edits, driver, wanted, reason);
}

void disk_driver_tune(struct edits *edits, const struct plan *plan,
		      const struct data_disk *disk)
{
	struct element *parent = disk->has->element;
	struct element *driver = element_child(parent, "driver");
	struct reason reason = { disk->policy->place, "as the policy tunes this disk" };
	struct tuning tuning;

	tuning_of(&tuning, edits, plan, disk->policy, disk->has->bus);
	if (!tuning.count)
		return;
	if (!driver) {
		edits_child(edits, parent, fill(element_new("driver"), plan, &tuning),
			    reason);
		return;
	}
	edits_want(edits, NULL, driver, NULL, tuning.wants, reason);
	if (given(&disk->policy->iothread) && text_equal(disk->has->bus, "virtio"))
		tune_mapping(edits, plan, &tuning, driver, reason);
}

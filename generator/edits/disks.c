/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extra data disks: known again by their user alias, whatever is inserted above. */
#include <stdio.h>

#include "base/size.h"
#include "base/text.h"
#include "edits/data_disk.h"
#include "edits/edits.h"

/* "vda", "vdz", "vdaa": the name of disk NUMBER, as the kernel counts them. */
static char *device_name(const char *prefix, unsigned number)
{
	char letters[8], *at = letters + sizeof(letters);

	*--at = '\0';
	for (unsigned rest = number + 1; rest; rest = (rest - 1) / 26)
		*--at = (char)('a' + (rest - 1) % 26);
	return xasprintf("%s%s", prefix, at);
}

/* The target names that are in use: the guest's, and those that were given out since. */
struct targets {
	char **names;
	size_t count;
};

static void targets_done(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		free(targets->names[i]);
	free(targets->names);
}

static bool taken(const struct targets *targets, const char *name)
{
	for (size_t i = 0; i < targets->count; i++)
		if (text_equal(targets->names[i], name))
			return true;
	return false;
}

/* The target for a new disk, or NULL and a report. */
static char *choose_target(struct edits *edits, const struct policy_disk *disk,
			   const char *bus, struct targets *targets)
{
	const char *prefix = text_equal(bus, "virtio") ? "vd" : "sd";
	char *name = given(&disk->target) ? xstrdup(disk->target.text) : NULL;

	if (name && taken(targets, name)) {
		diag_error(edits->diag, disk->target.place, "disk-target",
			   "the guest already has a disk %s; leave target out to get the "
			   "first free name",
			   name);
		free(name);
		return NULL;
	}
	for (unsigned i = 0; !name; i++) {
		name = device_name(prefix, i);
		if (taken(targets, name)) {
			free(name);
			name = NULL;
		}
	}
	*append(targets->names, targets->count) = xstrdup(name);
	return name;
}

/* What the policy asks of <driver>; ends with a NULL name. */
enum { TUNINGS = 7 };
struct tuning {
	struct want wants[TUNINGS + 1];
	size_t count;
	char iothread[12];
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

static void tuning_of(struct tuning *tuning, const struct plan *plan,
		      const struct policy_disk *disk, const char *bus)
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
	if (!given(&disk->iothread))
		return;
	snprintf(tuning->iothread, sizeof(tuning->iothread), "%u",
		 edits_iothread(plan, disk->iothread.number));
	tune(tuning, "iothread", tuning->iothread);
}

/* libvirt adds a controller by itself, but not a virtio one. */
static void need_scsi(struct edits *edits, const struct plan *plan,
		      const struct policy_disk *disk)
{
	struct element *devices = element_child(plan->guest->domain, "devices");

	element_foreach (has, devices, "controller") {
		if (text_equal(element_attribute(has, "type"), "scsi"))
			return;
	}
	for (size_t i = 0; i < edits->count; i++)
		if (text_equal(edits->items[i].path, "devices/controller[@type='scsi']"))
			return;
	struct element *controller = element_new("controller");
	element_set(controller, "type", "scsi");
	element_set(controller, "index", "0");
	element_set(controller, "model", "virtio-scsi");
	if (given(&disk->iothread)) {
		cleanup_free char *id = xasprintf(
			"%u", edits_iothread(plan, disk->iothread.number));

		element_set(element_add(controller, element_new("driver")), "iothread",
			    id);
	}
	edits_child(
		edits, devices, controller,
		(struct reason){ disk->bus.place,
				 "virtio-scsi: libvirt would add an lsi controller" });
}

static void add_disk(struct edits *edits, const struct plan *plan,
		     const struct data_disk *data, struct targets *targets)
{
	const struct policy_disk *disk = data->policy;
	const char *bus = given(&disk->bus) ? disk->bus.text : "virtio";
	cleanup_free char *target = choose_target(edits, disk, bus, targets);
	struct tuning tuning;

	if (!target)
		return;
	if (text_equal(bus, "scsi"))
		need_scsi(edits, plan, disk);
	struct element *element = element_new("disk");
	element_set(element, "type", "file");
	element_set(element, "device", "disk");
	struct element *driver = element_add(element, element_new("driver"));
	element_set(driver, "name", "qemu");
	element_set(driver, "type", data->format);
	tuning_of(&tuning, plan, disk, bus);
	for (size_t i = 0; i < tuning.count; i++)
		element_set(driver, tuning.wants[i].name, tuning.wants[i].value);
	element_set(element_add(element, element_new("source")), "file", data->path);
	struct element *place = element_add(element, element_new("target"));
	element_set(place, "dev", target);
	element_set(place, "bus", bus);
	element_set(element_add(element, element_new("alias")), "name", data->alias);
	cleanup_free char *size = size_format(disk->size.number);
	cleanup_free char *why = xasprintf(
		"data disk %s of %s, made once, never overwritten", disk->name.text,
		size);
	edits_child(edits, element_child(plan->guest->domain, "devices"), element,
		    (struct reason){ disk->place, why });
}

/* An existing disk is tuned as the policy says; what it is made of stays. */
static void tune_disk(struct edits *edits, const struct plan *plan,
		      const struct policy_disk *disk, const struct guest_disk *has)
{
	struct tuning tuning;

	tuning_of(&tuning, plan, disk, has->bus);
	if (tuning.count)
		edits_want(
			edits, has->element, element_child(has->element, "driver"),
			"driver", tuning.wants,
			(struct reason){ disk->place, "as the policy tunes this disk" });
}

void edits_disks(struct edits *edits, const struct plan *plan)
{
	const struct policy_disk *disks = plan->policy->disks.items;
	cleanup(targets_done) struct targets targets = { NULL, 0 };

	for (size_t i = 0; i < plan->guest->n_disks; i++)
		if (plan->guest->disks[i].target)
			*append(targets.names,
				targets.count) = xstrdup(plan->guest->disks[i].target);
	for (size_t i = 0; i < plan->policy->disks.count; i++) {
		cleanup_data_disk struct data_disk data;

		data_disk_init(&data, &disks[i], plan->guest);
		if (data.has)
			tune_disk(edits, plan, &disks[i], data.has);
		else if (!plan->fixed)
			add_disk(edits, plan, &data, &targets);
	}
}

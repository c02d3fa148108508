/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extra data disks: known again by their user alias, whatever is inserted above. */
#include "base/size.h"
#include "base/text.h"
#include "edits/data_disk.h"
#include "edits/disk_driver.h"
#include "edits/disk_names.h"
#include "edits/edits.h"

enum { NVME_SERIAL = 20 /* bytes in an NVMe controller's serial number */ };

/* The target for a new disk, or NULL and a report. */
static char *choose_target(struct edits *edits, const struct policy_disk *disk,
			   const char *bus, struct disk_names *names)
{
	if (!given(&disk->target))
		return disk_names_next(names, bus);
	if (disk_names_take(names, disk->target.text))
		return xstrdup(disk->target.text);
	diag_error(edits->diag, disk->target.place, "disk-target",
		   "the guest already has a disk %s; leave target out to get the first "
		   "free name",
		   disk->target.text);
	return NULL;
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
	edits_child(
		edits, devices, controller,
		(struct reason){ disk->bus.place,
				 "virtio-scsi: libvirt would add an lsi controller" });
}

static void add_reconnect(struct element *source, const struct policy_disk *disk)
{
	if (!given(&disk->reconnect))
		return;
	struct element *reconnect = element_add(source, element_new("reconnect"));
	element_set(reconnect, "enabled", "yes");
	element_set(reconnect, "timeout", disk->reconnect.text);
}

static struct element *new_source(const struct data_disk *data)
{
	struct element *source = element_new("source");

	switch (data->source.kind) {
	case DATA_VOLUME:
		element_set(source, "pool", data->source.pool);
		element_set(source, "volume", data->source.volume);
		break;
	case DATA_SOCKET:
		element_set(source, "type", "unix");
		element_set(source, "path", data->source.path);
		add_reconnect(source, data->policy);
		break;
	case DATA_FILE:
		element_set(source, "file", data->source.path);
		break;
	case DATA_UNSAID:
	case DATA_OTHER:
		break;
	}
	return source;
}

static const char *type_of(enum data_kind kind)
{
	return kind == DATA_SOCKET   ? "vhostuser"
	       : kind == DATA_VOLUME ? "volume"
				     : "file";
}

/* The alias is libvirt's name for it, the serial number the guest's. */
static void add_names(struct element *element, const struct data_disk *data,
		      const char *bus)
{
	cleanup_free char *serial = xasprintf("%.*s", NVME_SERIAL,
					      data->policy->name.text);

	if (text_equal(bus, "nvme"))
		element_set_text(element_add(element, element_new("serial")), serial);
	element_set(element_add(element, element_new("alias")), "name", data->alias);
}

static char *why_added(const struct data_disk *data)
{
	const struct policy_disk *disk = data->policy;

	if (data->source.kind == DATA_SOCKET)
		return xasprintf("disk %s: its back end reaches the guest's memory "
				 "through a vhost-user socket",
				 disk->name.text);
	cleanup_free char *size = size_format(disk->size.number);
	return xasprintf("data disk %s of %s, made once, never overwritten",
			 disk->name.text, size);
}

static void add_disk(struct edits *edits, const struct plan *plan,
		     const struct data_disk *data, struct disk_names *names)
{
	const struct policy_disk *disk = data->policy;
	const char *bus = given(&disk->bus) ? disk->bus.text : "virtio";
	cleanup_free char *target = choose_target(edits, disk, bus, names);
	cleanup_free char *why = why_added(data);

	if (!target)
		return;
	if (text_equal(bus, "scsi"))
		need_scsi(edits, plan, disk);
	struct element *element = element_new("disk");
	element_set(element, "type", type_of(data->source.kind));
	element_set(element, "device", "disk");
	element_add(element, disk_driver_new(edits, plan, data, bus));
	element_add(element, new_source(data));
	struct element *place = element_add(element, element_new("target"));
	element_set(place, "dev", target);
	element_set(place, "bus", bus);
	add_names(element, data, bus);
	edits_child(edits, element_child(plan->guest->domain, "devices"), element,
		    (struct reason){ disk->place, why });
}

/* The socket is where the policy has it; what a disk is made of stays. */
static void tune_socket(struct edits *edits, const struct plan *plan,
			const struct data_disk *data)
{
	const struct policy_disk *disk = data->policy;
	struct element *source = element_child(data->has->element, "source");
	struct reason reason = { disk->socket.place, "where the back end is" };

	if (data->source.kind != DATA_SOCKET || !given(&disk->socket))
		return;
	cleanup_free char *path = policy_expand(disk->socket.text, plan->guest->name,
						disk->name.text);
	edits_attribute(edits, source, "path", path, SAME_TEXT, reason);
	if (!given(&disk->reconnect))
		return;
	const struct want wants[] = {
		{ "enabled", "yes", SAME_TEXT },
		{ "timeout", disk->reconnect.text, SAME_NUMBER },
		{ .name = NULL },
	};
	edits_want(edits, source, element_child(source, "reconnect"), "reconnect", wants,
		   (struct reason){ disk->reconnect.place,
				    "the guest finds a back end that restarted" });
}

void edits_disks(struct edits *edits, const struct plan *plan)
{
	const struct policy_disk *disks = plan->policy->disks.items;
	cleanup_disk_names struct disk_names names;

	disk_names_init(&names, plan->guest, plan->policy);
	for (size_t i = 0; i < plan->policy->disks.count; i++) {
		cleanup_data_disk struct data_disk data;

		data_disk_init(&data, &disks[i], plan->guest);
		if (data.has) {
			disk_driver_tune(edits, plan, &data);
			tune_socket(edits, plan, &data);
		} else if (!plan->fixed && data.source.kind != DATA_UNSAID) {
			add_disk(edits, plan, &data, &names);
		}
	}
}

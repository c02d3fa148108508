/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on disks: cache and I/O modes, I/O threads, queues, vhost-user disks. */
#include <string.h>

#include "base/text.h"
#include "rules/pins.h"
#include "rules/read.h"

enum { DISK_QUEUES_MAX = 1024, DISK_RING_MIN = 4, DISK_RING_MAX = 1024 };

static const struct element *driver_of(const struct guest_disk *disk)
{
	return element_child(disk->element, "driver");
}

static bool is_vhostuser(const struct guest_disk *disk)
{
	return text_equal(disk->type, "vhostuser");
}

static void io_cache(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct element *driver = driver_of(&input->guest->disks[i]);
		const char *cache = element_attribute(driver, "cache");

		if (!read_is(driver, "io", "native") || text_equal(cache, "none") ||
		    text_equal(cache, "directsync"))
			continue;
		rule_report(run, read_place(input->guest, driver, "io"),
			    "io='native' with cache %s%s%s, which libvirt refuses; say "
			    "cache='none'",
			    cache ? "'" : "", cache ? cache : "not given",
			    cache ? "'" : "");
	}
}

/* Disks and SCSI controllers name the I/O thread that serves them. */
static void check_iothread(const struct rule_input *input, const struct rule_run *run,
			   const struct cpuset *there, const struct element *driver)
{
	unsigned long long id;

	if (read_number(driver, "iothread", &id) && id < CPUSET_MAX &&
	    !cpuset_has(there, (unsigned)id))
		rule_report(run, read_place(input->guest, driver, "iothread"),
			    "there is no I/O thread %llu and libvirt refuses the domain; "
			    "raise <iothreads> (they count from 1)",
			    id);
	element_foreach (thread, element_child(driver, "iothreads"), "iothread")
		if (read_number(thread, "id", &id) && id < CPUSET_MAX &&
		    !cpuset_has(there, (unsigned)id))
			rule_report(run, read_place(input->guest, thread, "id"),
				    "there is no I/O thread %llu and libvirt refuses the "
				    "domain; raise <iothreads> (they count from 1)",
				    id);
}

static void iothread(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset there = pins_iothreads(guest);

	for (size_t i = 0; i < guest->n_disks; i++)
		if (driver_of(&guest->disks[i]))
			check_iothread(input, run, &there, driver_of(&guest->disks[i]));
	element_foreach (controller, element_find(guest->domain, "devices"), "controller")
		if (element_child(controller, "driver"))
			check_iothread(input, run, &there,
				       element_child(controller, "driver"));
}

static void iothread_bus(const struct rule_input *input, const struct rule_run *run)
{
	static const char *const names[] = { "iothread", "queues", "queue_size" };

	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct guest_disk *disk = &input->guest->disks[i];
		const struct element *driver = driver_of(disk);

		if (!disk->bus || strcmp(disk->bus, "virtio") == 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (element_attribute(driver, names[k]))
				rule_report(run,
					    read_place(input->guest, driver, names[k]),
					    "%s on bus '%s', which libvirt refuses; it "
					    "is for bus='virtio' (for scsi: on the "
					    "controller)",
					    names[k], disk->bus);
	}
}

static bool uses_iothread(const struct element *driver)
{
	return element_attribute(driver, "iothread") ||
	       element_child(driver, "iothreads");
}

static void iothread_unused(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	bool used = false;

	for (size_t i = 0; i < guest->n_disks && !used; i++)
		used = uses_iothread(driver_of(&guest->disks[i]));
	element_foreach (device, element_find(guest->domain, "devices"), "controller")
		used = used || uses_iothread(element_child(device, "driver"));
	if (used || !guest->n_iothreads)
		return;
	struct element *which = element_find(guest->domain, "iothreads");

	if (!which)
		which = element_find(guest->domain, "iothreadids");
	if (which)
		rule_report(
			run, which->place,
			"no disk or controller uses an I/O thread, so all I/O goes "
			"through the emulator's main loop; add iothread='1' to <driver>");
}

static void queue_size(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct element *driver = driver_of(&input->guest->disks[i]);
		unsigned long long size;

		if (!read_number(driver, "queue_size", &size) ||
		    (size >= DISK_RING_MIN && size <= DISK_RING_MAX &&
		     (size & (size - 1)) == 0))
			continue;
		rule_report(
			run, read_place(input->guest, driver, "queue_size"),
			"queue_size %llu, but QEMU takes powers of two from %d to %d and "
			"the start fails",
			size, DISK_RING_MIN, DISK_RING_MAX);
	}
}

static void queues(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct element *driver = driver_of(&input->guest->disks[i]);
		unsigned long long count;

		if (read_number(driver, "queues", &count) &&
		    (count < 1 || count > DISK_QUEUES_MAX))
			rule_report(
				run, read_place(input->guest, driver, "queues"),
				"%llu queues, but QEMU takes 1 to %d and the start fails",
				count, DISK_QUEUES_MAX);
	}
}

static void queues_vcpus(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct element *driver = driver_of(&input->guest->disks[i]);
		unsigned long long count;

		if (read_number(driver, "queues", &count) &&
		    count > input->guest->vcpus && count <= DISK_QUEUES_MAX)
			rule_report(
				run, read_place(input->guest, driver, "queues"),
				"%llu queues for %u vCPUs: the guest uses one for each "
				"vCPU; use at most %u",
				count, input->guest->vcpus, input->guest->vcpus);
	}
}

/* What libvirt's virDomainDiskVhostUserValidate forbids. */
static const char *const vhostuser_attributes[] = {
	"cache",	 "error_policy",   "rerror_policy", "io",
	"ioeventfd",	 "copy_on_read",   "discard",	    "iothread",
	"detect_zeroes", "metadata_cache",
};
static const char *const vhostuser_elements[] = {
	"iotune",    "backingStore", "encryption", "readonly", "shareable",
	"transient", "serial",	     "wwn",	   "vendor",   "product",
	"auth",	     "geometry",     "blockio",
};

static void check_vhostuser(const struct rule_input *input, const struct rule_run *run,
			    const struct guest_disk *disk)
{
	const struct element *driver = driver_of(disk);

	for (size_t i = 0; i < ARRAY_SIZE(vhostuser_attributes); i++)
		if (element_attribute(driver, vhostuser_attributes[i]))
			rule_report(
				run,
				read_place(input->guest, driver, vhostuser_attributes[i]),
				"%s on a vhost-user disk, which libvirt refuses: the "
				"backend decides that; remove it",
				vhostuser_attributes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(vhostuser_elements); i++) {
		struct element *child = element_child(disk->element,
						      vhostuser_elements[i]);

		if (child)
			rule_report(
				run, child->place,
				"<%s> on a vhost-user disk, which libvirt refuses: the "
				"backend decides that; remove it",
				vhostuser_elements[i]);
	}
	if (disk->bus && strcmp(disk->bus, "virtio") != 0)
		rule_report(run, disk->element->place,
			    "a vhost-user disk on bus '%s', which libvirt refuses; say "
			    "bus='virtio'",
			    disk->bus);
}

static void vhostuser(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++)
		if (is_vhostuser(&input->guest->disks[i]))
			check_vhostuser(input, run, &input->guest->disks[i]);
}

static void vhostuser_queues(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct guest_disk *disk = &input->guest->disks[i];

		if (is_vhostuser(disk) && !element_attribute(driver_of(disk), "queues"))
			rule_report(run, disk->element->place,
				    "a vhost-user disk without queues gets one for each "
				    "vCPU, and the start fails if the backend has fewer; "
				    "add queues='1' or what the backend has");
	}
}

/* Two devices by one word, the target's name or the source's path. */
struct named {
	const char *name;
	const struct guest_disk *disk;
};

static int named_order(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->disk->element->start < b->disk->element->start ? -1 : 1;
}

static void target(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free struct named *targets = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->guest->n_disks; i++)
		if (input->guest->disks[i].target)
			*append(targets,
				count) = (struct named){ input->guest->disks[i].target,
							 &input->guest->disks[i] };
	if (count)
		qsort(targets, count, sizeof(*targets), named_order);
	for (size_t i = 1; i < count; i++) {
		const struct element *which = targets[i].disk->element;

		if (strcmp(targets[i - 1].name, targets[i].name) != 0)
			continue;
		rule_report(
			run,
			read_place(input->guest, element_child(which, "target"), "dev"),
			"two disks are '%s', and libvirt refuses the domain; give each "
			"its own name",
			targets[i].name);
		rule_note(run, targets[i - 1].disk->element->place, "the other one");
	}
}

static bool writes(const struct guest_disk *disk)
{
	return !is_vhostuser(disk) && !text_equal(disk->device, "cdrom") &&
	       !element_child(disk->element, "readonly") &&
	       !element_child(disk->element, "shareable");
}

static void source(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free struct named *sources = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->guest->n_disks; i++) {
		const struct guest_disk *disk = &input->guest->disks[i];

		if (disk->source && disk->source[0] == '/' && writes(disk))
			*append(sources, count) = (struct named){ disk->source, disk };
	}
	if (count)
		qsort(sources, count, sizeof(*sources), named_order);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sources[i - 1].name, sources[i].name) != 0)
			continue;
		rule_report(run, sources[i].disk->element->place,
			    "two disks write to %s: QEMU's lock fails the start, or they "
			    "destroy each other's data; give each its own",
			    sources[i].name);
		rule_note(run, sources[i - 1].disk->element->place, "the other one");
	}
}

/* The first disk that internal snapshots are asked for, or NULL. */
static const struct guest_disk *snapshotted(const struct guest *guest)
{
	for (size_t i = 0; i < guest->n_disks; i++)
		if (read_is(guest->disks[i].element, "snapshot", "internal"))
			return &guest->disks[i];
	return NULL;
}

static void snapshot(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct guest_disk *internal = snapshotted(guest);

	for (size_t i = 0; internal && i < guest->n_disks; i++) {
		const struct guest_disk *disk = &guest->disks[i];

		if (!writes(disk) || !read_is(driver_of(disk), "type", "raw"))
			continue;
		rule_report(run, read_place(guest, driver_of(disk), "type"),
			    "a raw disk has no internal snapshots, so the guest's fail; "
			    "make it qcow2, or the guest's snapshots external");
		rule_note(run, read_place(guest, internal->element, "snapshot"),
			  "internal snapshots are asked for here");
	}
}

const struct rule rules_disks[] = {
	{ "disk-io-cache", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, io_cache,
	  "io='native' with a page cache",
	  "\"io='native' needs either no disk cache or directsync cache mode\": Linux's "
	  "AIO is asynchronous with O_DIRECT only. Say cache='none' (the file system "
	  "must have O_DIRECT), or io='threads' or 'io_uring'. Source: libvirt 9.0.0, "
	  "tried; qemu_validate.c; kimchi issue 1107, webvirtmgr issue 316." },
	{ "disk-iothread", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, iothread,
	  "a disk on an I/O thread that is not defined",
	  "\"Disk iothread '1' not defined in iothreadid\". Raise <iothreads>, or name "
	  "it in <iothreadids>. Source: libvirt 9.0.0, tried." },
	{ "disk-bus", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, iothread_bus,
	  "I/O thread or queues on a disk that is not virtio",
	  "libvirt refuses them on other buses. For SCSI they belong to the virtio-scsi "
	  "controller's <driver>. Source: libvirt 9.0.0, tried with sata." },
	{ "iothread-unused", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, iothread_unused,
	  "I/O threads that nothing uses",
	  "<iothreads> makes the threads; only disks and controllers that name one leave "
	  "QEMU's main loop. Add iothread='N' to the disks' <driver>. Source: libvirt, "
	  "formatdomain, element iothreads; Nova bug 2140537." },
	{ "disk-queue-size", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, queue_size,
	  "a disk's ring that QEMU refuses",
	  "libvirt takes any number; QEMU powers of two from 4 to 1024. Source: libvirt "
	  "9.0.0 with QEMU 7.2, tried with 1, 2, 3, 100 and 2048." },
	{ "disk-queues", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, queues,
	  "a disk with no queue, or more than QEMU can have",
	  "1023 and 1024 start, 2000 does not. One for each vCPU is what QEMU does by "
	  "itself since 5.2. Source: libvirt 9.0.0 with QEMU 7.2, tried." },
	{ "disk-queues-vcpus", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, queues_vcpus,
	  "a disk with more queues than vCPUs",
	  "The guest's driver uses one for each vCPU; vhost-user guests were seen to "
	  "halt with more. Source: tp-libvirt pull request 3749, spdk issue 1295; Linux, "
	  "virtio_blk." },
	{ "disk-vhostuser", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, vhostuser,
	  "a vhost-user disk with what only the backend can decide",
	  "libvirt refuses cache, io, discard, iothread, serial and their kin, and any "
	  "bus but virtio: \"cache is not supported with vhostuser disk\". Source: "
	  "libvirt 9.0.0 and 11.3.0, domain_validate.c; tried." },
	{ "disk-vhostuser-queues", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING,
	  vhostuser_queues, "a vhost-user disk without a number of queues",
	  "QEMU since 5.2 then asks for one for each vCPU, and fails with \"The maximum "
	  "number of queues supported by the backend is 4\" if there are fewer. Say how "
	  "many the backend has, at most the vCPUs. Source: QEMU 7.2, tried." },
	{ "disk-target", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, target,
	  "two disks with the same target",
	  "\"target 'vda' duplicated for disk sources\": libvirt refuses the domain. "
	  "Source: libvirt, domain_validate.c." },
	{ "disk-source", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, source,
	  "two writable disks on one image",
	  "QEMU locks images and fails to start with \"Failed to get \"write\" lock\"; "
	  "where locks do not work (some network file systems) the data is destroyed. "
	  "Say <shareable/> if the guests know what they do. Source: QEMU, "
	  "file-posix.c." },
	{ "disk-snapshot", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, snapshot,
	  "a raw disk beside internal snapshots",
	  "An internal snapshot is kept in the images, and raw ones have no room for it: "
	  "libvirt then refuses the whole snapshot (\"internal snapshot for disk vdb "
	  "unsupported for storage type raw\"), and with snapshot='no' on the raw disk "
	  "as "
	  "well (\"internal and full system snapshots require all disks to be "
	  "selected\"). "
	  "A domain XML tells no snapshots but those that it asks for; vmgen apply looks "
	  "for those that the guest has. Source: libvirt 9.0.0, tried." },
	{ .id = NULL },
};

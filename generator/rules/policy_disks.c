/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on the data disks of a policy. */
#include <string.h>

#include "base/text.h"
#include "rules/rules.h"

static const struct policy_disk *disks(const struct rule_input *input)
{
	return input->policy->disks.items;
}

static bool text_is(const struct value *value, const char *word)
{
	return given(value) && strcmp(value->text, word) == 0;
}

static void source(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];
		unsigned said = (unsigned)given(&disk->directory) +
				(unsigned)given(&disk->pool) +
				(unsigned)given(&disk->socket);

		if (said == 0)
			rule_report(run, disk->place,
				    "disk %s has no place; say directory, pool or socket",
				    disk->name.text);
		else if (said > 1)
			rule_report(run, disk->place,
				    "disk %s has several places; say one of directory, "
				    "pool and socket",
				    disk->name.text);
		else if (!given(&disk->socket) && !given(&disk->size))
			rule_report(run, disk->place,
				    "disk %s has no size; say size: 80 GB or the like",
				    disk->name.text);
	}
}

/* What the back end of a socket decides, or libvirt refuses for it. */
static void socket_disk(const struct rule_run *run, const struct policy_disk *disk)
{
	static const size_t offsets[] = {
		offsetof(struct policy_disk, size),
		offsetof(struct policy_disk, format),
		offsetof(struct policy_disk, cache),
		offsetof(struct policy_disk, io),
		offsetof(struct policy_disk, discard),
		offsetof(struct policy_disk, detect_zeroes),
		offsetof(struct policy_disk, iothread),
		offsetof(struct policy_disk, preallocation),
	};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		const struct value *value = (const struct value *)((const char *)disk +
								   offsets[i]);

		if (given(value))
			rule_report(run, value->place,
				    "the back end of disk %s decides that, and libvirt "
				    "refuses it; remove it",
				    disk->name.text);
	}
	if (given(&disk->bus) && !text_is(&disk->bus, "virtio"))
		rule_report(
			run, disk->bus.place,
			"a vhost-user disk on bus %s, which libvirt refuses; say bus: "
			"virtio",
			disk->bus.text);
}

static void sockets(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (given(&disk->socket))
			socket_disk(run, disk);
		else if (given(&disk->reconnect))
			rule_report(run, disk->reconnect.place,
				    "disk %s has no socket that could be connected to "
				    "again; remove it",
				    disk->name.text);
	}
}

/* vda ... for virtio, sda ... for scsi: libvirt takes the bus from it where none is said,
 * and guests expect it. nvme0n1 has no such order. */
static void target(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];
		const char *prefix = text_is(&disk->bus, "scsi") ? "sd" : "vd";
		const char *text = disk->target.text;

		if (!given(&disk->target) || text_is(&disk->bus, "nvme"))
			continue;
		if (!text_starts(text, prefix) || !text[2] ||
		    text[2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz")])
			rule_report(run, disk->target.place,
				    "target %s on bus %s; say %sb, %sc and so on", text,
				    prefix[0] == 's' ? "scsi" : "virtio", prefix, prefix);
		else if (strcmp(text + 2, "a") == 0)
			rule_report(run, disk->target.place,
				    "target %s is the guest's root disk as a rule; say "
				    "%sb or leave it out, then the first free one is "
				    "taken",
				    text, prefix);
	}
}

static void iothread(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *count = &input->policy->iothreads;

	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (given(&disk->iothread) && given(count) &&
		    disk->iothread.number > count->number)
			rule_report(
				run, disk->iothread.place,
				"iothread %s, but iothreads is %s (they count from 1); "
				"raise iothreads",
				disk->iothread.text, count->text);
	}
}

static void bus(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];
		const struct value *values[] = { &disk->iothread, &disk->queues,
						 &disk->queue_size };

		if (!given(&disk->bus) || text_is(&disk->bus, "virtio"))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(values); k++)
			if (given(values[k]))
				rule_report(
					run, values[k]->place,
					"a disk on bus %s has no I/O thread and queues "
					"of its own, and libvirt refuses them; say bus: "
					"virtio",
					disk->bus.text);
	}
}

static void io_cache(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (!text_is(&disk->io, "native") || text_is(&disk->cache, "none") ||
		    text_is(&disk->cache, "directsync"))
			continue;
		rule_report(run, disk->io.place,
			    "io: native with cache %s, which libvirt refuses; say cache: "
			    "none",
			    given(&disk->cache) ? disk->cache.text : "not given");
	}
}

static void preallocation(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (text_is(&disk->preallocation, "metadata") &&
		    !text_is(&disk->format, "qcow2"))
			rule_report(run, disk->preallocation.place,
				    "a raw image has no metadata to preallocate, and "
				    "qemu-img refuses; say falloc or full");
	}
}

static void zeroes(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (text_is(&disk->detect_zeroes, "unmap") &&
		    !text_is(&disk->discard, "unmap"))
			rule_report(
				run, disk->detect_zeroes.place,
				"detect_zeroes: unmap without discard: unmap only writes "
				"zeroes; add discard: unmap");
	}
}

static void format(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;

	for (size_t i = 0; i < policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];

		if (text_is(&disk->format, "qcow2") &&
		    (given(&policy->expect.read_iops) ||
		     given(&policy->expect.write_iops)))
			rule_report(
				run, disk->format.place,
				"qcow2 in a policy that expects IOPS: QEMU works on an "
				"image's tables in one thread; say format: raw");
	}
}

const struct rule rules_policy_disks[] = {
	{ "policy-disk", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, source,
	  "a data disk without a place or a size, or with several places",
	  "An image file is made in a directory, a volume in a pool of libvirt's; what "
	  "is "
	  "behind a socket is its back end's, which also knows its size." },
	{ "policy-disk-socket", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, sockets,
	  "a disk on a socket with what only the back end can decide",
	  "See disk-vhostuser. reconnect is for sockets alone." },
	{ "policy-target", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, target,
	  "a target that does not fit the bus, or is the root disk's",
	  "virtio disks are vda, vdb ..., SCSI disks sda, sdb ...; the first is the root "
	  "disk. The names order the disks; a guest finds them reliably by alias or "
	  "serial only. Source: libvirt, formatdomain, element target." },
	{ "policy-iothread", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, iothread,
	  "a disk on an I/O thread beyond those that the policy makes",
	  "See disk-iothread." },
	{ "policy-bus", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, bus,
	  "I/O thread or queues on a disk that is not virtio", "See disk-bus." },
	{ "policy-io-cache", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, io_cache,
	  "io: native with a page cache", "See disk-io-cache." },
	{ "policy-preallocation", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, preallocation,
	  "preallocation: metadata for a raw image",
	  "qemu-img takes off, falloc and full for raw images, metadata for qcow2 as "
	  "well. Source: qemu-img(1)." },
	{ "policy-zeroes", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, zeroes,
	  "detect_zeroes: unmap without discard: unmap",
	  "libvirt: \"unmap\" turns into \"on\" where discard is not unmap, so zeroes "
	  "are written instead of freed. Source: libvirt, formatdomain, attribute "
	  "detect_zeroes." },
	{ "policy-format", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, format,
	  "qcow2 where IOPS are expected",
	  "The block layer works on one qcow2 image's metadata serially; raw on a "
	  "preallocated file or a block device has no such limit. Source: QEMU's block "
	  "layer." },
	{ .id = NULL },
};

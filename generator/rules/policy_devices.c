/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on the disks and interfaces of a policy. */
#include <string.h>

#include "base/text.h"
#include "rules/rules.h"

enum { SOCKET_PATH_MAX = 108 };

static const struct policy_disk *disks(const struct rule_input *input)
{
	return input->policy->disks.items;
}

static const struct policy_interface *interfaces(const struct rule_input *input)
{
	return input->policy->interfaces.items;
}

static bool text_is(const struct value *value, const char *word)
{
	return given(value) && strcmp(value->text, word) == 0;
}

static int value_order(const void *left, const void *right)
{
	const struct value *const *a = left, *const *b = right;
	int order = strcmp((*a)->text, (*b)->text);

	if (order)
		return order;
	return *a < *b ? -1 : *a > *b;
}

/* Sorts VALUES and reports each that an earlier one is equal to. */
static void repeated(const struct rule_run *run, const struct value **values,
		     size_t count, const char *what)
{
	if (count)
		qsort(values, count, sizeof(*values), value_order);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(values[i - 1]->text, values[i]->text) != 0)
			continue;
		rule_report(run, values[i]->place,
			    "a second %s \"%s\"; give each its own", what,
			    values[i]->text);
		rule_note(run, values[i - 1]->place, "the first one");
	}
}

static void names(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free const struct value **values = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->policy->disks.count; i++)
		*append(values, count) = &disks(input)[i].name;
	for (size_t i = 0; i < input->policy->interfaces.count; i++)
		*append(values, count) = &interfaces(input)[i].name;
	repeated(run, values, count, "device of the name");
}

static void targets(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free const struct value **values = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->policy->disks.count; i++)
		if (given(&disks(input)[i].target))
			*append(values, count) = &disks(input)[i].target;
	repeated(run, values, count, "disk with the target");
}

/* vda ... for virtio, sda ... for scsi: libvirt takes the bus from it where none is said,
 * and guests expect it. */
static void target(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct policy_disk *disk = &disks(input)[i];
		const char *prefix = text_is(&disk->bus, "scsi") ? "sd" : "vd";
		const char *text = disk->target.text;

		if (!given(&disk->target))
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

		for (size_t k = 0; text_is(&disk->bus, "scsi") && k < ARRAY_SIZE(values);
		     k++)
			if (given(values[k]))
				rule_report(
					run, values[k]->place,
					"a SCSI disk has no I/O thread and queues of its "
					"own, and libvirt refuses them; say bus: virtio");
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

static void queues(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *vcpus = &input->policy->domain.vcpus;

	if (!given(vcpus))
		return;
	for (size_t i = 0; i < input->policy->disks.count; i++) {
		const struct value *count = &disks(input)[i].queues;

		if (given(count) && count->number > vcpus->number)
			rule_report(run, count->place,
				    "%s queues for %s vCPUs: the guest uses one for "
				    "each; say at most %s",
				    count->text, vcpus->text, vcpus->text);
	}
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct value *count = &interfaces(input)[i].queues;

		if (given(count) && count->number > vcpus->number)
			rule_report(run, count->place,
				    "%s queues for %s vCPUs: the guest uses one for "
				    "each; say auto",
				    count->text, vcpus->text);
	}
}

static bool server(const struct policy_interface *interface)
{
	return given(&interface->source.mode) &&
	       interface->source.mode.word == SOCKET_SERVER;
}

static void reconnect(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];

		if (given(&interface->reconnect) && server(interface))
			rule_report(run, interface->reconnect.place,
				    "reconnect is for mode client, and libvirt refuses "
				    "it for a server, which waits for its peer; remove "
				    "it");
	}
}

static void reconnect_missing(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];

		if (!given(&interface->reconnect) && !server(interface))
			rule_report(run, interface->place,
				    "a client without reconnect: when the switch "
				    "restarts the interface is dead until the guest "
				    "restarts; add reconnect: 10");
	}
}

/* As the first guest that comes to mind would expand it. */
static void path(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;
	const char *guest = given(&policy->domain.name) ? policy->domain.name.text : "";

	for (size_t i = 0; i < policy->interfaces.count; i++) {
		const struct policy_interface *interface = &interfaces(input)[i];
		const struct value *pattern = &interface->source.path;

		if (!given(pattern))
			continue;
		cleanup_free char *full = policy_expand(pattern->text, guest,
							interface->name.text);

		if (strlen(full) >= SOCKET_PATH_MAX)
			rule_report(
				run, pattern->place,
				"the socket's path is %zu bytes long once filled in, and "
				"the start fails; at most %d fit",
				strlen(full), SOCKET_PATH_MAX - 1);
	}
}

static void path_shared(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy *policy = input->policy;

	for (size_t i = 0; i < policy->interfaces.count; i++) {
		const struct value *pattern = &interfaces(input)[i].source.path;

		if (!given(pattern))
			continue;
		if (!strstr(pattern->text, "{name}") && policy->interfaces.count > 1)
			rule_report(
				run, pattern->place,
				"several interfaces and no {name} in the path: if it is "
				"not this one's alone they meet on one socket; add "
				"{name}");
		else if (!strstr(pattern->text, "{guest}") && policy->match.name.count)
			rule_report(run, pattern->place,
				    "no {guest} in the path, so all guests of this "
				    "policy meet on one socket; add {guest}");
	}
}

const struct rule rules_policy_devices[] = {
	{ "policy-device-name", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, names,
	  "two disks or interfaces of one name",
	  "Devices that vmgen makes carry the alias ua-vmgen-NAME, by which it knows "
	  "them again, and libvirt refuses two devices with one alias." },
	{ "policy-target-duplicate", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, targets,
	  "two disks with one target", "See disk-target." },
	{ "policy-target", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, target,
	  "a target that does not fit the bus, or is the root disk's",
	  "virtio disks are vda, vdb ..., SCSI disks sda, sdb ...; the first is the root "
	  "disk. The names order the disks; a guest finds them reliably by alias or "
	  "serial only. Source: libvirt, formatdomain, element target." },
	{ "policy-iothread", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, iothread,
	  "a disk on an I/O thread beyond those that the policy makes",
	  "See disk-iothread." },
	{ "policy-bus", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, bus,
	  "I/O thread or queues on a SCSI disk", "See disk-bus." },
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
	{ "policy-queues", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, queues,
	  "more queues than vCPUs", "See queues-vcpus and disk-queues-vcpus." },
	{ "policy-reconnect", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, reconnect,
	  "reconnect on the socket's server", "See vhost-reconnect." },
	{ "policy-reconnect-missing", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING,
	  reconnect_missing, "a client that does not come back when the switch restarts",
	  "See vhost-reconnect-missing." },
	{ "policy-path", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, path,
	  "a socket's path that is too long once filled in", "See vhost-path." },
	{ "policy-path-shared", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, path_shared,
	  "interfaces or guests that meet on one socket",
	  "{guest} and {name} in the path stand for the guest's and the interface's "
	  "name. Without them several devices use one socket; see vhost-path-server and "
	  "vhost-path-shared." },
	{ .id = NULL },
};

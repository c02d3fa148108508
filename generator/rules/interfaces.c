/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on interfaces of all types: queues, rings, addresses. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

enum { QUEUES_MAX = 511, RING_MIN = 256, RING_MAX = 1024 };

static bool vhostuser(const struct guest_interface *interface)
{
	return text_equal(interface->type, "vhostuser");
}

/* Where the interfaces' <driver> attributes are looked at. */
static void each_driver(const struct rule_input *input, const struct rule_run *run,
			void (*visit)(const struct rule_input *input,
				      const struct rule_run *run,
				      const struct guest_interface *interface,
				      const struct element *driver))
{
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		struct element *driver = element_child(interface->element, "driver");

		if (driver)
			visit(input, run, interface, driver);
	}
}

static void driver_limit(const struct rule_input *input, const struct rule_run *run,
			 const struct guest_interface *interface,
			 const struct element *driver)
{
	unsigned long long queues;

	(void)interface;
	if (read_number(driver, "queues", &queues) && (queues < 1 || queues > QUEUES_MAX))
		rule_report(
			run, read_place(input->guest, driver, "queues"),
			"%llu queues, but QEMU takes 1 to %d (two virtqueues each, one "
			"more for control, 1024 in all)",
			queues, QUEUES_MAX);
}

static void queues_limit(const struct rule_input *input, const struct rule_run *run)
{
	each_driver(input, run, driver_limit);
}

static void driver_vcpus(const struct rule_input *input, const struct rule_run *run,
			 const struct guest_interface *interface,
			 const struct element *driver)
{
	unsigned long long queues;

	(void)interface;
	if (read_number(driver, "queues", &queues) && queues > input->guest->vcpus &&
	    queues <= QUEUES_MAX)
		rule_report(
			run, read_place(input->guest, driver, "queues"),
			"%llu queues for %u vCPUs: the guest uses one for each vCPU, the "
			"others cost memory and interrupts; use at most %u",
			queues, input->guest->vcpus, input->guest->vcpus);
}

static void queues_vcpus(const struct rule_input *input, const struct rule_run *run)
{
	each_driver(input, run, driver_vcpus);
}

static void driver_backend(const struct rule_input *input, const struct rule_run *run,
			   const struct guest_interface *interface,
			   const struct element *driver)
{
	const struct value *limit = &input->host_policy->vswitch.max_queues;
	unsigned long long queues;

	if (!vhostuser(interface) || !read_number(driver, "queues", &queues) ||
	    queues <= limit->number)
		return;
	rule_report(
		run, read_place(input->guest, driver, "queues"),
		"%llu queues, but the switch takes %llu and QEMU hangs at start, asking "
		"for more; use at most %llu",
		queues, (unsigned long long)limit->number,
		(unsigned long long)limit->number);
	rule_note(run, limit->place, "max_queues is %s", limit->text);
}

static void queues_backend(const struct rule_input *input, const struct rule_run *run)
{
	if (given(&input->host_policy->vswitch.max_queues))
		each_driver(input, run, driver_backend);
}

static bool ring(unsigned long long size)
{
	return size >= RING_MIN && size <= RING_MAX && (size & (size - 1)) == 0;
}

static void driver_ring(const struct rule_input *input, const struct rule_run *run,
			const struct guest_interface *interface,
			const struct element *driver)
{
	static const char *const names[] = { "rx_queue_size", "tx_queue_size" };
	unsigned long long size;

	(void)interface;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (read_number(driver, names[i], &size) && !ring(size))
			rule_report(
				run, read_place(input->guest, driver, names[i]),
				"%s %llu, but QEMU takes 256, 512 and 1024 only and the "
				"start fails",
				names[i], size);
}

static void ring_size(const struct rule_input *input, const struct rule_run *run)
{
	each_driver(input, run, driver_ring);
}

static void driver_tx(const struct rule_input *input, const struct rule_run *run,
		      const struct guest_interface *interface,
		      const struct element *driver)
{
	unsigned long long size;

	if (vhostuser(interface) || text_equal(interface->type, "vdpa") ||
	    !read_number(driver, "tx_queue_size", &size) || !ring(size) ||
	    size <= RING_MIN)
		return;
	rule_report(run, read_place(input->guest, driver, "tx_queue_size"),
		    "tx_queue_size %llu on an interface of type '%s': QEMU 7.2 cuts it "
		    "to 256 without a word, newer ones fail; only vhostuser and vdpa "
		    "take more",
		    size, interface->type ? interface->type : "");
}

static void ring_tx(const struct rule_input *input, const struct rule_run *run)
{
	each_driver(input, run, driver_tx);
}

struct mac {
	const char *text;
	const struct element *element;
};

static int mac_order(const void *left, const void *right)
{
	const struct mac *a = left, *b = right;
	int order = strcasecmp(a->text, b->text);

	if (order)
		return order;
	return a->element->start < b->element->start ? -1 : 1;
}

static void mac(const struct rule_input *input, const struct rule_run *run)
{
	cleanup_free struct mac *macs = NULL;
	size_t count = 0;

	for (size_t i = 0; i < input->guest->n_interfaces; i++)
		if (input->guest->interfaces[i].mac)
			*append(macs, count) = (struct mac){
				input->guest->interfaces[i].mac,
				input->guest->interfaces[i].element
			};
	if (count)
		qsort(macs, count, sizeof(*macs), mac_order);
	for (size_t i = 1; i < count; i++) {
		/* A failover pair shares its address on purpose. */
		if (strcasecmp(macs[i - 1].text, macs[i].text) != 0 ||
		    element_child(macs[i].element, "teaming"))
			continue;
		rule_report(
			run, macs[i].element->place,
			"two interfaces have the MAC address %s, so the switch sends to "
			"one of them; give each its own",
			macs[i].text);
		rule_note(run, macs[i - 1].element->place, "the other one");
	}
}

const struct rule rules_interfaces[] = {
	{ "vhost-queues", DIAG_ERROR, RULE_GUEST, NEEDS_HOST_POLICY, queues_backend,
	  "more queues than the switch takes: the start hangs",
	  "QEMU writes \"you are asking more queues than supported: 8\" to its log again "
	  "and again, and virsh start never returns. Ask for no more than max_queues of "
	  "the host policy. Source: libvirt 9.0.0 with QEMU 7.2, tried; snabb issue "
	  "1131." },
	{ "queues-limit", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, queues_limit,
	  "an interface with no queue, or more than QEMU can have",
	  "A device has 1024 virtqueues: two for each pair and one for control, so 511 "
	  "pairs. 1024 crashes QEMU on an assertion. Source: libvirt 9.0.0 with QEMU "
	  "7.2, tried." },
	{ "queues-vcpus", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, queues_vcpus,
	  "more queues than vCPUs",
	  "A guest drives one queue pair from each vCPU; the others take memory, "
	  "interrupts and, in the switch, polling. Source: cloud-hypervisor issue 2563; "
	  "Linux, virtio_net." },
	{ "ring-size", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, ring_size,
	  "a ring that is not 256, 512 or 1024",
	  "libvirt checks only that it is a power of two; QEMU says \"Invalid "
	  "rx_queue_size (= 128), must be a power of 2 between 256 and 1024\". For "
	  "zero-copy use the size of the NIC's ring. Source: libvirt 9.0.0 with QEMU "
	  "7.2, tried." },
	{ "ring-tx", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, ring_tx,
	  "a transmit ring above 256 where QEMU has no more",
	  "Only vhost-user and vDPA interfaces take more than 256: QEMU 7.2 cuts it down "
	  "without a word, 10.0 refuses to start. Remove tx_queue_size, or use "
	  "vhostuser. Source: QEMU, virtio-net.c; tried; tp-libvirt pull requests 5141 "
	  "and 1322." },
	{ "mac-duplicate", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, mac,
	  "two interfaces of a guest with one MAC address",
	  "libvirt starts it. A switch learns an address on one port, so the other "
	  "interface receives nothing. Interfaces of a <teaming> pair share theirs on "
	  "purpose. Source: libvirt 9.0.0, tried." },
	{ .id = NULL },
};

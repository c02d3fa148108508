/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on devices of the host that a guest uses, and the nodes that they are on. */
#include <string.h>

#include "base/text.h"
#include "rules/numa.h"
#include "rules/pins.h"
#include "rules/read.h"

/* "0000:5e:00.0" from <address domain bus slot function>; the caller frees it. */
static char *pci_of(const struct element *address)
{
	static const char *const parts[] = { "domain", "bus", "slot", "function" };
	unsigned long values[4];

	for (size_t i = 0; i < 4; i++) {
		const char *text = element_attribute(address, parts[i]);
		char *end = NULL;

		values[i] = text ? strtoul(text, &end, 0) : 0;
		if ((i && !text) || (text && (!*text || *end || values[i] > 0xffff)))
			return NULL;
	}
	return xasprintf("%04lx:%02lx:%02lx.%lx", values[0], values[1], values[2],
			 values[3]);
}

/* "nvme0n1" of "/dev/nvme0n1p2": the caller frees it. */
static char *block_of(const char *path)
{
	char *name = xstrdup(path + strlen("/dev/"));
	char *part = strrchr(name, 'p');

	if (text_starts(name, "nvme") && part && part != name &&
	    strspn(part + 1, "0123456789") == strlen(part + 1))
		*part = '\0';
	return name;
}

static const struct host_device *device_of_file(const struct host *host, const char *path)
{
	const struct host_device *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < host->n_devices; i++)
		for (size_t k = 0; k < host->devices[i].n_mounts; k++) {
			const char *mount = host->devices[i].mounts[k];
			size_t length = strlen(mount);

			if (length > 1 && mount[length - 1] == '/')
				length--;
			if (length < longest || strncmp(path, mount, length) != 0 ||
			    (length > 1 && path[length] != '/'))
				continue;
			best = &host->devices[i];
			longest = length;
		}
	return best;
}

static const struct host_device *device_of_path(const struct host *host, const char *path)
{
	if (!text_starts(path, "/dev/"))
		return device_of_file(host, path);
	cleanup_free char *name = block_of(path);

	return host_device(host, name);
}

static const struct host_device *device_of_address(const struct host *host,
						   const struct element *address)
{
	cleanup_free char *pci = address ? pci_of(address) : NULL;

	return pci ? host_device(host, pci) : NULL;
}

struct device_visit {
	const struct rule_input *input;
	const struct rule_run *run;
	struct cpuset nodes; /* that the vCPUs are pinned to */
	void (*found)(const struct device_visit *visit, const struct element *element,
		      const struct host_device *device);
};

static void visit(const struct device_visit *to, const struct element *element,
		  const struct host_device *device)
{
	if (device)
		to->found(to, element, device);
}

static void visit_disks(const struct device_visit *to)
{
	const struct guest *guest = to->input->guest;
	const struct host *host = to->input->host;

	for (size_t i = 0; i < guest->n_disks; i++) {
		const struct guest_disk *disk = &guest->disks[i];
		struct element *address = element_find(disk->element, "source/address");

		if (text_equal(disk->type, "nvme"))
			visit(to, disk->element, device_of_address(host, address));
		else if (disk->source && disk->source[0] == '/' &&
			 !text_equal(disk->type, "vhostuser"))
			visit(to, disk->element, device_of_path(host, disk->source));
	}
}

static void visit_interfaces(const struct device_visit *to)
{
	const struct guest *guest = to->input->guest;
	const struct host *host = to->input->host;

	for (size_t i = 0; i < guest->n_interfaces; i++) {
		const struct guest_interface *interface = &guest->interfaces[i];
		struct element *address = element_find(interface->element,
						       "source/address");

		if (text_equal(interface->type, "hostdev"))
			visit(to, interface->element, device_of_address(host, address));
		else if (text_equal(interface->type, "direct") && interface->source)
			visit(to, interface->element,
			      host_device(host, interface->source));
	}
}

/* A policy that says what is near has weighed the rest. */
static bool weighed(const struct policy *policy, enum near kind)
{
	const struct values *near = policy ? &policy->numatune.near : NULL;

	for (size_t i = 0; near && i < near->count; i++)
		if (near->items[i].word == (int)kind)
			return false;
	return near && near->count;
}

static void visit_devices(const struct rule_input *input, const struct rule_run *run,
			  void (*found)(const struct device_visit *visit,
					const struct element *element,
					const struct host_device *device))
{
	struct cpuset cpus = pins_all(input->guest);
	struct device_visit to = { input, run, numa_nodes(input->host, &cpus), found };

	if (input->host->n_nodes < 2 || cpuset_empty(&to.nodes))
		return;
	if (!weighed(input->policy, NEAR_DISKS))
		visit_disks(&to);
	if (!weighed(input->policy, NEAR_INTERFACES))
		visit_interfaces(&to);
	element_foreach (hostdev, element_find(input->guest->domain, "devices"),
			 "hostdev")
		if (read_is(hostdev, "type", "pci"))
			visit(&to, hostdev,
			      device_of_address(input->host,
						element_find(hostdev, "source/address")));
}

static const char *device_name(const struct host_device *device)
{
	return device->n_names ? device->names[0] : device->pci;
}

static void device_far(const struct device_visit *visit, const struct element *element,
		       const struct host_device *device)
{
	if (device->node < 0 || cpuset_has(&visit->nodes, (unsigned)device->node))
		return;
	cleanup_free char *here = cpuset_format(&visit->nodes);

	rule_report(
		visit->run, element->place,
		"%s is on node %d, the vCPUs are pinned to node %s; pin them to node %d, "
		"or use a device of node %s",
		device_name(device), device->node, here, device->node, here);
}

static void device(const struct rule_input *input, const struct rule_run *run)
{
	visit_devices(input, run, device_far);
}

static void device_homeless(const struct device_visit *visit,
			    const struct element *element,
			    const struct host_device *device)
{
	if (device->node < 0)
		rule_report(
			visit->run, element->place,
			"the firmware does not say which node %s is on (numa_node is "
			"-1), so nothing can place the guest near it; look it up in the "
			"machine's manual",
			device_name(device));
}

static void device_unknown(const struct rule_input *input, const struct rule_run *run)
{
	visit_devices(input, run, device_homeless);
}

const struct rule rules_devices[] = {
	{ "numa-device", DIAG_WARNING, RULE_GUEST, NEEDS_DEVICES, device,
	  "a disk or device is on another node than the vCPUs",
	  "Interrupts, doorbells and the data cross the interconnect. With vhost-user "
	  "and a NIC: 11.3 Mpps with the CPUs together and the NIC away, 10.1 the other "
	  "way round, so put the vCPUs together first, then near the device. Where a "
	  "policy says what is near, only that is looked at. Source: vhost zero-copy "
	  "practice; OpenNebula issue 7408." },
	{ "numa-device-unknown", DIAG_WARNING, RULE_GUEST, NEEDS_DEVICES, device_unknown,
	  "the host does not know the node of a device that the guest uses",
	  "numa_node in /sys/bus/pci/devices reads -1 when the firmware's tables leave "
	  "the device out; placement then treats all nodes alike. The machine's manual "
	  "says which slot belongs to which socket; a firmware update often mends it. "
	  "Source: Linux, Documentation/ABI/testing/sysfs-bus-pci." },
	{ .id = NULL },
};

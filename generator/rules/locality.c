/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on what is near what: a guest's vCPUs, memory and devices on a host's nodes. */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/numa.h"
#include "rules/pins.h"
#include "rules/read.h"

static struct cpuset host_nodes(const struct host *host)
{
	struct cpuset nodes = CPUSET_INIT;

	for (size_t i = 0; i < host->n_nodes; i++)
		cpuset_set(&nodes, host->nodes[i].number);
	return nodes;
}

static void node_missing(const struct rule_input *input, const struct rule_run *run)
{
	struct cpuset there = host_nodes(input->host), named;
	cleanup_free char *have = cpuset_format(&there);

	element_foreach (child, element_find(input->guest->domain, "numatune"), NULL) {
		if (!read_cpus(child, "nodeset", &named))
			continue;
		cpuset_andnot(&named, &there);
		if (cpuset_empty(&named))
			continue;
		cleanup_free char *what = cpuset_format(&named);

		rule_report(run, read_place(input->guest, child, "nodeset"),
			    "%s has no node %s, and the start fails; it has %s",
			    input->host->origin, what, have);
	}
}

/* CPUs that the vCPUs of BINDING are pinned to; those without a pin say nothing. */
static struct cpuset cpus_of(const struct guest *guest,
			     const struct numa_binding *binding)
{
	struct cpuset cpus = CPUSET_INIT;

	cpuset_foreach (vcpu, &binding->vcpus)
		if (vcpu < guest->vcpus && guest->vcpupin[vcpu].element)
			cpuset_or(&cpus, &guest->vcpupin[vcpu].cpus);
	return cpus;
}

static void cross(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		const struct numa_binding *binding = &bindings[i];
		struct cpuset cpus = cpus_of(input->guest, binding);
		struct cpuset near = numa_nodes(input->host, &cpus);

		if (!binding->element || cpuset_empty(&near) ||
		    strcmp(binding->mode, "interleave") == 0 ||
		    cpuset_intersects(&near, &binding->nodes))
			continue;
		cleanup_free char *memory = cpuset_format(&binding->nodes);
		cleanup_free char *here = cpuset_format(&near);

		rule_report(
			run, read_place(input->guest, binding->element, "nodeset"),
			"memory is on node %s, the vCPUs that use it are pinned to node "
			"%s, so every access crosses nodes; bind to node %s",
			memory, here, here);
	}
}

static void unbound(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	if (input->host->n_nodes < 2 || element_find(input->guest->domain, "numatune"))
		return;
	for (size_t i = 0; i < count; i++) {
		struct cpuset cpus = cpus_of(input->guest, &bindings[i]);
		struct cpuset near = numa_nodes(input->host, &cpus);

		if (cpuset_count(&near) != 1)
			continue;
		rule_report(
			run, element_find(input->guest->domain, "cputune")->place,
			"vCPUs are pinned to node %u but memory is bound to none, so it "
			"comes from whatever node has some; add <numatune><memory "
			"mode='strict' nodeset='%u'/>",
			cpuset_next(&near, 0), cpuset_next(&near, 0));
		return;
	}
}

static void spans(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset alone = pins_alone(guest);
	struct cpuset nodes = numa_nodes(input->host, &alone);

	if (cpuset_count(&nodes) < 2 || guest->n_cells > 1)
		return;
	cleanup_free char *what = cpuset_format(&nodes);

	rule_report(run, element_find(guest->domain, "cputune")->place,
		    "vCPUs are pinned to nodes %s, but the guest is told of one node and "
		    "cannot keep work near its memory; pin to one, or give it cells with "
		    "<memnode>",
		    what);
}

static void emulator_far(const struct rule_input *input, const struct rule_run *run)
{
	const struct element *element;
	struct cpuset cpus;
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	if (input->libvirt >= 9004000 || !pins_emulator(input->guest, &element, &cpus))
		return;
	struct cpuset nodes = numa_nodes(input->host, &cpus);

	for (size_t i = 0; i < count; i++) {
		if (!bindings[i].element || strcmp(bindings[i].mode, "strict") != 0 ||
		    cpuset_empty(&nodes) || cpuset_intersects(&nodes, &bindings[i].nodes))
			continue;
		cleanup_free char *memory = cpuset_format(&bindings[i].nodes);

		rule_report(
			run, read_place(input->guest, element, "cpuset"),
			"the emulator has no CPU on node %s, where libvirt before 9.4.0 "
			"needs one to allocate the memory; add one",
			memory);
		return;
	}
}

static void too_small(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t total = 0;

		if (!bindings[i].element || strcmp(bindings[i].mode, "strict") != 0)
			continue;
		cpuset_foreach (number, &bindings[i].nodes) {
			const struct host_node *node = host_node(input->host, number);

			total += node ? node->memory : 0;
		}
		if (bindings[i].memory <= total)
			continue;
		cleanup_free char *want = size_format(bindings[i].memory);
		cleanup_free char *have = size_format(total);
		cleanup_free char *nodes = cpuset_format(&bindings[i].nodes);

		rule_report(
			run, read_place(input->guest, bindings[i].element, "nodeset"),
			"%s of guest memory cannot be on node %s, which has %s in all; "
			"name more nodes or give the guest less",
			want, nodes, have);
	}
}

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

static void visit_devices(const struct rule_input *input, const struct rule_run *run,
			  void (*found)(const struct device_visit *visit,
					const struct element *element,
					const struct host_device *device))
{
	struct cpuset cpus = pins_all(input->guest);
	struct device_visit to = { input, run, numa_nodes(input->host, &cpus), found };

	if (input->host->n_nodes < 2 || cpuset_empty(&to.nodes))
		return;
	visit_disks(&to);
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

const struct rule rules_locality[] = {
	{ "numa-node-missing", DIAG_ERROR, RULE_GUEST, NEEDS_HOST, node_missing,
	  "numatune names a node that the host does not have",
	  "libvirt defines it; the start fails with \"NUMA node 5 is unavailable\", in "
	  "newer "
	  "versions with \"Invalid value ... for 'cpuset.mems'\". Source: libvirt 9.0.0, "
	  "tried; tp-libvirt pull request 5093." },
	{ "numa-cross", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, cross,
	  "vCPUs on one node, their memory on another",
	  "Every cache miss crosses the interconnect. Measured with vhost-user: 9.0 Mpps "
	  "with all on one node, 8.9 with the memory away, 5.0 with the CPU away (3.1 "
	  "when "
	  "copying): the CPU's node matters most. Bind the memory to the node of the "
	  "pins. "
	  "Source: vhost zero-copy practice; OpenStack's numa-aware-vswitches says up to "
	  "50 %." },
	{ "numa-unbound", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, unbound,
	  "vCPUs are pinned to one node of several, memory is not bound",
	  "The kernel takes memory near the thread that touches it first, which is "
	  "QEMU's "
	  "main thread when it is preallocated, and from elsewhere when the node is "
	  "full: "
	  "the next start may be slow. Add <numatune>. Source: LXD issue 15082, "
	  "OpenNebula "
	  "issue 6185." },
	{ "numa-spans", DIAG_WARNING, RULE_GUEST, NEEDS_HOST, spans,
	  "vCPUs on several nodes of which the guest knows nothing",
	  "The guest's kernel keeps a task's memory near its CPU only if it knows the "
	  "nodes. "
	  "Pin the guest to one node, or give it as many cells, each bound by <memnode> "
	  "to "
	  "the node of its vCPUs. Source: libvirt, formatdomain, guest NUMA topology." },
	{ "numa-emulator", DIAG_WARNING, RULE_GUEST, NEEDS_HOST | NEEDS_LIBVIRT,
	  emulator_far, "the emulator has no CPU on the node whose memory it allocates",
	  "Before 9.4.0 libvirt confines QEMU to the emulator's CPUs before the memory "
	  "is "
	  "allocated; the threads that touch it first should be able to run on its node. "
	  "Source: libvirt, formatdomain; its notes on 9.4.0." },
	{ "numa-memory", DIAG_ERROR, RULE_GUEST, NEEDS_MEMORY, too_small,
	  "strict binding to nodes that have less memory than the guest",
	  "Strict memory comes from these nodes or not at all: the start fails, or the "
	  "guest "
	  "is killed once it has touched what is there. Name more nodes (with cells of "
	  "its "
	  "own for each), or give the guest less. Source: kubevirt issue 6981, "
	  "virt-lint." },
	{ "numa-device", DIAG_WARNING, RULE_GUEST, NEEDS_DEVICES, device,
	  "a disk or device is on another node than the vCPUs",
	  "Interrupts, doorbells and the data cross the interconnect. With vhost-user "
	  "and a "
	  "NIC: 11.3 Mpps with the CPUs together and the NIC away, 10.1 the other way "
	  "round, so put the vCPUs together first, then near the device. Source: vhost "
	  "zero-copy practice; OpenNebula issue 7408." },
	{ "numa-device-unknown", DIAG_WARNING, RULE_GUEST, NEEDS_DEVICES, device_unknown,
	  "the host does not know the node of a device that the guest uses",
	  "numa_node in /sys/bus/pci/devices reads -1 when the firmware's tables leave "
	  "the "
	  "device out; placement then treats all nodes alike. The machine's manual says "
	  "which slot belongs to which socket; a firmware update often mends it. Source: "
	  "Linux, Documentation/ABI/testing/sysfs-bus-pci." },
	{ .id = NULL },
};

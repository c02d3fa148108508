/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which host nodes the things are on that a guest should be near to. */
#include <string.h>

#include "placement/near.h"

/* Notes that THING is on NODE, once. */
static void found(struct cpuset *nodes, struct text *why, const char *thing, int node)
{
	if (node < 0)
		return;
	cpuset_set(nodes, (unsigned)node);
	if (!why->data || !strstr(why->data, thing))
		text_printf(why, "%s%s is on node %d", why->length ? ", " : "", thing,
			    node);
}

static void found_device(struct cpuset *nodes, struct text *why,
			 const struct host_device *device)
{
	if (device)
		found(nodes, why, device->n_names ? device->names[0] : device->pci,
		      device->node);
}

/* The directory of a file is what speaks: its files come and go. */
static void found_path(const struct host *host, const char *path, struct cpuset *nodes,
		       struct text *why)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!slash)
		return;
	cleanup_free char *directory = xstrndup(path, (size_t)(slash - path));
	struct cpuset on = host_nodes_of_path(host, path);
	cpuset_foreach (node, &on)
		found(nodes, why, directory, (int)node);
}

static void all_of_kind(const struct host *host, enum host_device_kind kind,
			struct cpuset *nodes, struct text *why)
{
	for (size_t i = 0; i < host->n_devices; i++)
		if (host->devices[i].kind == kind)
			found_device(nodes, why, &host->devices[i]);
}

static void found_disk(const struct host *host, const struct policy_disk *disk,
		       struct cpuset *nodes, struct text *why)
{
	cleanup_free char *file = xasprintf("%s/", disk->directory.text);

	found_path(host, file, nodes, why);
}

static void near_disks(const struct policy *policy, const struct host *host,
		       const struct host_policy *host_policy, const struct guest *guest,
		       struct cpuset *nodes, struct text *why)
{
	const struct policy_disk *disks = policy->disks.items;

	for (size_t i = 0; i < policy->disks.count; i++)
		found_disk(host, &disks[i], nodes, why);
	for (size_t i = 0; i < guest->n_disks; i++)
		found_path(host, guest->disks[i].source, nodes, why);
	if (!cpuset_empty(nodes))
		return;
	const struct drive *drives = host_policy ? host_policy->drives.items : NULL;
	for (size_t i = 0; drives && i < host_policy->drives.count; i++)
		found_device(nodes, why, host_device(host, drives[i].device.text));
	if (cpuset_empty(nodes))
		all_of_kind(host, HOST_DEVICE_NVME, nodes, why);
}

static void near_interfaces(const struct policy *policy, const struct host *host,
			    const struct host_policy *host_policy,
			    const struct guest *guest, struct cpuset *nodes,
			    struct text *why)
{
	const struct cpuset *pmd = host_policy ? host_policy->vswitch.pmd_cpus.cpus
					       : NULL;
	bool vhostuser = policy->interfaces.count > 0;

	for (size_t i = 0; i < guest->n_interfaces; i++) {
		const struct guest_interface *interface = &guest->interfaces[i];

		vhostuser |= text_equal(interface->type, "vhostuser");
		if (interface->source)
			found_device(nodes, why, host_device(host, interface->source));
	}
	if (vhostuser && pmd) {
		cpuset_foreach (cpu, pmd) {
			const struct host_cpu *place = host_cpu(host, cpu);

			found(nodes, why, "the vswitch's PMD", place ? place->node : -1);
		}
	}
	if (cpuset_empty(nodes))
		all_of_kind(host, HOST_DEVICE_NIC, nodes, why);
}

void near_nodes(const struct value *item, const struct policy *policy,
		const struct host *host, const struct host_policy *host_policy,
		const struct guest *guest, struct cpuset *ret_nodes, struct text *why)
{
	*ret_nodes = (struct cpuset)CPUSET_INIT;
	if (item->word == NEAR_DISKS)
		near_disks(policy, host, host_policy, guest, ret_nodes, why);
	else if (item->word == NEAR_INTERFACES)
		near_interfaces(policy, host, host_policy, guest, ret_nodes, why);
	else if (item->text[0] == '/')
		found_path(host, item->text, ret_nodes, why);
	else
		found_device(ret_nodes, why, host_device(host, item->text));
}

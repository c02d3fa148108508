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
	if (!given(&disk->directory))
		return;
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

static bool is_switched(const struct policy *policy, const struct guest *guest)
{
	bool vhostuser = policy->interfaces.count > 0;

	for (size_t i = 0; i < guest->n_interfaces; i++)
		vhostuser |= text_equal(guest->interfaces[i].type, "vhostuser");
	return vhostuser;
}

/* Where the vswitch polls, with what it is worth to be there. */
static void near_pmd(const struct host *host, const struct host_policy *host_policy,
		     struct cpuset *nodes, struct text *why)
{
	const struct cpuset *pmd = host_policy->vswitch.pmd_cpus.cpus;

	if (!pmd)
		return;
	cpuset_foreach (number, pmd) {
		const struct host_cpu *cpu = host_cpu(host, number);

		if (cpu && cpu->node >= 0)
			cpuset_set(nodes, (unsigned)cpu->node);
	}
	if (cpuset_empty(nodes))
		return;
	cleanup_free char *where = cpuset_format(nodes);
	text_printf(why,
		    "%sthe vswitch polls on node %s (vCPU and switch on one node 9.0 "
		    "Mpps, on two 5.0, or 3.1 where packets are copied: vhost zero-copy "
		    "practice)",
		    why->length ? ", " : "", where);
}

static void near_interfaces(const struct policy *policy, const struct host *host,
			    const struct host_policy *host_policy,
			    const struct guest *guest, struct cpuset *nodes,
			    struct text *why)
{
	if (host_policy && is_switched(policy, guest))
		near_pmd(host, host_policy, nodes, why);
	for (size_t i = 0; i < guest->n_interfaces; i++)
		if (guest->interfaces[i].source)
			found_device(nodes, why,
				     host_device(host, guest->interfaces[i].source));
	if (cpuset_empty(nodes))
		all_of_kind(host, HOST_DEVICE_NIC, nodes, why);
}

static bool wants_interfaces(const struct policy *policy)
{
	const struct values *near = &policy->numatune.near;

	for (size_t i = 0; i < near->count; i++)
		if (near->items[i].word == NEAR_INTERFACES)
			return true;
	return false;
}

void near_switch(const struct policy *policy, const struct host *host,
		 const struct host_policy *host_policy, const struct guest *guest,
		 struct cpuset *ret_pmd, struct cpuset *ret_nics, struct text *why)
{
	*ret_pmd = *ret_nics = (struct cpuset)CPUSET_INIT;
	if (!host_policy || !is_switched(policy, guest))
		return;
	if (!wants_interfaces(policy))
		near_pmd(host, host_policy, ret_pmd, why);
	for (size_t i = 0; i < host_policy->vswitch.nics.count; i++)
		found_device(ret_nics, why,
			     host_device(host, host_policy->vswitch.nics.items[i].text));
	if (!cpuset_empty(ret_nics))
		text_add(why, " (CPUs together and the NIC away 11.3 Mpps, the other way "
			      "10.1)");
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

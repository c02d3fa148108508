/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine as data: look-ups. */
#include <string.h>

#include "host/host.h"

/* ACPI's distances, for machines that tell none. */
enum { DISTANCE_LOCAL = 10, DISTANCE_REMOTE = 20 };

static void device_done(struct host_device *device)
{
	for (size_t i = 0; i < device->n_names; i++)
		free(device->names[i]);
	for (size_t i = 0; i < device->n_mounts; i++)
		free(device->mounts[i]);
	free(device->names);
	free(device->mounts);
	free(device->pci);
}

void host_free(struct host *host)
{
	if (!host)
		return;
	for (size_t i = 0; i < host->n_nodes; i++) {
		free(host->nodes[i].pages);
		free(host->nodes[i].distances);
	}
	for (size_t i = 0; i < host->n_devices; i++)
		device_done(&host->devices[i]);
	for (size_t i = 0; i < host->n_other_mounts; i++)
		free(host->other_mounts[i]);
	free(host->other_mounts);
	free(host->nodes);
	free(host->devices);
	free(host->cpus);
	free(host->name);
	free(host->origin);
	free(host->arch);
	free(host);
}

void host_free_pointer(struct host **host)
{
	host_free(*host);
}

static int cpu_order(const void *left, const void *right)
{
	const struct host_cpu *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

const struct host_cpu *host_cpu(const struct host *host, unsigned number)
{
	const struct host_cpu key = { .number = number };

	return bsearch(&key, host->cpus, host->n_cpus, sizeof(key), cpu_order);
}

const struct host_node *host_node(const struct host *host, unsigned number)
{
	for (size_t i = 0; i < host->n_nodes; i++)
		if (host->nodes[i].number == number)
			return &host->nodes[i];
	return NULL;
}

static bool has_name(const struct host_device *device, const char *name)
{
	for (size_t i = 0; i < device->n_names; i++)
		if (!strcmp(device->names[i], name))
			return true;
	return false;
}

const struct host_device *host_device(const struct host *host, const char *pci_or_name)
{
	for (size_t i = 0; i < host->n_devices; i++)
		if (!strcmp(host->devices[i].pci, pci_or_name) ||
		    has_name(&host->devices[i], pci_or_name))
			return &host->devices[i];
	return NULL;
}

bool host_path_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (length && directory[length - 1] == '/')
		length--;
	return !strncmp(path, directory, length) &&
	       (path[length] == '/' || !path[length]);
}

/* The length of the longest of MOUNTS that PATH is below, plus one; 0 when it is on none.
 */
static size_t longest_mount(char *const *mounts, size_t count, const char *path)
{
	size_t longest = 0;

	for (size_t i = 0; i < count; i++)
		if (host_path_is_below(path, mounts[i]) &&
		    strlen(mounts[i]) + 1 > longest)
			longest = strlen(mounts[i]) + 1;
	return longest;
}

struct cpuset host_nodes_of_path(const struct host *host, const char *path)
{
	size_t longest = longest_mount(host->other_mounts, host->n_other_mounts, path);
	struct cpuset nodes = CPUSET_INIT;

	for (size_t i = 0; i < host->n_devices; i++) {
		const struct host_device *device = &host->devices[i];
		size_t length = longest_mount(device->mounts, device->n_mounts, path);

		if (!length || length < longest)
			continue;
		if (length > longest)
			nodes = (struct cpuset)CPUSET_INIT;
		longest = length;
		if (device->node != HOST_NO_NODE)
			cpuset_set(&nodes, (unsigned)device->node);
	}
	return nodes;
}

struct cpuset host_siblings(const struct host *host, unsigned cpu)
{
	struct cpuset siblings = CPUSET_INIT;
	const struct host_cpu *of = host_cpu(host, cpu);

	for (size_t i = 0; of && i < host->n_cpus; i++)
		if (host->cpus[i].core == of->core)
			cpuset_set(&siblings, host->cpus[i].number);
	return siblings;
}

unsigned host_distance(const struct host *host, unsigned from, unsigned to)
{
	const struct host_node *source = host_node(host, from);
	const struct host_node *target = host_node(host, to);

	if (source && target && source->distances)
		return source->distances[target - host->nodes];
	return from == to ? DISTANCE_LOCAL : DISTANCE_REMOTE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What proc and sys tell of a machine. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "machine/facts.h"
#include "machine/mounts.h"
#include "machine/sysfs.h"

/* The number of KiB behind KEY in a meminfo ("Node 0 MemFree:  4248792 kB"), or unknown.
 */
static uint64_t meminfo(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	uint64_t number;

	if (!at || sscanf(at + strlen(key), ": %" SCNu64 " kB", &number) != 1)
		return HOST_UNKNOWN;
	return number * KIB;
}

/* Free, or page cache that the kernel drops when memory is asked for; it tells
 * MemAvailable for the whole machine only. */
static uint64_t available(const char *text)
{
	static const char *const parts[] = { "Active(file)", "Inactive(file)",
					     "SReclaimable" };
	uint64_t bytes = meminfo(text, "MemFree"), total = meminfo(text, "MemTotal");

	if (bytes == HOST_UNKNOWN)
		return HOST_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t part = meminfo(text, parts[i]);

		bytes += part == HOST_UNKNOWN ? 0 : part;
	}
	return bytes < total ? bytes : total;
}

static int page_order(const void *left, const void *right)
{
	const struct host_pages *a = left, *b = right;

	return (a->size > b->size) - (a->size < b->size);
}

/* Pools in DIRECTORY, as "hugepages-2048kB"; a kernel without hugepages has none. */
static void read_pages(struct host_node *node, const char *directory)
{
	size_t count;
	char **names = sysfs_list(&count, "%s", directory);

	free(take(node->pages));
	node->n_pages = 0;
	node->pages_known = true;
	for (size_t i = 0; i < count; i++) {
		struct host_pages pages = { .free = HOST_UNKNOWN };
		uint64_t kib;

		if (sscanf(names[i], "hugepages-%" SCNu64 "kB", &kib) == 1 &&
		    sysfs_number(&pages.total, "%s/%s/nr_hugepages", directory,
				 names[i])) {
			pages.size = kib * KIB;
			sysfs_number(&pages.free, "%s/%s/free_hugepages", directory,
				     names[i]);
			/* Two reads, between which pages may have gone. */
			if (pages.free != HOST_UNKNOWN && pages.free > pages.total)
				pages.free = pages.total;
			*append(node->pages, node->n_pages) = pages;
		}
		free(names[i]);
	}
	free(names);
	if (node->n_pages)
		qsort(node->pages, node->n_pages, sizeof(*node->pages), page_order);
}

/* MEMINFO is what shows that this is the machine's proc or sys at all. */
static void read_memory(struct host_node *node, const char *meminfo_path,
			const char *pages_path)
{
	cleanup_free char *text = sysfs_text("%s", meminfo_path);

	if (!text)
		return;
	node->memory = meminfo(text, "MemTotal");
	node->free = available(text);
	read_pages(node, pages_path);
}

static void node_memory(struct host_node *node, const char *root)
{
	cleanup_free char *directory = xasprintf("%s/sys/devices/system/node/node%u",
						 root, node->number);
	cleanup_free char *meminfo_path = xasprintf("%s/meminfo", directory);
	cleanup_free char *pages_path = xasprintf("%s/hugepages", directory);

	read_memory(node, meminfo_path, pages_path);
}

/* A kernel without NUMA: what there is of nodes is hwloc's one. */
static void flat_memory(struct host_node *node, const char *root)
{
	cleanup_free char *meminfo_path = xasprintf("%s/proc/meminfo", root);
	cleanup_free char *pages_path = xasprintf("%s/sys/kernel/mm/hugepages", root);

	read_memory(node, meminfo_path, pages_path);
}

void facts_memory(struct host *host, const char *root)
{
	struct cpuset nodes;

	if (sysfs_cpus(&nodes, "%s/sys/devices/system/node/online", root))
		for (size_t i = 0; i < host->n_nodes; i++)
			node_memory(&host->nodes[i], root);
	else if (host->n_nodes == 1)
		flat_memory(&host->nodes[0], root);
}

/* The kernel's own word on which node a CPU is on. */
static void set_nodes(struct host *host, const char *root)
{
	for (size_t i = 0; i < host->n_nodes; i++) {
		unsigned node = host->nodes[i].number;
		struct cpuset cpus;

		if (!sysfs_cpus(&cpus, "%s/sys/devices/system/node/node%u/cpulist", root,
				node))
			continue;
		for (size_t j = 0; j < host->n_cpus; j++)
			if (cpuset_has(&cpus, host->cpus[j].number))
				host->cpus[j].node = (int)node;
	}
}

/*
 * What the root of the cgroups has is the machine's, or in a container the container's:
 * no guest can run outside of it.
 */
static void limit_cpus(struct host *host, const char *root)
{
	struct cpuset allowed;
	size_t kept = 0;

	if (!sysfs_cpus(&allowed, "%s/sys/fs/cgroup/cpuset.cpus.effective", root) &&
	    !sysfs_cpus(&allowed, "%s/sys/fs/cgroup/cpuset/cpuset.effective_cpus", root))
		return;
	if (!cpuset_intersects(&allowed, &host->online))
		return;
	for (size_t i = 0; i < host->n_cpus; i++)
		if (cpuset_has(&allowed, host->cpus[i].number))
			host->cpus[kept++] = host->cpus[i];
	host->n_cpus = kept;
	cpuset_and(&host->online, &allowed);
}

void facts_add(struct host *host, const char *root)
{
	limit_cpus(host, root);
	set_nodes(host, root);
	facts_memory(host, root);
	host->isolated_known = sysfs_cpus(&host->isolated,
					  "%s/sys/devices/system/cpu/isolated", root);
	mounts_add(host, root);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine, as a host. */
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/size.h"
#include "base/text.h"
#include "host/reader.h"
#include "machine/live.h"
#include "machine/mounts.h"
#include "machine/programs.h"
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

	for (size_t i = 0; bytes != HOST_UNKNOWN && i < ARRAY_SIZE(parts); i++) {
		uint64_t part = meminfo(text, parts[i]);

		bytes += part == HOST_UNKNOWN ? 0 : part;
	}
	return total != HOST_UNKNOWN && bytes > total ? total : bytes;
}

static void memory_facts(struct host_node *node, const char *path)
{
	cleanup_free char *text = sysfs_text("%s", path);

	if (!text)
		return;
	node->memory = meminfo(text, "MemTotal");
	node->free = available(text);
}

/* Pools in DIRECTORY, as "hugepages-2048kB". */
static void pages_facts(struct host_node *node, const char *directory)
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
}

static void node_facts(struct host *host, const char *root, struct host_node *node)
{
	cleanup_free char *directory = xasprintf("%s/sys/devices/system/node/node%u",
						 root, node->number);
	cleanup_free char *meminfo_path = xasprintf("%s/meminfo", directory);
	cleanup_free char *pages_path = xasprintf("%s/hugepages", directory);
	struct cpuset cpus;

	memory_facts(node, meminfo_path);
	pages_facts(node, pages_path);
	if (!sysfs_cpus(&cpus, "%s/cpulist", directory))
		return;
	for (size_t i = 0; i < host->n_cpus; i++)
		if (cpuset_has(&cpus, host->cpus[i].number))
			host->cpus[i].node = (int)node->number;
}

/* A kernel without NUMA: what there is of nodes is hwloc's one. */
static void flat_facts(const char *root, struct host_node *node)
{
	cleanup_free char *meminfo_path = xasprintf("%s/proc/meminfo", root);
	cleanup_free char *pages_path = xasprintf("%s/sys/kernel/mm/hugepages", root);

	memory_facts(node, meminfo_path);
	pages_facts(node, pages_path);
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

void live_facts(struct host *host, const char *root)
{
	struct cpuset nodes;

	limit_cpus(host, root);
	host->isolated_known = sysfs_cpus(&host->isolated,
					  "%s/sys/devices/system/cpu/isolated", root);
	if (sysfs_cpus(&nodes, "%s/sys/devices/system/node/online", root))
		for (size_t i = 0; i < host->n_nodes; i++)
			node_facts(host, root, &host->nodes[i]);
	else if (host->n_nodes == 1)
		flat_facts(root, &host->nodes[0]);
	mounts_add(host, root);
}

struct host *live_host(struct diag *diag)
{
	cleanup_host struct host *host = host_from_machine(diag);
	struct utsname system;

	if (!host)
		return NULL;
	if (uname(&system) == 0) {
		free(host->name);
		host->name = host_name_from(system.nodename);
		host->arch = host_name_from(system.machine);
		struct programs programs = programs_versions(system.machine);
		host->libvirt = programs.libvirt;
		host->qemu = programs.qemu;
	}
	live_facts(host, "");
	if (!host_settle(host, NOWHERE, diag))
		return NULL;
	return take(host);
}

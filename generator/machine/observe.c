/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A running QEMU as the kernel sees it: proc(5), cgroups(7), numa(7). */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/observe.h"
#include "machine/sysfs.h"

/* No guest has less memory than this. */
enum { MAPPING_MIN = 1 << 20 };

static const char *scheduler_name(int policy)
{
	switch (policy & ~SCHED_RESET_ON_FORK) {
	case SCHED_FIFO:
		return "fifo";
	case SCHED_RR:
		return "rr";
	case SCHED_BATCH:
		return "batch";
	case SCHED_IDLE:
		return "idle";
	default:
		return "other";
	}
}

/* A list that follows KEY in a status file. */
static bool status_list_of(const char *status, const char *key, struct cpuset *ret)
{
	const char *at = strstr(status, key);

	if (!at)
		return false;
	at += strlen(key) + strspn(at + strlen(key), ":\t ");
	cleanup_free char *list = xstrndup(at, strcspn(at, "\n"));
	return cpuset_parse(list, ret, NULL, NULL);
}

/* The CPUs of the cgroup (v2, or v1's cpuset) that is at DIRECTORY/cgroup. */
static struct cpuset cgroup_cpus(const char *directory)
{
	struct cpuset cpus = CPUSET_INIT;
	cleanup_free char *groups = sysfs_text("%s/cgroup", directory);
	const char *at = groups ? strstr(groups, "0::/") : NULL;

	if (!at || (at != groups && at[-1] != '\n'))
		return cpus;
	at += strlen("0::");
	cleanup_free char *path = xstrndup(at, strcspn(at, "\n"));
	if (!sysfs_cpus(&cpus, "/sys/fs/cgroup%s/cpuset.cpus.effective", path))
		return (struct cpuset)CPUSET_INIT;
	return cpus;
}

/* The thread at DIRECTORY; one that has ended meanwhile is none. */
static void see_thread(struct seen *seen, const char *directory, unsigned tid)
{
	cleanup_free char *status = sysfs_text("%s/status", directory);
	char *name = sysfs_text("%s/comm", directory);
	struct sched_param param = { .sched_priority = 0 };
	struct cpuset cpus;

	if (!status || !name || !status_list_of(status, "\nCpus_allowed_list", &cpus)) {
		free(name);
		return;
	}
	sched_getparam((pid_t)tid, &param);
	*append(seen->threads, seen->n_threads) = (struct seen_thread){
		.tid = tid,
		.name = name,
		.cpus = cpus,
		.cgroup = cgroup_cpus(directory),
		.scheduler = scheduler_name(sched_getscheduler((pid_t)tid)),
		.priority = (unsigned)param.sched_priority,
	};
}

static int by_number(const void *a, const void *b)
{
	const struct seen_thread *left = a, *right = b;

	return (left->tid > right->tid) - (left->tid < right->tid);
}

static void see_threads(struct seen *seen)
{
	size_t count;
	char **tids = sysfs_list(&count, "/proc/%u/task", seen->pid);

	for (size_t i = 0; tids && i < count; i++) {
		cleanup_free char *directory = xasprintf("/proc/%u/task/%s", seen->pid,
							 tids[i]);

		see_thread(seen, directory, (unsigned)strtoul(tids[i], NULL, 10));
		free(tids[i]);
	}
	free(tids);
	if (seen->n_threads)
		qsort(seen->threads, seen->n_threads, sizeof(*seen->threads), by_number);
}

/* Before Linux 6.4 vhost workers are kernel threads, named for their owner. */
static void see_vhost(struct seen *seen)
{
	cleanup_free char *wanted = xasprintf("vhost-%u", seen->pid);
	size_t count;
	char **names = sysfs_list(&count, "/proc");

	for (size_t i = 0; names && i < count; i++) {
		unsigned pid = (unsigned)strtoul(names[i], NULL, 10);
		cleanup_free char *comm = pid ? sysfs_text("/proc/%u/comm", pid) : NULL;
		cleanup_free char *directory = xasprintf("/proc/%u", pid);

		if (text_equal(comm, wanted))
			see_thread(seen, directory, pid);
		free(names[i]);
	}
	free(names);
}

/* The next line of *AT, in place; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at;
	char *end = line ? strchr(line, '\n') : NULL;

	if (!line || !*line)
		return NULL;
	if (end)
		*end = '\0';
	*at = end ? end + 1 : NULL;
	return line;
}

/* "7f.. bind:1 file=.. huge N1=512 kernelpagesize_kB=2048"; "default" leaves it to the
 * process, whose nodes are in MEMORY already. */
static void read_numa_line(char *line, struct seen_memory *memory)
{
	char *rest, *word = strtok_r(line, " ", &rest);

	for (unsigned i = 0; word; i++, word = strtok_r(NULL, " ", &rest)) {
		const char *nodes = i == 1 ? strrchr(word, ':') : NULL;
		char *end;

		if (nodes)
			cpuset_parse(nodes + 1, &memory->bound, NULL, NULL);
		if (text_equal(word, "huge"))
			memory->page_size = 0;
		if (text_starts(word, "kernelpagesize_kB="))
			memory->page_size = strtoull(strchr(word, '=') + 1, NULL, 10)
					    << 10;
		if (*word != 'N')
			continue;
		unsigned node = (unsigned)strtoul(word + 1, &end, 10);
		if (end != word + 1 && *end == '=')
			*append(memory->pages, memory->n_pages) = (struct seen_pages){
				node, strtoull(end + 1, NULL, 10)
			};
	}
}

/* Both list mappings upwards. numa_maps has only their starts, and not all of them. */
static void see_memory(struct seen *seen, char *maps, char *numa,
		       const struct cpuset *nodes)
{
	char *line, *numa_line = next_line(&numa);

	while ((line = next_line(&maps))) {
		uint64_t start = 0, end = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		while (numa_line && strtoull(numa_line, NULL, 16) < start)
			numa_line = next_line(&numa);
		if (!numa_line || end - start < MAPPING_MIN ||
		    strtoull(numa_line, NULL, 16) != start)
			continue;
		struct seen_memory *memory = append(seen->memory, seen->n_memory);
		memory->bytes = end - start;
		memory->bound = *nodes;
		memory->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
		read_numa_line(numa_line, memory);
		numa_line = next_line(&numa);
	}
}

bool observe(unsigned pid, struct seen *ret_seen, struct diag *diag)
{
	struct seen seen = { .pid = pid };
	struct cpuset nodes = CPUSET_INIT;

	see_threads(&seen);
	if (!seen.n_threads) {
		diag_error(diag, NOWHERE, NULL, "process %u is gone", pid);
		return false;
	}
	see_vhost(&seen);
	cleanup_free char *status = sysfs_text("/proc/%u/status", pid);
	cleanup_free char *maps = sysfs_text("/proc/%u/maps", pid);
	cleanup_free char *numa = sysfs_text("/proc/%u/numa_maps", pid);
	if (status)
		status_list_of(status, "\nMems_allowed_list", &nodes);
	seen.memory_known = maps && numa;
	if (seen.memory_known)
		see_memory(&seen, maps, numa, &nodes);
	*ret_seen = seen;
	return true;
}

static struct host_node *node_of(struct host *host, unsigned number)
{
	for (size_t i = 0; i < host->n_nodes; i++)
		if (host->nodes[i].number == number)
			return &host->nodes[i];
	return NULL;
}

static void give_back(struct host_node *node, uint64_t page_size, uint64_t count)
{
	for (size_t i = 0; i < node->n_pages; i++)
		if (node->pages[i].size == page_size &&
		    node->pages[i].free != HOST_UNKNOWN) {
			node->pages[i].free += count;
			return;
		}
	if (node->free != HOST_UNKNOWN)
		node->free += count * page_size;
}

void observe_give_back(const struct seen *seen, struct host *host)
{
	for (size_t i = 0; i < seen->n_memory; i++)
		for (size_t j = 0; j < seen->memory[i].n_pages; j++) {
			const struct seen_pages *pages = &seen->memory[i].pages[j];
			struct host_node *node = node_of(host, pages->node);

			if (node)
				give_back(node, seen->memory[i].page_size, pages->count);
		}
}

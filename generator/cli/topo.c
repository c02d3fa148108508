/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine in the short form that streams of guests come with. */
#include <string.h>

#include "base/text.h"
#include "cli/topo.h"

enum { NODES_MAX = 1024, ROW_WORDS = NODES_MAX + 2 };

size_t topo_words(char *line, char **words, size_t max)
{
	size_t count = 0;
	char *word;

	line[strcspn(line, "#")] = '\0';
	while ((word = strsep(&line, " \t\r")))
		if (*word && count++ < max)
			words[count - 1] = word;
	return count > max ? max + 1 : count;
}

static bool fault(struct diag *diag, struct place at, const char *what)
{
	diag_error(diag, at, "topology", "%s", what);
	return false;
}

/* COUNT numbers below LIMIT. */
static bool numbers(char *const *words, size_t count, unsigned limit, unsigned *ret)
{
	for (size_t i = 0; i < count; i++) {
		unsigned long long number;

		if (!text_number(words[i], &number) || number >= limit)
			return false;
		ret[i] = (unsigned)number;
	}
	return true;
}

static struct host_node *find_node(const struct host *host, unsigned number)
{
	for (size_t i = 0; i < host->n_nodes; i++)
		if (host->nodes[i].number == number)
			return &host->nodes[i];
	return NULL;
}

static bool read_cpu(struct host *host, char *const *words, size_t count, struct place at,
		     struct diag *diag)
{
	unsigned cpu[4];

	if (count != 5 || !numbers(words + 1, 4, CPUSET_MAX, cpu))
		return fault(diag, at,
			     "a CPU is \"cpu NUMBER NODE CORE L3\", with numbers "
			     "below 16384");
	if (cpuset_has(&host->online, cpu[0]))
		return fault(diag, at, "this CPU was there before");
	cpuset_set(&host->online, cpu[0]);
	*append(host->cpus, host->n_cpus) = (struct host_cpu){
		.number = cpu[0], .core = cpu[2], .l3 = cpu[3], .node = (int)cpu[1]
	};
	return true;
}

static bool read_nodes(struct host *host, char *const *words, size_t count,
		       struct place at, struct diag *diag)
{
	if (host->n_nodes)
		return fault(diag, at, "the nodes were named before");
	for (size_t i = 1; i < count && i <= NODES_MAX; i++) {
		unsigned number;

		if (!numbers(words + i, 1, CPUSET_MAX, &number) ||
		    find_node(host, number))
			return fault(diag, at,
				     "nodes are numbers below 16384, each named once");
		struct host_node *node = append(host->nodes, host->n_nodes);
		node->number = number;
		node->memory = node->free = HOST_UNKNOWN;
	}
	return count <= NODES_MAX + 1 || fault(diag, at, "more than 1024 nodes");
}

static bool read_distance(struct host *host, char *const *words, size_t count,
			  struct place at, struct diag *diag)
{
	unsigned number;
	struct host_node *node = NULL;
	cleanup_free unsigned *row = xcalloc(host->n_nodes, sizeof(*row));

	if (count > 1 && numbers(words + 1, 1, CPUSET_MAX, &number))
		node = find_node(host, number);
	if (!node || node->distances || count != host->n_nodes + 2 ||
	    !numbers(words + 2, host->n_nodes, 65536, row))
		return fault(diag, at,
			     "distances are \"distance NODE D...\", once for each node "
			     "and one for each in the order of the line of nodes");
	node->distances = take(row);
	return true;
}

static const struct row {
	const char *word;
	bool (*read)(struct host *host, char *const *words, size_t count, struct place at,
		     struct diag *diag);
} rows[] = {
	{ "cpu", read_cpu },
	{ "nodes", read_nodes },
	{ "distance", read_distance },
};

static bool read_line(struct host *host, char **words, size_t count, struct place at,
		      struct diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(words[0], rows[i].word))
			return rows[i].read(host, words, count, at, diag);
	return fault(diag, at, "a line begins with cpu, nodes or distance");
}

static int cpu_order(const void *left, const void *right)
{
	unsigned a = ((const struct host_cpu *)left)->number;
	unsigned b = ((const struct host_cpu *)right)->number;

	return (a > b) - (a < b);
}

/* A node with its place in the order in which the file names them. */
struct ranked {
	struct host_node node;
	size_t rank;
};

static int ranked_order(const void *left, const void *right)
{
	unsigned a = ((const struct ranked *)left)->node.number;
	unsigned b = ((const struct ranked *)right)->node.number;

	return (a > b) - (a < b);
}

/* By number, as everywhere, and the distances with them. */
static void sort_nodes(struct host *host)
{
	size_t count = host->n_nodes;
	cleanup_free struct ranked *ranked = xcalloc(count, sizeof(*ranked));

	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ host->nodes[i], i };
	qsort(ranked, count, sizeof(*ranked), ranked_order);
	for (size_t i = 0; i < count; i++) {
		unsigned *row = ranked[i].node.distances;
		unsigned *sorted = row ? xcalloc(count, sizeof(*sorted)) : NULL;

		for (size_t j = 0; row && j < count; j++)
			sorted[j] = row[ranked[j].rank];
		host->nodes[i] = ranked[i].node;
		host->nodes[i].distances = sorted;
		free(row);
	}
}

static bool finish(struct host *host, const char *file, struct diag *diag)
{
	struct place at = { file, 0, 0 };

	if (!host->n_cpus || !host->n_nodes)
		return fault(diag, at, "the machine has no CPUs, or no line of nodes");
	qsort(host->cpus, host->n_cpus, sizeof(*host->cpus), cpu_order);
	sort_nodes(host);
	for (size_t i = 0; i < host->n_cpus; i++) {
		struct host_node *node = find_node(host, (unsigned)host->cpus[i].node);

		if (!node)
			return fault(diag, at, "a CPU is on a node that is not named");
		cpuset_set(&node->cpus, host->cpus[i].number);
	}
	return true;
}

struct host *topo_parse(const char *file, char *text, struct diag *diag)
{
	cleanup_host struct host *host = xcalloc(1, sizeof(*host));
	char *words[ROW_WORDS], *line;
	struct place at = { file, 0, 1 };

	host->origin = xstrdup(file);
	while ((line = strsep(&text, "\n"))) {
		size_t count = topo_words(line, words, ROW_WORDS);

		at.line++;
		if (count && !read_line(host, words, count, at, diag))
			return NULL;
	}
	return finish(host, file, diag) ? take(host) : NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machines made up for tests: packages of nodes of L3 domains of cores of threads. */
#ifndef VMGEN_TEST_MACHINE_H
#define VMGEN_TEST_MACHINE_H

#include "host/host.h"

struct machine_shape {
	unsigned packages, nodes, l3, cores, threads; /* each in each of the one before */
	bool interleaved; /* siblings are numbered after all first threads */
	uint64_t memory;  /* bytes of each node; 0: unknown */
};

static inline struct host_node *machine_node(struct host *host, unsigned number,
					     uint64_t memory)
{
	struct host_node *node = append(host->nodes, host->n_nodes);

	node->number = number;
	node->memory = node->free = memory ? memory : HOST_UNKNOWN;
	node->pages_known = true;
	return node;
}

static inline void machine_cpu(struct host *host, unsigned number, unsigned core,
			       unsigned l3, unsigned package, unsigned node)
{
	*append(host->cpus, host->n_cpus) = (struct host_cpu){ number, core, l3, package,
							       (int)node };
	cpuset_set(&host->online, number);
	for (size_t i = 0; i < host->n_nodes; i++)
		if (host->nodes[i].number == node)
			cpuset_set(&host->nodes[i].cpus, number);
	if (core >= host->n_cores)
		host->n_cores = core + 1;
	if (l3 >= host->n_l3)
		host->n_l3 = l3 + 1;
	if (package >= host->n_packages)
		host->n_packages = package + 1;
}

static inline int machine_order(const void *a, const void *b)
{
	const struct host_cpu *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* By number, as readers leave them. */
static inline void machine_done(struct host *host)
{
	if (host->n_cpus)
		qsort(host->cpus, host->n_cpus, sizeof(*host->cpus), machine_order);
}

/* 10 to itself, 12 within the package, 32 beyond. */
static inline void machine_distances(struct host *host, unsigned nodes_of_package)
{
	for (size_t i = 0; i < host->n_nodes; i++) {
		host->nodes[i].distances = xcalloc(host->n_nodes,
						   sizeof(*host->nodes[i].distances));
		for (size_t j = 0; j < host->n_nodes; j++)
			host->nodes[i].distances[j] = i == j ? 10
						      : i / nodes_of_package ==
								      j / nodes_of_package
							      ? 12
							      : 32;
	}
}

static inline struct host *machine(struct machine_shape shape)
{
	struct host *host = xcalloc(1, sizeof(*host));
	unsigned nodes = shape.packages * shape.nodes;
	unsigned n_cores = nodes * shape.l3 * shape.cores;

	for (unsigned i = 0; i < nodes; i++)
		machine_node(host, i, shape.memory);
	for (unsigned core = 0; core < n_cores; core++)
		for (unsigned thread = 0; thread < shape.threads; thread++) {
			unsigned l3 = core / shape.cores, node = l3 / shape.l3;

			machine_cpu(host,
				    shape.interleaved ? core + thread * n_cores
						      : core * shape.threads + thread,
				    core, l3, node / shape.nodes, node);
		}
	machine_distances(host, shape.nodes);
	machine_done(host);
	return host;
}

static inline void machine_free(struct host *host)
{
	for (size_t i = 0; i < host->n_nodes; i++) {
		free(host->nodes[i].distances);
		free(host->nodes[i].pages);
	}
	free(host->nodes);
	free(host->cpus);
	free(host);
}

#endif

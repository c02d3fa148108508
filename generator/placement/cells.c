/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest's NUMA cells as placement is asked for them. */
#include <string.h>

#include "guest/bindings.h"
#include "placement/cells.h"

struct cells cells_of(const struct guest *guest)
{
	size_t count = guest->n_cells ? guest->n_cells : 1;

	return (struct cells){
		.bound = xcalloc(count, sizeof(struct cpuset)),
		.group = xcalloc(count, sizeof(size_t)),
		.count = count,
	};
}

static void forget(struct cells *cells)
{
	free(cells->items);
	free(cells->numbers);
	free(cells->nodes);
}

void cells_done(struct cells *cells)
{
	forget(cells);
	free(cells->bound);
	free(cells->group);
}

static struct cpuset bound_nodes(const struct host *host,
				 const struct numa_binding *binding)
{
	struct cpuset nodes = CPUSET_INIT;

	for (size_t i = 0; i < host->n_nodes; i++)
		if (cpuset_has(&binding->nodes, host->nodes[i].number) &&
		    (cpuset_empty(&binding->vcpus) ||
		     cpuset_intersects(&host->nodes[i].cpus, &host->online)))
			cpuset_set(&nodes, host->nodes[i].number);
	return nodes;
}

bool cells_bind(struct cells *cells, const struct guest *guest, const struct host *host,
		struct cpuset *ret_wished)
{
	size_t count;
	cleanup_free struct numa_binding *bindings = numa_bindings(guest, &count);
	bool any = false;

	*ret_wished = (struct cpuset)CPUSET_INIT;
	for (size_t i = 0; i < count; i++) {
		struct cpuset nodes = bound_nodes(host, &bindings[i]);

		any |= !cpuset_empty(&nodes);
		if (strcmp(bindings[i].mode, "preferred") == 0)
			cpuset_or(ret_wished, &nodes);
		else
			cells->bound[i] = nodes;
	}
	return any;
}

void cells_unbind(struct cells *cells)
{
	memset(cells->bound, 0, cells->count * sizeof(*cells->bound));
}

/* The cell of a vCPU, as libvirt sees it: one that no cell names is in the first. */
static size_t cell_of(const struct guest *guest, unsigned vcpu)
{
	for (size_t i = 0; i < guest->n_cells; i++)
		if (cpuset_has(&guest->cells[i].vcpus, vcpu))
			return i;
	return 0;
}

/* False if that leaves nothing of NODES, which are all when they are empty. */
static bool narrow(struct cpuset *nodes, const struct cpuset *bound)
{
	if (cpuset_empty(bound))
		return true;
	if (cpuset_empty(nodes))
		*nodes = *bound;
	cpuset_and(nodes, bound);
	return !cpuset_empty(nodes);
}

/* The guest's cells by their GROUPS, each to go to a node of its own. */
static bool put(struct cells *cells, const struct guest *guest, size_t groups,
		struct place_request *request)
{
	bool agree = true;

	forget(cells);
	cells->items = xcalloc(groups, sizeof(*cells->items));
	cells->numbers = xcalloc(groups, sizeof(*cells->numbers));
	cells->nodes = xcalloc(groups, sizeof(*cells->nodes));
	for (unsigned vcpu = 0; vcpu < guest->vcpus; vcpu++)
		cpuset_set(&cells->numbers[cells->group[cell_of(guest, vcpu)]], vcpu);
	for (size_t i = 0; i < guest->n_cells && agree; i++) {
		cells->items[cells->group[i]].memory += guest->cells[i].memory;
		agree = narrow(&cells->nodes[cells->group[i]], &cells->bound[i]);
	}
	for (size_t i = 0; i < groups; i++) {
		cells->items[i].vcpus = cpuset_count(&cells->numbers[i]);
		cells->items[i].numbers = &cells->numbers[i];
	}
	request->cells = cells->items;
	request->cell_nodes = cells->nodes;
	request->n_cells = groups;
	return agree;
}

bool cells_ask(struct cells *cells, const struct guest *guest, size_t groups,
	       struct place_request *request)
{
	for (size_t i = 0; i < cells->count; i++)
		cells->group[i] = i * groups / cells->count;
	return put(cells, guest, groups, request);
}

void cells_ask_by_binding(struct cells *cells, const struct guest *guest,
			  struct place_request *request)
{
	size_t groups = 0;

	for (size_t i = 0; i < cells->count; i++) {
		size_t same = 0;

		while (!cpuset_equal(&cells->bound[same], &cells->bound[i]))
			same++;
		cells->group[i] = same < i ? cells->group[same] : groups++;
	}
	put(cells, guest, groups, request);
}

void cells_first(struct cells *cells)
{
	memset(cells->group, 0, cells->count * sizeof(*cells->group));
}

/* The next way to part the cells; each group is named by the order of its first cell, so
 * that no way comes twice. False after the last. */
static bool part_anew(struct cells *cells)
{
	for (size_t i = cells->count; i-- > 1;) {
		size_t most = 0; /* groups among those before */

		for (size_t k = 0; k < i; k++)
			if (cells->group[k] >= most)
				most = cells->group[k] + 1;
		if (cells->group[i] == most)
			continue;
		cells->group[i]++;
		memset(&cells->group[i + 1], 0,
		       (cells->count - i - 1) * sizeof(*cells->group));
		return true;
	}
	return false;
}

static size_t groups_of(const struct cells *cells)
{
	size_t groups = 0;

	for (size_t i = 0; i < cells->count; i++)
		if (cells->group[i] >= groups)
			groups = cells->group[i] + 1;
	return groups;
}

bool cells_ask_next(struct cells *cells, const struct guest *guest, size_t groups,
		    struct place_request *request)
{
	while (part_anew(cells))
		if (groups_of(cells) == groups && put(cells, guest, groups, request))
			return true;
	return false;
}

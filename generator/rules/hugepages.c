/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on hugepages: sizes, multiples, and what the host has of them. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "rules/numa.h"
#include "rules/read.h"

static struct element *backing(const struct guest *guest)
{
	return element_find(guest->domain, "memoryBacking");
}

static const char *backing_source(const struct guest *guest)
{
	return element_attribute(element_child(backing(guest), "source"), "type");
}

static uint64_t page_size(const struct element *page)
{
	uint64_t bytes;

	return read_size(page, "size", &bytes) ? bytes : 0;
}

/* The <page> of each cell (or the guest's): that whose nodeset has it, else the one
 * without a nodeset. */
static const struct element *page_of(const struct guest *guest, unsigned cell)
{
	const struct element *general = NULL;

	element_foreach (page, element_child(backing(guest), "hugepages"), "page") {
		struct cpuset cells;

		if (!element_attribute(page, "nodeset"))
			general = page;
		else if (read_cpus(page, "nodeset", &cells) && cell < CPUSET_MAX &&
			 cpuset_has(&cells, cell))
			return page;
	}
	return general;
}

/* What is asked of pages of one size: one for each guest cell on hugepages. */
struct demand {
	const struct element *page;
	unsigned cell;
	uint64_t size, bytes;
	const struct numa_binding *binding;
};

/* <page> elements that are worth following: each has a cell of its own at best. */
enum { PAGES_MAX = 64 };

static bool pages_absurd(const struct guest *guest)
{
	unsigned count = 0;

	element_foreach (page, element_child(backing(guest), "hugepages"), "page")
		count++;
	return count > PAGES_MAX;
}

/* Without those on pages of the default size, which only the host's kernel knows. */
static struct demand *demands_of(const struct guest *guest,
				 const struct numa_binding *bindings, size_t count,
				 size_t *ret_count)
{
	struct demand *demands = NULL;

	*ret_count = 0;
	if (pages_absurd(guest))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		unsigned cell = guest->n_cells ? guest->cells[i].id : 0;
		const struct element *page = page_of(guest, cell);
		uint64_t bytes = page ? page_size(page) : 0;

		if (bytes)
			*append(demands, *ret_count) = (struct demand){
				page, cell, bytes, bindings[i].memory, &bindings[i]
			};
	}
	return demands;
}

/* QEMU refuses memory below one page of its file, a memfd that is no whole number of
 * them, and from 9.0 any backing of that kind; else it rounds up. */
static bool refused(const struct rule_input *input, const struct demand *demand)
{
	return demand->bytes < demand->size || input->qemu >= 9000000 ||
	       text_equal(backing_source(input->guest), "memfd");
}

static void check_multiple(const struct rule_input *input, const struct rule_run *run,
			   bool fatal)
{
	const struct guest *guest = input->guest;
	size_t n_bindings, count;
	cleanup_free struct numa_binding *bindings = numa_bindings(guest, &n_bindings);
	cleanup_free struct demand *demands = demands_of(guest, bindings, n_bindings,
							 &count);

	for (size_t i = 0; i < count; i++) {
		if (demands[i].bytes % demands[i].size == 0 ||
		    refused(input, &demands[i]) != fatal)
			continue;
		cleanup_free char *memory = size_format(demands[i].bytes);
		cleanup_free char *page = size_format(demands[i].size);

		rule_report(
			run, demands[i].page->place,
			"%s of memory (cell %u) is no whole number of pages of %s, and "
			"%s; make it a multiple",
			memory, demands[i].cell, page,
			fatal ? "the start fails"
			      : "QEMU wastes the rest of the last one (from 9.0 it "
				"refuses)");
	}
}

static void multiple(const struct rule_input *input, const struct rule_run *run)
{
	check_multiple(input, run, true);
}

static void waste(const struct rule_input *input, const struct rule_run *run)
{
	check_multiple(input, run, false);
}

static void cells(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	struct cpuset there = CPUSET_INIT, seen = CPUSET_INIT, named;

	for (size_t i = 0; i < guest->n_cells; i++)
		if (guest->cells[i].id < CPUSET_MAX)
			cpuset_set(&there, guest->cells[i].id);
	if (!guest->n_cells)
		cpuset_set(&there, 0);
	element_foreach (page, element_child(backing(guest), "hugepages"), "page") {
		struct place place = read_place(guest, page, "nodeset");

		if (!read_cpus(page, "nodeset", &named))
			continue;
		if (!cpuset_subset(&named, &there))
			rule_report(
				run, place,
				"nodeset '%s' names guest NUMA cells that are not there "
				"(it is not about host nodes), and the domain is refused",
				element_attribute(page, "nodeset"));
		if (cpuset_intersects(&named, &seen))
			rule_report(
				run, place,
				"an earlier <page> gives some of these cells their pages "
				"already, and libvirt refuses the domain");
		cpuset_or(&seen, &named);
	}
}

static void source(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *allocation = element_child(backing(guest), "allocation");

	if (!element_child(backing(guest), "hugepages"))
		return;
	if (text_equal(backing_source(guest), "anonymous"))
		rule_report(
			run, element_child(backing(guest), "source")->place,
			"hugepages with source 'anonymous', which libvirt refuses; use "
			"memfd, or leave <source> out");
	if (read_is(allocation, "mode", "ondemand"))
		rule_report(
			run, allocation->place,
			"hugepages with allocation 'ondemand', which libvirt refuses; "
			"use immediate, or leave <allocation> out");
}

static const struct host_pages *pool_of(const struct host_node *node, uint64_t size)
{
	for (size_t i = 0; i < node->n_pages; i++)
		if (node->pages[i].size == size)
			return &node->pages[i];
	return NULL;
}

static bool host_has_pages(const struct host *host, uint64_t size)
{
	for (size_t i = 0; i < host->n_nodes; i++)
		if (pool_of(&host->nodes[i], size))
			return true;
	return false;
}

static void size(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	element_foreach (page, element_child(backing(guest), "hugepages"), "page") {
		uint64_t bytes = page_size(page);

		/* The normal page size stands for no hugepages at all. */
		if (!bytes || bytes < MIB || host_has_pages(input->host, bytes))
			continue;
		cleanup_free char *text = size_format(bytes);

		rule_report(
			run, read_place(guest, page, "size"),
			"%s has no pages of %s, and the start finds no hugetlbfs mount "
			"for them; use a size that it has",
			input->host->origin, text);
	}
}

/* Pages of SIZE on the nodes that BINDING allows, in the pool or free. */
static uint64_t pages_there(const struct rule_input *input,
			    const struct numa_binding *binding, uint64_t bytes,
			    bool only_free)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < input->host->n_nodes; i++) {
		const struct host_node *node = &input->host->nodes[i];
		const struct host_pages *pool = pool_of(node, bytes);

		if (pool &&
		    (!binding->element || strcmp(binding->mode, "preferred") == 0 ||
		     cpuset_has(&binding->nodes, node->number)))
			pages += only_free ? pool->free : pool->total;
	}
	return pages;
}

/* Two cells on the same nodes share the pool. */
static uint64_t pages_wanted(const struct demand *demands, size_t count, size_t which)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < count; i++)
		if (demands[i].size == demands[which].size &&
		    cpuset_equal(&demands[i].binding->nodes,
				 &demands[which].binding->nodes))
			pages += (demands[i].bytes + demands[i].size - 1) /
				 demands[i].size;
	return pages;
}

/* More cells than any host has nodes are not worth the square of their number. */
enum { DEMANDS_MAX = 256 };

static void check_pages(const struct rule_input *input, const struct rule_run *run,
			bool only_free)
{
	const struct guest *guest = input->guest;
	size_t n_bindings, count;
	cleanup_free struct numa_binding *bindings = numa_bindings(guest, &n_bindings);
	cleanup_free struct demand *demands = demands_of(guest, bindings, n_bindings,
							 &count);

	for (size_t i = 0; i < count && count <= DEMANDS_MAX; i++) {
		const struct demand *demand = &demands[i];
		uint64_t want = pages_wanted(demands, count, i);
		uint64_t have = pages_there(input, demand->binding, demand->size,
					    only_free);

		if (want <= have || demand->size < MIB)
			continue;
		cleanup_free char *text = size_format(demand->size);
		cleanup_free char *nodes = cpuset_format(&demand->binding->nodes);

		rule_report(run, demand->page->place,
			    "the guest needs %llu pages of %s on %s%s, where %s %llu; "
			    "reserve more, or place it elsewhere",
			    (unsigned long long)want, text, *nodes ? "node " : "the host",
			    nodes, only_free ? "free are" : "there are",
			    (unsigned long long)have);
		return;
	}
}

static void pool(const struct rule_input *input, const struct rule_run *run)
{
	check_pages(input, run, false);
}

static void free_pages(const struct rule_input *input, const struct rule_run *run)
{
	check_pages(input, run, true);
}

const struct rule rules_hugepages[] = {
	{ "hugepages-multiple", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, multiple,
	  "memory that is no whole number of hugepages, where the start fails of it",
	  "With memfd the start fails with \"failed to resize memfd to 68157440: Invalid "
	  "argument\", with less than one page with \"must be equal to or larger than "
	  "page size\", from QEMU 9.0 with any backing (\"must be multiple of\"). Round "
	  "the memory, and each cell's, up to a multiple of the page size. Source: "
	  "libvirt 9.0.0 with QEMU 7.2, tried; QEMU, physmem.c and hostmem.c." },
	{ "hugepages-waste", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, waste,
	  "memory that is no whole number of hugepages, where QEMU rounds it up",
	  "QEMU before 9.0 takes a whole page for the rest of the memory and the guest "
	  "sees only what it asked for; the same guest does not start on newer ones. See "
	  "hugepages-multiple." },
	{ "hugepages-cell", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, cells,
	  "hugepages for guest cells that are not there, or twice for one",
	  "The nodeset of <page> names the guest's NUMA cells, not nodes of the host. "
	  "libvirt refuses unknown cells and overlaps. Source: libvirt 9.0.0, tried; its "
	  "test hugepages-numa-nodeset-nonexist." },
	{ "hugepages-source", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, source,
	  "hugepages with anonymous memory or allocation on demand",
	  "libvirt refuses both combinations. Source: libvirt 9.0.0, tried." },
	{ "hugepages-size", DIAG_ERROR, RULE_GUEST, NEEDS_PAGES, size,
	  "hugepages of a size that the host does not have",
	  "The start fails with \"Unable to find any usable hugetlbfs mount for 1048576 "
	  "KiB\". Sizes are those under /sys/kernel/mm/hugepages, and each needs a mount "
	  "(/dev/hugepages, /dev/hugepages1G). Source: libvirt 9.0.0, tried." },
	{ "hugepages-pool", DIAG_ERROR, RULE_GUEST, NEEDS_PAGES, pool,
	  "more hugepages than the nodes' pools hold at all",
	  "QEMU takes the pages from the nodes that the memory is bound to: a pool that "
	  "is large enough on another node does not help. The start fails with \"unable "
	  "to map backing store for guest RAM: Cannot allocate memory\". Reserve more "
	  "(/sys/devices/system/node/nodeN/hugepages), at boot for 1 GiB pages. Source: "
	  "libvirt 9.0.0, tried; kubevirt issues 6981 and 14854, Nova bug 1734204." },
	{ "hugepages-free", DIAG_WARNING, RULE_GUEST, NEEDS_FREE_PAGES, free_pages,
	  "more hugepages than are free on the nodes",
	  "As hugepages-pool, but of what was free when the host was described: guests "
	  "that have stopped since give theirs back. Use -E hugepages-free where the "
	  "host is this machine and the guest is to start now. Source: libvirt 9.0.0, "
	  "tried." },
	{ .id = NULL },
};

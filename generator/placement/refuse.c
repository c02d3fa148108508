/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a guest does not fit, and the nearest change with which it would. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "placement/cores.h"
#include "placement/nodes.h"
#include "placement/refuse.h"
#include "placement/shorten.h"
#include "placement/shrink.h"

static const char *const smt_words[] = {
	[SMT_ISOLATE] = "isolate",
	[SMT_REQUIRE] = "require",
	[SMT_PREFER] = "prefer",
	[SMT_ANY] = "any",
};

static bool weaker_smt(struct place_request request, const struct place_state *state,
		       uint64_t *ret_value)
{
	while (!request.shared && request.smt < SMT_ANY) {
		request.smt++;
		*ret_value = request.smt;
		if (place_fits(&request, state))
			return true;
	}
	return false;
}

static struct place_request anywhere(struct place_request request,
				     const struct place_state *state)
{
	for (size_t i = 0; i < state->host->n_nodes; i++)
		cpuset_set(&request.nodeset, state->host->nodes[i].number);
	request.apart = (struct cpuset)CPUSET_INIT;
	request.cell_nodes = NULL;
	return request;
}

static bool any_node(const struct place_request *request, const struct place_state *state)
{
	struct place_request wider = anywhere(*request, state);

	return place_fits(&wider, state);
}

static bool more_nodes(struct place_request request, const struct place_state *state,
		       uint64_t *ret_value)
{
	unsigned few = request.max_nodes, enough = (unsigned)state->host->n_nodes;

	request.max_nodes = enough;
	if (request.cells || few >= enough || !place_fits(&request, state))
		return false;
	while (enough - few > 1) {
		request.max_nodes = few + (enough - few) / 2;
		if (place_fits(&request, state))
			enough = request.max_nodes;
		else
			few = request.max_nodes;
	}
	*ret_value = enough;
	return true;
}

/* The largest page size of any node below SIZE; 0: only normal pages are. */
static uint64_t next_page_size(const struct host *host, uint64_t size)
{
	uint64_t next = 0;

	for (size_t i = 0; i < host->n_nodes; i++)
		for (size_t j = 0; j < host->nodes[i].n_pages; j++) {
			uint64_t pool = host->nodes[i].pages[j].size;

			if (pool < size && pool > next)
				next = pool;
		}
	return next;
}

/* What other guests take of pages of another size is not in the request's state. */
static bool smaller_pages(struct place_request request, struct place_state state,
			  uint64_t *ret_value)
{
	state.pages_taken = state.own = NULL;
	while (request.page_size) {
		request.page_size = next_page_size(state.host, request.page_size);
		*ret_value = request.page_size;
		if (place_fits(&request, &state))
			return true;
	}
	return false;
}

/*
 * The most that fits, less than NONE, of what SET puts into the request; 0 when nothing
 * does. As long as each of its nodes gets some, what fits does so with less, so that
 * halving finds the most; below that every number is tried.
 */
static uint64_t most_fitting(struct place_request request,
			     const struct place_state *state, uint64_t none,
			     void (*set)(struct place_request *request, uint64_t amount))
{
	uint64_t most = request.max_nodes < none ? request.max_nodes : none - 1;

	for (; most; none = most--) {
		set(&request, most);
		if (place_fits(&request, state))
			break;
	}
	while (most && none - most > 1) {
		uint64_t middle = most + (none - most) / 2;

		set(&request, middle);
		if (place_fits(&request, state))
			most = middle;
		else
			none = middle;
	}
	return most;
}

static void set_pages(struct place_request *request, uint64_t pages)
{
	request->memory = pages * request->page_size;
}

/* Of the given cells, each on a node of its own. */
static bool smaller_cells(const struct place_request *request,
			  const struct place_state *state, enum nearest_kind kind,
			  struct nearest *ret_nearest)
{
	cleanup_sites struct sites *sites = sites_new(request, state);
	bool pages = kind == NEAREST_MEMORY;
	struct nearest nearest = { .kind = kind, .n_cells = request->n_cells };

	if (request->list)
		nearest.value = (pages ? shorten_pages : shorten_vcpus)(request, state,
									nearest.cells);
	else
		nearest.value = (pages ? shrink_pages : shrink_vcpus)(sites,
								      nearest.cells);
	if (!nearest.value)
		return false;
	for (size_t i = 0; i < nearest.n_cells && pages; i++)
		nearest.cells[i] *= request->page_size;
	nearest.value *= pages ? request->page_size : 1;
	*ret_nearest = nearest;
	return true;
}

static bool fewer_pages(const struct place_request *request,
			const struct place_state *state, struct nearest *ret_nearest)
{
	uint64_t page = request->page_size, pages;

	if (!page || !request->memory)
		return false;
	if (request->cells)
		return smaller_cells(request, state, NEAREST_MEMORY, ret_nearest);
	pages = most_fitting(*request, state, (request->memory - 1) / page + 1,
			     set_pages);
	*ret_nearest = (struct nearest){ .kind = NEAREST_MEMORY, .value = pages * page };
	return pages;
}

/* vCPUs that the emptiest nodes have room for: more never fit. */
static unsigned vcpus_at_most(const struct place_request *request,
			      const struct place_state *state)
{
	cleanup_sites struct sites *sites = sites_new(request, state);
	unsigned sum = 0;

	for (unsigned i = 0; i < sites->count; i++)
		if (sites->items[i].allowed)
			sum += cores_most(sites, &sites->items[i], false);
	return sum < request->vcpus ? sum + 1 : request->vcpus;
}

static void set_vcpus(struct place_request *request, uint64_t vcpus)
{
	request->vcpus = (unsigned)vcpus;
}

static void set_cores(struct place_request *request, uint64_t cores)
{
	request->vcpus = (unsigned)cores * request->threads;
}

/* The first of the list; how many fit need not grow with fewer. */
static unsigned fewer_listed(struct place_request request,
			     const struct place_state *state)
{
	while (--request.vcpus)
		if (place_fits(&request, state))
			break;
	return request.vcpus;
}

/* In whole guest cores. */
static uint64_t fewer_free(const struct place_request *request,
			   const struct place_state *state)
{
	unsigned grain = nodes_grain(request);

	return grain * most_fitting(*request, state,
				    (vcpus_at_most(request, state) - 1) / grain + 1,
				    grain > 1 ? set_cores : set_vcpus);
}

static bool fewer_vcpus(const struct place_request *request,
			const struct place_state *state, struct nearest *ret_nearest)
{
	uint64_t vcpus;

	if (request->cells)
		return smaller_cells(request, state, NEAREST_VCPUS, ret_nearest);
	vcpus = request->list ? fewer_listed(*request, state)
			      : fewer_free(request, state);
	*ret_nearest = (struct nearest){ .kind = NEAREST_VCPUS, .value = vcpus };
	return vcpus;
}

struct nearest refuse_nearest(const struct place_request *request,
			      const struct place_state *state)
{
	struct nearest nearest = { .value = 0 };

	if (weaker_smt(*request, state, &nearest.value))
		nearest.kind = NEAREST_SMT;
	else if (any_node(request, state))
		nearest = (struct nearest){ .kind = NEAREST_NODESET };
	else if (more_nodes(*request, state, &nearest.value))
		nearest.kind = NEAREST_NODES;
	else if (smaller_pages(*request, *state, &nearest.value))
		nearest.kind = NEAREST_PAGES;
	else if (!fewer_pages(request, state, &nearest) &&
		 !fewer_vcpus(request, state, &nearest))
		nearest = (struct nearest){ .kind = NEAREST_NONE };
	return nearest;
}

static void say_left_out(const struct place_request *request,
			 const struct place_state *state, struct diag *diag)
{
	struct place_request wider = anywhere(*request, state);
	cleanup_placement struct placement *there = place_quietly(&wider, state, NULL);
	cleanup_free char *nodes = there ? cpuset_format(&there->nodes) : NULL;

	if (nodes)
		diag_note(diag, NOWHERE,
			  "it would fit on node %s, but for nodeset or apart", nodes);
}

/* ", in cells of 4 and 2" */
static char *in_cells(const struct nearest *nearest)
{
	struct text text = TEXT_INIT;

	for (size_t i = 0; i < nearest->n_cells && nearest->n_cells > 1; i++) {
		cleanup_free char *size = nearest->kind == NEAREST_MEMORY
						  ? size_format(nearest->cells[i])
						  : xasprintf("%" PRIu64,
							      nearest->cells[i]);

		text_add(&text, i == 0			    ? ", in cells of "
				: i + 1 == nearest->n_cells ? " and "
							    : ", ");
		text_add(&text, size);
	}
	return text_take(&text);
}

static void say_nearest(const struct place_request *request,
			const struct place_state *state, struct diag *diag)
{
	struct nearest nearest = refuse_nearest(request, state);
	cleanup_free char *size = size_format(nearest.value);
	cleanup_free char *cells = in_cells(&nearest);

	switch (nearest.kind) {
	case NEAREST_SMT:
		diag_note(diag, NOWHERE, "smt: %s would fit", smt_words[nearest.value]);
		break;
	case NEAREST_NODESET:
		say_left_out(request, state, diag);
		break;
	case NEAREST_NODES:
		diag_note(diag, NOWHERE, "nodes: %" PRIu64 " would fit", nearest.value);
		break;
	case NEAREST_PAGES:
		diag_note(diag, NOWHERE,
			  nearest.value ? "hugepages: %s would fit"
					: "without hugepages it would fit",
			  size);
		break;
	case NEAREST_MEMORY:
		diag_note(diag, NOWHERE, "%s of memory%s would fit", size, cells);
		break;
	case NEAREST_VCPUS:
		diag_note(diag, NOWHERE, "%" PRIu64 " vCPU%s%s would fit", nearest.value,
			  nearest.value == 1 ? "" : "s", cells);
		break;
	case NEAREST_NONE:
		diag_note(diag, NOWHERE, "no one change would make it fit");
		break;
	}
}

static void add_need(struct text *text, const char *need)
{
	text_printf(text, "%s%s", text->length ? ", " : "", need);
}

static void add_cpus(struct text *text, const struct place_request *request)
{
	bool cores = request->smt == SMT_ISOLATE && !request->threads;
	cleanup_free char *cpus = xasprintf("%u %s%s", request->vcpus,
					    cores ? "whole core" : "CPU",
					    request->vcpus == 1 ? "" : "s");

	if (!request->shared)
		add_need(text, cpus);
	if (request->own && cpuset_empty(&request->housekeeping))
		add_need(text, "one CPU for the emulator");
}

/* "17 whole cores, one CPU for the emulator, 8 GiB in pages of 1 GiB on one node" */
static char *needed(const struct place_request *request)
{
	struct text text = TEXT_INIT;
	cleanup_free char *memory = size_format(request->memory);
	cleanup_free char *page = size_format(request->page_size);

	add_cpus(&text, request);
	if (request->memory)
		add_need(&text, memory);
	if (request->memory && request->page_size)
		text_printf(&text, " in pages of %s", page);
	if (request->cells && request->n_cells > 1)
		text_printf(&text, " in %zu cells on nodes of their own",
			    request->n_cells);
	else if (request->max_nodes > 1)
		text_printf(&text, " on at most %u nodes", request->max_nodes);
	else
		text_add(&text, " on one node");
	return text_take(&text);
}

static unsigned whole_cores(const struct sites *sites, const struct site *site)
{
	unsigned whole = 0;

	for (unsigned i = 0; i < site->n_cores; i++)
		whole += sites->cores[site->first + i].whole;
	return whole;
}

static void say_node(const struct sites *sites, const struct site *site,
		     struct diag *diag)
{
	cleanup_text struct text memory = TEXT_INIT;

	if (site->units != UINT64_MAX && sites->unit > 1) {
		cleanup_free char *page = size_format(sites->unit);

		text_printf(&memory, ", %" PRIu64 " free pages of %s", site->units, page);
	} else if (site->units != UINT64_MAX) {
		cleanup_free char *bytes = size_format(site->units & ~(MIB - 1));

		text_printf(&memory, ", %s of free memory", bytes);
	}
	diag_note(diag, NOWHERE, "node %u has %u CPUs free, %u cores whole%s%s",
		  site->number, site->free, whole_cores(sites, site),
		  memory.data ? memory.data : "",
		  site->allowed ? "" : ", and may not be used");
}

void refuse(const struct place_request *request, const struct place_state *state,
	    const char *why, struct place at, struct diag *diag)
{
	cleanup_free char *need = needed(request);
	cleanup_sites struct sites *sites = sites_new(request, state);

	if (why && *why)
		diag_error(diag, at, "placement", "%s", why);
	else
		diag_error(diag, at, "placement",
			   "the guest needs %s, and that is not there", need);
	for (unsigned i = 0; i < sites->count; i++)
		say_node(sites, &sites->items[i], diag);
	say_nearest(request, state, diag);
}

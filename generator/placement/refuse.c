/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a guest does not fit, and the nearest change with which it would. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "placement/cores.h"
#include "placement/refuse.h"

static bool fits(const struct place_request *request, const struct place_state *state)
{
	cleanup_placement struct placement *placement = place_quietly(request, state,
								      NULL);

	return placement != NULL;
}

static const char *const smt_words[] = {
	[SMT_ISOLATE] = "isolate",
	[SMT_REQUIRE] = "require",
	[SMT_PREFER] = "prefer",
	[SMT_ANY] = "any",
};

static bool weaker_smt(struct place_request request, const struct place_state *state,
		       uint64_t *ret_value)
{
	while (!request.list && !request.shared && request.smt < SMT_ANY) {
		request.smt++;
		*ret_value = request.smt;
		if (fits(&request, state))
			return true;
	}
	return false;
}

static bool any_node(struct place_request request, const struct place_state *state)
{
	for (size_t i = 0; i < state->host->n_nodes; i++)
		cpuset_set(&request.nodeset, state->host->nodes[i].number);
	request.apart = (struct cpuset)CPUSET_INIT;
	return fits(&request, state);
}

static bool more_nodes(struct place_request request, const struct place_state *state,
		       uint64_t *ret_value)
{
	while (!request.cells && request.max_nodes < state->host->n_nodes) {
		request.max_nodes++;
		*ret_value = request.max_nodes;
		if (fits(&request, state))
			return true;
	}
	return false;
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
	state.pages_taken = NULL;
	while (request.page_size) {
		request.page_size = next_page_size(state.host, request.page_size);
		*ret_value = request.page_size;
		if (fits(&request, &state))
			return true;
	}
	return false;
}

/* The most pages that fit: less memory never fits worse. */
static bool fewer_pages(struct place_request request, const struct place_state *state,
			uint64_t *ret_value)
{
	uint64_t page = request.page_size, none = 0, all;

	if (!page || request.cells)
		return false;
	all = (request.memory + page - 1) / page;
	while (all - none > 1) {
		uint64_t half = none + (all - none) / 2;

		request.memory = half * page;
		if (fits(&request, state))
			none = half;
		else
			all = half;
	}
	*ret_value = none * page;
	return none > 0;
}

static bool fewer_vcpus(struct place_request request, const struct place_state *state,
			uint64_t *ret_value)
{
	unsigned most = (unsigned)state->host->n_cpus + 1;

	request.standing = NULL;
	if (request.cells || request.list)
		return false;
	if (request.vcpus > most)
		request.vcpus = most;
	while (--request.vcpus > 0)
		if (fits(&request, state)) {
			*ret_value = request.vcpus;
			return true;
		}
	return false;
}

struct nearest refuse_nearest(const struct place_request *request,
			      const struct place_state *state)
{
	uint64_t value = 0;

	if (weaker_smt(*request, state, &value))
		return (struct nearest){ NEAREST_SMT, value };
	if (any_node(*request, state))
		return (struct nearest){ NEAREST_NODESET, 0 };
	if (more_nodes(*request, state, &value))
		return (struct nearest){ NEAREST_NODES, value };
	if (smaller_pages(*request, *state, &value))
		return (struct nearest){ NEAREST_PAGES, value };
	if (fewer_pages(*request, state, &value))
		return (struct nearest){ NEAREST_MEMORY, value };
	if (fewer_vcpus(*request, state, &value))
		return (struct nearest){ NEAREST_VCPUS, value };
	return (struct nearest){ NEAREST_NONE, 0 };
}

static void say_nearest(const struct place_request *request,
			const struct place_state *state, struct diag *diag)
{
	struct nearest nearest = refuse_nearest(request, state);
	cleanup_free char *size = size_format(nearest.value);

	switch (nearest.kind) {
	case NEAREST_SMT:
		diag_note(diag, NOWHERE, "smt: %s would fit", smt_words[nearest.value]);
		break;
	case NEAREST_NODESET:
		diag_note(diag, NOWHERE,
			  "it would fit on a node that nodeset or apart leaves out");
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
		diag_note(diag, NOWHERE, "%s of memory would fit", size);
		break;
	case NEAREST_VCPUS:
		diag_note(diag, NOWHERE, "%" PRIu64 " vCPUs would fit", nearest.value);
		break;
	case NEAREST_NONE:
		diag_note(diag, NOWHERE, "no one change would make it fit");
		break;
	}
}

/* "17 whole cores, one CPU for the emulator and 8 GiB in pages of 1 GiB on one node" */
static char *needed(const struct place_request *request)
{
	struct text text = TEXT_INIT;
	cleanup_free char *memory = size_format(request->memory);
	cleanup_free char *page = size_format(request->page_size);
	bool cores = request->smt == SMT_ISOLATE && !request->threads && !request->shared;

	if (!request->shared)
		text_printf(&text, "%u %s, ", request->vcpus,
			    cores ? "whole cores" : "CPUs");
	if (request->own && cpuset_empty(&request->housekeeping))
		text_add(&text, "one CPU for the emulator, ");
	text_printf(&text, "%s%s%s", memory, request->page_size ? " in pages of " : "",
		    request->page_size ? page : "");
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

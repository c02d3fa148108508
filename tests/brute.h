/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Placement by brute force, written from the contract alone: every set of CPUs of a node,
 * every choice of nodes, every split. For machines of a few CPUs.
 */
#ifndef VMGEN_TEST_BRUTE_H
#define VMGEN_TEST_BRUTE_H

#include <assert.h>

#include "placement/costs.h"
#include "placement/place.h"

enum { BRUTE_NODES = 5, BRUTE_THREADS = 10, BRUTE_VCPUS = 12 };

struct brute_thread {
	unsigned cpu, core, l3;
	bool free, own, shared; /* shared: another guest is on it */
};

struct brute_node {
	unsigned number;
	unsigned n;
	struct brute_thread threads[BRUTE_THREADS];
	bool allowed, housekeeping;
	uint64_t memory; /* bytes */
	/* By vCPUs, and whether the emulator has a CPU here. */
	bool fits[BRUTE_VCPUS + 1][2];
	struct cost cost[BRUTE_VCPUS + 1][2];
};

struct brute {
	const struct place_request *request;
	const struct place_state *state;
	struct brute_node nodes[BRUTE_NODES];
	unsigned count;
	bool found;
	struct cost best;
	/* while enumerating */
	unsigned vcpus[BRUTE_NODES], order[PLACE_CELLS_MAX];
	bool used[BRUTE_NODES];
};

static inline uint64_t brute_memory(const struct place_request *request,
				    const struct place_state *state, unsigned index)
{
	const struct host_node *node = &state->host->nodes[index];
	uint64_t have = UINT64_MAX;

	if (!request->page_size) {
		uint64_t taken = state->memory_taken ? state->memory_taken[index] : 0;

		if (node->free == HOST_UNKNOWN)
			return UINT64_MAX;
		return node->free > taken ? node->free - taken : 0;
	}
	if (!node->pages_known)
		return UINT64_MAX;
	have = 0;
	for (size_t i = 0; i < node->n_pages; i++)
		if (node->pages[i].size == request->page_size)
			have = node->pages[i].free;
	uint64_t taken = state->pages_taken ? state->pages_taken[index] : 0;
	return (have > taken ? have - taken : 0) * request->page_size;
}

/* Are the vCPUs of a cell on SET (bits of threads), the emulator on EMULATOR (n: on
 * none), as smt wants them? */
static inline bool brute_smt(const struct place_request *request,
			     const struct brute_node *node, unsigned set,
			     unsigned emulator)
{
	unsigned on[BRUTE_THREADS] = { 0 }, free[BRUTE_THREADS] = { 0 },
		 all[BRUTE_THREADS] = { 0 }, alone = 0, vcpus = 0;
	bool beside[BRUTE_THREADS] = { false };

	for (unsigned i = 0; i < node->n; i++) { /* cores are numbered below n here */
		unsigned core = 0;

		while (node->threads[core].core != node->threads[i].core)
			core++;
		on[core] += set >> i & 1;
		vcpus += set >> i & 1;
		all[core]++;
		free[core] += node->threads[i].free && i != emulator;
		beside[core] |= i == emulator;
	}
	for (unsigned core = 0; core < node->n; core++) {
		if (!on[core])
			continue;
		alone += on[core] == 1;
		if (request->smt == SMT_ISOLATE &&
		    (beside[core] || free[core] < all[core] ||
		     on[core] > (request->threads ? request->threads : 1)))
			return false;
		if (request->smt == SMT_REQUIRE && free[core] < 2)
			return false;
	}
	return request->smt != SMT_REQUIRE || alone <= vcpus % 2;
}

static inline struct cost brute_price(const struct place_request *request,
				      const struct brute_node *node, unsigned set,
				      unsigned emulator)
{
	struct cost cost = { { 0 } };
	for (unsigned i = 0; i < node->n; i++) { /* once for each core */
		unsigned on = 0, all = 0, whole = 1, shared = 0, here = 0;
		bool first = true, beside = false, l3_first = true;

		for (unsigned j = 0; j < node->n; j++) {
			const struct brute_thread *thread = &node->threads[j];

			if (thread->l3 == node->threads[i].l3 && j < i && set >> j & 1)
				l3_first = false;
			if (thread->core != node->threads[i].core)
				continue;
			first &= j >= i;
			on += set >> j & 1;
			all++;
			whole &= thread->free;
			shared |= thread->shared;
			beside |= j == emulator;
			here += thread->free && (set >> j & 1 || j == emulator);
		}
		if (set >> i & 1)
			cost.columns[COST_L3] += l3_first;
		if (!first || (!on && !beside))
			continue;
		if (on && request->smt == SMT_ISOLATE)
			here = all;
		cost.columns[COST_SIBLING] += beside && on;
		cost.columns[COST_SHARING] |= shared;
		cost.columns[COST_FRAGMENTS] += whole && here < all;
	}
	cost.columns[COST_OWN] = emulator < node->n;

	return cost;
}

static inline void brute_sets(const struct brute *brute, struct brute_node *node,
			      unsigned emulator)
{
	const struct place_request *request = brute->request;
	bool own = emulator < node->n;

	for (unsigned set = 0; set < 1U << node->n; set++) {
		unsigned vcpus = (unsigned)__builtin_popcount(set);
		bool legal = vcpus <= BRUTE_VCPUS && !(own && set >> emulator & 1);

		for (unsigned i = 0; i < node->n && legal; i++)
			legal = !(set >> i & 1) || node->threads[i].free;
		if (!legal ||
		    (!request->shared && !brute_smt(request, node, set, emulator)))
			continue;
		struct cost cost = brute_price(request, node, set, emulator);
		if (node->fits[vcpus][own] &&
		    costs_compare(&cost, &node->cost[vcpus][own], request->pack) >= 0)
			continue;
		node->fits[vcpus][own] = true;
		node->cost[vcpus][own] = cost;
	}
}

static inline void brute_node(struct brute *brute, unsigned index)
{
	const struct place_request *request = brute->request;
	const struct place_state *state = brute->state;
	struct brute_node *node = &brute->nodes[index];

	node->number = state->host->nodes[index].number;
	node->allowed = cpuset_has(&request->nodeset, node->number) &&
			!cpuset_has(&request->apart, node->number);
	node->memory = brute_memory(request, state, index);
	for (size_t i = 0; i < state->host->n_cpus; i++) {
		const struct host_cpu *cpu = &state->host->cpus[i];
		bool housekeeping = cpuset_has(&request->housekeeping, cpu->number);
		bool owned = cpuset_has(&state->owned, cpu->number);
		bool busy = owned || cpuset_has(&state->busy, cpu->number);

		if (cpu->node != (int)node->number)
			continue;
		node->housekeeping |= housekeeping;
		node->threads[node->n++] = (struct brute_thread){
			cpu->number,
			cpu->core,
			cpu->l3,
			cpuset_has(&request->pool, cpu->number) && !housekeeping &&
				!(request->shared ? owned : busy),
			cpuset_has(&request->own_pool, cpu->number) && !housekeeping &&
				!busy,
			busy,
		};
	}
	brute_sets(brute, node, node->n);
	for (unsigned i = 0; i < node->n; i++)
		if (node->threads[i].own)
			brute_sets(brute, node, i);
	for (unsigned own = 0; own < 2 && request->shared; own++)
		for (unsigned i = 2; i <= BRUTE_VCPUS; i++) /* they float */
			node->fits[i][own] = node->fits[1][own];
}

static inline uint64_t brute_unit(const struct place_request *request)
{
	if (request->page_size)
		return request->page_size;
	return request->memory % (1 << 20) == 0 ? 1 << 20
	       : request->memory % 1024 == 0	? 1024
						: 1;
}

static inline uint64_t brute_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline unsigned brute_package(const struct host *host, unsigned index)
{
	for (size_t i = 0; i < host->n_cpus; i++)
		if (host->cpus[i].node == (int)host->nodes[index].number)
			return host->cpus[i].package;
	return UINT32_MAX;
}

/* The firmware's distance; where that is equal, the same package is nearer. */
static inline uint64_t brute_distance(const struct host *host, unsigned i, unsigned j)
{
	return (uint64_t)host->nodes[i].distances[j] << 15 |
	       (brute_package(host, i) != brute_package(host, j));
}

/* The columns that the choice of nodes decides. */
static inline struct cost brute_nodes_cost(const struct brute *brute)
{
	const struct place_request *request = brute->request;
	const struct host *host = brute->state->host;
	struct cost cost = { { 0 } };

	for (unsigned wish = 0; wish <= request->n_near; wish++) {
		const struct cpuset *set = wish < request->n_near ? &request->near[wish]
								  : &request->with;
		uint64_t best = UINT64_MAX;

		for (unsigned i = 0; i < brute->count; i++)
			for (unsigned j = 0; j < brute->count; j++)
				if (brute->used[i] &&
				    cpuset_has(set, brute->nodes[j].number))
					best = brute_min(best,
							 brute_distance(host, i, j));
		cost.columns[wish < request->n_near ? COST_NEAR + wish : COST_WITH] =
			best == UINT64_MAX ? 0 : best;
	}
	for (unsigned i = 0; i < brute->count; i++) {
		cost.columns[COST_NODES] += brute->used[i];
		for (unsigned j = 0; j < brute->count; j++)
			if (i != j && brute->used[i] && brute->used[j])
				cost.columns[COST_DISTANCE] += brute_distance(host, i, j);
	}
	return cost;
}

/* The used nodes have the vCPUs that vcpus[] says; COST has what the split costs. */
static inline void brute_offer(struct brute *brute, const struct cost *cost)
{
	const struct place_request *request = brute->request;
	bool housekeeping = false;

	for (unsigned i = 0; i < brute->count; i++)
		housekeeping |= brute->used[i] && brute->nodes[i].housekeeping;
	bool one = request->own && !request->own_each && !housekeeping;
	/* carrier: the node with the emulator's one CPU; count: none */
	for (unsigned carrier = one ? 0 : brute->count; carrier < brute->count + !one;
	     carrier++) {
		struct cost total = *cost, nodes = brute_nodes_cost(brute);
		bool legal = !one || brute->used[carrier];

		costs_add(&total, &nodes);
		for (unsigned i = 0; i < brute->count && legal; i++) {
			const struct brute_node *node = &brute->nodes[i];
			bool own = i == carrier || (request->own && request->own_each &&
						    !node->housekeeping);

			if (!brute->used[i])
				continue;
			legal = node->fits[brute->vcpus[i]][own];
			costs_add(&total, &node->cost[brute->vcpus[i]][own]);
		}
		if (legal && (!brute->found ||
			      costs_compare(&total, &brute->best, request->pack) < 0)) {
			brute->found = true;
			brute->best = total;
		}
	}
}

/* The cell may be on a node of that number. */
static inline bool brute_allows(const struct place_request *request, size_t cell,
				unsigned node)
{
	const struct cpuset *nodes = request->cell_nodes;

	return !nodes || cpuset_empty(&nodes[cell]) || cpuset_has(&nodes[cell], node);
}

static inline void brute_cells(struct brute *brute, size_t cell)
{
	static const struct cost nothing = { { 0 } };

	if (cell == brute->request->n_cells) {
		brute_offer(brute, &nothing);
		return;
	}
	const struct place_cell *want = &brute->request->cells[cell];
	for (unsigned i = 0; i < brute->count; i++) {
		const struct brute_node *node = &brute->nodes[i];
		uint64_t page = brute->request->page_size;
		uint64_t bytes = page ? (want->memory + page - 1) / page * page
				      : want->memory;

		if (brute->used[i] || !node->allowed || bytes > node->memory ||
		    !brute_allows(brute->request, cell, node->number))
			continue;
		brute->used[i] = true;
		brute->vcpus[i] = want->vcpus;
		brute_cells(brute, cell + 1);
		brute->used[i] = false;
	}
}

/* Every way to deal LEFT units of memory to the used nodes from INDEX on. */
static inline void brute_units(struct brute *brute, unsigned index, uint64_t left,
			       struct cost cost)
{
	const struct place_request *request = brute->request;
	uint64_t unit = brute_unit(request), total = (request->memory + unit - 1) / unit;

	assert(request->vcpus);
	if (index == brute->count) {
		if (!left)
			brute_offer(brute, &cost);
		return;
	}
	if (!brute->used[index]) {
		brute_units(brute, index + 1, left, cost);
		return;
	}
	for (uint64_t here = total ? 1 : 0;
	     here <= brute_min(left, brute->nodes[index].memory / unit); here++) {
		struct cost more = cost;
		uint64_t fair = total * brute->vcpus[index] / request->vcpus + 1;

		more.columns[COST_REMOTE] += here > fair ? here - fair : 0;
		brute_units(brute, index + 1, left - here, more);
	}
}

static inline void brute_split(struct brute *brute, unsigned index, unsigned left,
			       unsigned nodes)
{
	const struct place_request *request = brute->request;
	unsigned grain = request->threads > 1 && request->vcpus % request->threads == 0
				 ? request->threads
				 : 1;

	if (index == brute->count) {
		struct cost cost = { { 0 } };
		unsigned least = UINT32_MAX, most = 0;
		uint64_t unit = brute_unit(request);

		for (unsigned i = 0; i < brute->count; i++) {
			if (!brute->used[i])
				continue;
			least = brute->vcpus[i] < least ? brute->vcpus[i] : least;
			most = brute->vcpus[i] > most ? brute->vcpus[i] : most;
		}
		cost.columns[COST_UNEVEN] = most - least;
		if (!left && most)
			brute_units(brute, 0, (request->memory + unit - 1) / unit, cost);
		return;
	}
	brute_split(brute, index + 1, left, nodes);
	if (nodes == request->max_nodes || !brute->nodes[index].allowed)
		return;
	brute->used[index] = true;
	for (unsigned vcpus = grain; vcpus <= left; vcpus += grain) {
		brute->vcpus[index] = vcpus;
		brute_split(brute, index + 1, left - vcpus, nodes + 1);
	}
	brute->used[index] = false;
}

/* Whether there is a placement; *RET_BEST what the best costs. */
static inline bool brute_place(const struct place_request *request,
			       const struct place_state *state, struct cost *ret_best)
{
	struct brute *brute = xcalloc(1, sizeof(*brute));
	bool found;

	brute->request = request;
	brute->state = state;
	brute->count = (unsigned)state->host->n_nodes;
	for (unsigned i = 0; i < brute->count; i++)
		brute_node(brute, i);
	if (request->cells)
		brute_cells(brute, 0);
	else
		brute_split(brute, 0, request->vcpus, 0);
	found = brute->found;
	*ret_best = brute->best;
	free(brute);
	return found;
}

/*
 * NULL when PLACEMENT is what the contract promises, else what is wrong; its cost. The
 * contract stands here in one piece, to be compared with place.h's line by line.
 */
/* NOLINTNEXTLINE(readability-function-size) */
static inline const char *brute_judge(const struct place_request *request,
				      const struct place_state *state,
				      const struct placement *placement,
				      struct cost *ret_cost)
{
	struct brute *brute = xcalloc(1, sizeof(*brute));
	struct cpuset own = placement->emulator, owned = CPUSET_INIT, seen = CPUSET_INIT;
	const char *fault = NULL;
	uint64_t memory = 0;
	uint64_t unit = !request->cells	     ? brute_unit(request)
			: request->page_size ? request->page_size
					     : 1;
	unsigned own_cpus, own_wanted = 0, least = UINT32_MAX, most = 0;
	bool housekeeping = false;

	brute->request = request;
	brute->state = state;
	brute->count = (unsigned)state->host->n_nodes;
	cpuset_andnot(&own, &request->housekeeping);
	own_cpus = cpuset_count(&own);
	owned = own;
	*ret_cost = (struct cost){ { 0 } };
	for (unsigned i = 0; i < brute->count; i++)
		brute_node(brute, i);
	if (placement->n_vcpus != request->vcpus ||
	    (request->cells ? placement->n_cells != request->n_cells
			    : placement->n_cells > request->max_nodes))
		fault = "counts";
	for (size_t c = 0; c < placement->n_cells && !fault; c++) {
		const struct placed_cell *cell = &placement->cells[c];
		unsigned index = 0, set = 0, vcpus = cpuset_count(&cell->vcpus);

		while (index < brute->count && brute->nodes[index].number != cell->node)
			index++;
		if (index == brute->count || brute->used[index])
			fault = "two cells on a node, or one on none";
		if (fault)
			break;
		const struct brute_node *node = &brute->nodes[index];
		unsigned emulator = node->n;
		brute->used[index] = true;
		housekeeping |= node->housekeeping;
		own_wanted += !node->housekeeping;
		memory += cell->memory;
		least = vcpus < least ? vcpus : least;
		most = vcpus > most ? vcpus : most;
		if (!node->allowed || !brute_allows(request, c, node->number) ||
		    (cell->memory + unit - 1) / unit * unit > node->memory)
			fault = "node or memory";
		if (request->cells && (vcpus != request->cells[c].vcpus ||
				       cell->memory != request->cells[c].memory))
			fault = "not the cell that was asked for";
		for (unsigned i = 0; i < node->n; i++)
			if (cpuset_has(&own, node->threads[i].cpu)) {
				if (!node->threads[i].own || emulator < node->n)
					fault = "emulator";
				emulator = i;
			}
		cpuset_foreach (vcpu, &cell->vcpus) {
			unsigned i = 0;

			if (vcpu >= request->vcpus || cpuset_has(&seen, vcpu)) {
				fault = "vCPU numbers";
				break;
			}
			cpuset_set(&seen, vcpu);
			if (request->shared)
				continue;
			while (i < node->n &&
			       node->threads[i].cpu != placement->cpus[vcpu])
				i++;
			if (i == node->n || !node->threads[i].free || set >> i & 1 ||
			    i == emulator) {
				fault = "vCPU on a CPU that it may not have";
				break;
			}
			set |= 1U << i;
			cpuset_set(&owned, node->threads[i].cpu);
			for (unsigned j = 0; j < node->n && request->smt == SMT_ISOLATE;
			     j++)
				if (node->threads[j].core == node->threads[i].core)
					cpuset_set(&owned, node->threads[j].cpu);
		}
		unsigned floats = 0;
		for (unsigned i = 0; i < node->n; i++)
			floats += node->threads[i].free && i != emulator;
		if (request->shared && vcpus && !floats)
			fault = "nowhere to float";
		if (!request->shared && !brute_smt(request, node, set, emulator))
			fault = "smt";
		struct cost cost = brute_price(request, node, set, emulator);
		costs_add(ret_cost, &cost);
		if (!request->cells && request->memory) {
			uint64_t total = (request->memory + unit - 1) / unit;
			uint64_t fair = total * vcpus / request->vcpus + 1;
			uint64_t here = (cell->memory + unit - 1) / unit;

			ret_cost->columns[COST_REMOTE] += here > fair ? here - fair : 0;
			if (!cell->memory)
				fault = "cell without memory";
		}
	}
	if (!fault && cpuset_count(&seen) != request->vcpus)
		fault = "a vCPU without a cell";
	if (!request->own || (housekeeping && !request->own_each))
		own_wanted = 0;
	else if (!request->own_each)
		own_wanted = 1;
	if (!fault && own_cpus != own_wanted)
		fault = "number of emulator CPUs";
	if (!fault && placement->emulator_own != (own_cpus != 0))
		fault = "emulator_own";
	if (!fault && !request->cells && memory != request->memory)
		fault = "memory is not what the guest has";
	if (!fault && !cpuset_equal(&owned, &placement->owned))
		fault = "owned";
	if (!request->cells)
		ret_cost->columns[COST_UNEVEN] = most - least;
	struct cost nodes = brute_nodes_cost(brute);
	costs_add(ret_cost, &nodes);
	free(brute);
	return fault;
}

#endif

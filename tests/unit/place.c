/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Placement against brute force, on random machines in random states. */
#include <inttypes.h>

#include "brute.h"
#include "machine.h"
#include "tap.h"

/* xorshift64*: the same states on every machine. */
static uint64_t seed = 88172645463325252U;

static unsigned below(unsigned limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 2685821657736338717U) >> 33) % limit;
}

static bool chance(unsigned percent)
{
	return below(100) < percent;
}

enum { PAGE = 1 << 30 };

/* All that place() is asked, and what it points to. */
struct question {
	struct host *host;
	struct place_request request;
	struct place_state state;
	struct place_cell cells[4];
	struct cpuset cell_nodes[4];
	struct cpuset near[3];
	uint64_t taken[BRUTE_NODES];
};

static void random_memory(struct question *q, struct host_node *node)
{
	struct host_pages *pages;

	q->taken[q->host->n_nodes - 1] = q->request.page_size ? below(3)
							      : (uint64_t)below(3) << 20;
	node->pages_known = chance(40);
	if (!node->pages_known)
		return; /* as is memory */
	node->memory = 1 << 30;
	node->free = ((uint64_t)below(12) << 20) + below(2) * 512;
	pages = append(node->pages, node->n_pages);
	*pages = (struct host_pages){ PAGE, 16, below(12) };
}

static void random_host(struct question *q)
{
	static const unsigned smt[] = { 1, 2, 2, 2, 4, 8 };
	struct host *host = q->host = xcalloc(1, sizeof(*host));
	unsigned threads = smt[below(ARRAY_SIZE(smt))], nodes = 1 + below(4);
	unsigned number = below(3), cpu = below(3), core = 0, l3 = 0;

	for (unsigned n = 0; n < nodes; n++) {
		struct host_node *node = machine_node(host, number, 0);
		unsigned left = 8;

		random_memory(q, node);
		for (unsigned cores = chance(8) ? 0 : 1 + below(4); cores; cores--) {
			unsigned here = chance(90) ? threads : 1;

			if (here > left)
				break;
			left -= here;
			for (; here; here--, cpu += 1 + chance(10))
				if (chance(93)) /* else offline */
					machine_cpu(host, cpu, core, l3, n / 2, number);
			core++;
			l3 += chance(40);
		}
		l3++;
		number += 1 + chance(20);
	}
	machine_distances(host, 2);
	for (unsigned i = 0; i < nodes; i++)
		for (unsigned j = 0; j < nodes; j++)
			if (i != j && chance(30))
				host->nodes[i].distances[j] = 11 + below(30);
	machine_done(host);
}

static void random_sets(struct question *q)
{
	unsigned load = below(60), housekeeping = chance(50) ? 0 : below(20);
	bool same = chance(50);

	for (size_t i = 0; i < q->host->n_cpus; i++) {
		unsigned cpu = q->host->cpus[i].number;
		bool pool = chance(92);

		if (pool)
			cpuset_set(&q->request.pool, cpu);
		if (same ? pool : chance(85))
			cpuset_set(&q->request.own_pool, cpu);
		if (chance(housekeeping))
			cpuset_set(&q->request.housekeeping, cpu);
		if (chance(load))
			cpuset_set(&q->state.owned, cpu);
		if (chance(3))
			cpuset_set(&q->state.busy, cpu);
	}
	cpuset_or(&q->state.busy, &q->state.owned);
	for (size_t i = 0; i < q->host->n_nodes; i++) {
		unsigned node = q->host->nodes[i].number;

		if (chance(95))
			cpuset_set(&q->request.nodeset, node);
		if (chance(5))
			cpuset_set(&q->request.apart, node);
		if (chance(10))
			cpuset_set(&q->request.with, node);
		for (unsigned j = 0; j < 3; j++)
			if (chance(20))
				cpuset_set(&q->near[j], node);
	}
}

static void random_cells(struct question *q)
{
	struct place_request *request = &q->request;
	uint64_t unit = request->page_size ? request->page_size : 1 << 20;

	request->vcpus = 0;
	request->cells = q->cells;
	request->n_cells = 1 + below(4);
	request->cell_nodes = chance(30) ? q->cell_nodes : NULL;
	for (size_t i = 0; i < request->n_cells; i++) {
		q->cells[i].vcpus = chance(15) ? 0 : 1 + below(chance(70) ? 2 : 6);
		q->cells[i].memory = below(5) * unit + below(2) * 512;
		request->vcpus += q->cells[i].vcpus;
		for (size_t k = 0; k < q->host->n_nodes; k++)
			if (chance(35))
				cpuset_set(&q->cell_nodes[i], q->host->nodes[k].number);
	}
	if (request->vcpus > BRUTE_VCPUS || !request->vcpus)
		random_cells(q);
}

static void random_question(struct question *q)
{
	struct place_request *request = &q->request;

	*q = (struct question){ .host = NULL };
	request->page_size = chance(50) ? PAGE : 0;
	random_host(q);
	random_sets(q);
	q->state.host = q->host;
	q->state.memory_taken = request->page_size ? NULL : q->taken;
	q->state.pages_taken = request->page_size ? q->taken : NULL;
	request->vcpus = 1 + below(chance(70) ? 5 : BRUTE_VCPUS);
	request->max_nodes = 1 + below(4);
	request->memory = below(8) * (request->page_size ? request->page_size : 1 << 20) +
			  (chance(20) ? 512 : 0);
	if (!request->page_size && request->memory % (1 << 20))
		request->memory = request->memory % 1024 ? 2048 : 0; /* few units */
	request->shared = chance(10);
	request->smt = (enum smt)below(4);
	request->threads = chance(60) ? 0 : 1U << below(4);
	request->own = chance(60);
	request->own_each = chance(30);
	request->near = q->near;
	request->n_near = below(4);
	request->pack = chance(40);
	if (chance(50))
		random_cells(q);
}

struct tally {
	unsigned wrong, feasible, refused, illegal, dearer, moved, unlike, unlisted;
};

static void show(const struct question *q, const char *what)
{
	const struct place_request *r = &q->request;
	cleanup_free char *pool = cpuset_format(&r->pool);
	cleanup_free char *own = cpuset_format(&r->own_pool);
	cleanup_free char *house = cpuset_format(&r->housekeeping);
	cleanup_free char *busy = cpuset_format(&q->state.busy);

	note("%s: vcpus %u max_nodes %u cells %zu memory %" PRIu64 " page %" PRIu64
	     " shared %d smt %d threads %u own %d each %d pack %d",
	     what, r->vcpus, r->max_nodes, r->cells ? r->n_cells : 0, r->memory,
	     r->page_size, r->shared, (int)r->smt, r->threads, r->own, r->own_each,
	     r->pack);
	for (size_t i = 0; r->cells && i < r->n_cells; i++)
		note("cell %u vcpus %" PRIu64 " bytes", r->cells[i].vcpus,
		     r->cells[i].memory);
	note("pool %s own %s house %s busy %s", pool, own, house, busy);
	for (size_t i = 0; i < q->host->n_nodes; i++) {
		const struct host_node *node = &q->host->nodes[i];

		note("node %u allowed %d with %d free %" PRIu64 " taken %" PRIu64
		     " pages %" PRIu64 " distances %u %u %u %u",
		     node->number,
		     cpuset_has(&r->nodeset, node->number) &&
			     !cpuset_has(&r->apart, node->number),
		     cpuset_has(&r->with, node->number), node->free, q->taken[i],
		     node->n_pages ? node->pages[0].free : UINT64_MAX, node->distances[0],
		     q->host->n_nodes > 1 ? node->distances[1] : 0,
		     q->host->n_nodes > 2 ? node->distances[2] : 0,
		     q->host->n_nodes > 3 ? node->distances[3] : 0);
	}
	for (size_t i = 0; i < q->host->n_cpus; i++)
		note("cpu %u core %u l3 %u node %d", q->host->cpus[i].number,
		     q->host->cpus[i].core, q->host->cpus[i].l3, q->host->cpus[i].node);
}

static void show_costs(const struct cost *got, const struct cost *best)
{
	for (unsigned i = 0; i < COST_COLUMNS; i++)
		if (got->columns[i] != best->columns[i])
			note("column %u: %" PRIu64 ", best is %" PRIu64, i,
			     got->columns[i], best->columns[i]);
}

/* Is A worse than B, by the columns in front of the room that is left? */
static bool dearer(const struct question *q, struct cost a, struct cost b)
{
	bool beyond = false;

	for (const enum column *column = costs_order(q->request.pack);
	     *column != COST_COLUMNS; column++) {
		beyond |= *column == COST_ROOM;
		if (beyond)
			a.columns[*column] = b.columns[*column] = 0;
	}
	return costs_compare(&a, &b, q->request.pack) > 0;
}

static bool same(const struct placement *a, const struct placement *b)
{
	bool same = a->n_vcpus == b->n_vcpus && a->n_cells == b->n_cells &&
		    !a->cpus == !b->cpus && a->emulator_own == b->emulator_own &&
		    a->threads == b->threads &&
		    cpuset_equal(&a->emulator, &b->emulator) &&
		    (!a->cpus || cpuset_equal(&a->shared, &b->shared)) &&
		    cpuset_equal(&a->owned, &b->owned) &&
		    cpuset_equal(&a->nodes, &b->nodes);

	for (size_t i = 0; same && a->cpus && i < a->n_vcpus; i++)
		same = a->cpus[i] == b->cpus[i];
	for (size_t i = 0; same && i < a->n_cells; i++)
		same = a->cells[i].node == b->cells[i].node &&
		       a->cells[i].memory == b->cells[i].memory &&
		       cpuset_equal(&a->cells[i].vcpus, &b->cells[i].vcpus);
	return same;
}

static bool again(struct question *q, const struct placement *placement)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_placement struct placement *second = place(&q->request, &q->state,
							   NOWHERE, &diag);

	return second && same(placement, second);
}

/* What stands is kept when others have left and packing is another: better places are no
 * reason to move. */
static bool kept(const struct question *q, const struct placement *placement)
{
	struct question later = *q;

	cpuset_andnot(&later.state.owned, &later.state.owned);
	later.state.busy = later.state.owned;
	later.request.pack = !q->request.pack;
	later.request.n_near = 0;
	later.request.standing = placement;
	return again(&later, placement);
}

/* The same CPUs as a list. */
static bool listed(const struct question *q, const struct placement *placement)
{
	struct question list = *q;

	list.request.list = placement->cpus;
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_placement struct placement *got = place(&list.request, &list.state,
							NOWHERE, &diag);
	if (!got || got->n_cells != placement->n_cells)
		return false;
	for (size_t i = 0; i < got->n_vcpus; i++)
		if (got->cpus[i] != placement->cpus[i])
			return false;
	return true;
}

/* Where a CPU of it went to another guest, what stood gives way. */
static bool gives_way(const struct question *q, const struct placement *placement)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct question later = *q;
	struct cost cost;

	if (!placement->cpus)
		return true;
	cpuset_set(&later.state.owned, placement->cpus[0]);
	cpuset_set(&later.state.busy, placement->cpus[0]);
	later.request.standing = placement;
	cleanup_placement struct placement *got = place(&later.request, &later.state,
							NOWHERE, &diag);
	return got ? !brute_judge(&later.request, &later.state, got, &cost)
		   : !brute_place(&later.request, &later.state, &cost);
}

static void properties(struct question *q, const struct placement *placement,
		       struct tally *tally)
{
	tally->unlike += !again(q, placement);
	tally->moved += !kept(q, placement) || !gives_way(q, placement);
	tally->unlisted += placement->cpus && !listed(q, placement);
}

static void ask(struct question *q, struct tally *tally)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct cost best, got;
	bool feasible = brute_place(&q->request, &q->state, &best);
	cleanup_placement struct placement *placement = place(&q->request, &q->state,
							      NOWHERE, &diag);
	const char *fault = placement
				    ? brute_judge(&q->request, &q->state, placement, &got)
				    : NULL;

	tally->feasible += feasible;
	tally->refused += feasible && !placement;
	tally->illegal += fault || (placement && !feasible);
	if (feasible && !placement && tally->refused < 3)
		show(q, "refused though it fits");
	if ((fault || (placement && !feasible)) && tally->illegal < 3)
		show(q, fault ? fault : "accepted though it does not fit");
	if (!feasible || !placement || fault)
		return;
	properties(q, placement, tally);
	if (!q->request.shared && dearer(q, got, best) && tally->dearer++ < 3) {
		show(q, "dearer than the best");
		show_costs(&got, &best);
	}
}

static void against_brute_force(unsigned rounds)
{
	struct tally tally = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		struct question q;

		random_question(&q);
		ask(&q, &tally);
		machine_free(q.host);
	}
	note("%u random states, %u of them feasible", rounds, tally.feasible);
	ok(tally.feasible > rounds / 3 && tally.feasible < rounds * 9 / 10,
	   "the states are neither all feasible nor all full");
	ok(!tally.refused, "nothing is refused that fits (%u are)", tally.refused);
	ok(!tally.illegal, "nothing is placed where it may not be (%u are)",
	   tally.illegal);
	ok(!tally.dearer, "nothing is placed where it costs more than needed (%u are)",
	   tally.dearer);
	ok(!tally.unlike, "the same question has the same answer (%u have not)",
	   tally.unlike);
	ok(!tally.moved, "what stands stays while it may (%u did not)", tally.moved);
	ok(!tally.unlisted, "a list of CPUs is taken as it is (%u were not)",
	   tally.unlisted);
}

static unsigned rounds(unsigned otherwise)
{
	const char *more = getenv("PLACE_ROUNDS");

	return more ? (unsigned)strtoul(more, NULL, 10) : otherwise;
}

int main(void)
{
	against_brute_force(rounds(20000));
	return tap_done();
}

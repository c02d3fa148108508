/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host as placement sees it for one request. */
#include "base/size.h"
#include "placement/sites.h"

/* A CPU with what it is sorted by. */
struct seat {
	unsigned site, l3, core, cpu;
};

static int seat_order(const void *left, const void *right)
{
	const struct seat *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->l3 != b->l3)
		return a->l3 < b->l3 ? -1 : 1;
	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* Of the node with NUMBER; the count of nodes when there is none. A host without nodes is
 * one. */
static unsigned site_index(const struct host *host, int number)
{
	unsigned low = 0, high = (unsigned)host->n_nodes;

	if (!host->n_nodes)
		return 0;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if ((int)host->nodes[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < host->n_nodes && (int)host->nodes[low].number == number
		       ? low
		       : (unsigned)host->n_nodes;
}

static struct seat *seats(const struct host *host, unsigned n_sites, unsigned *ret_count)
{
	struct seat *seats = xcalloc(host->n_cpus, sizeof(*seats));
	unsigned count = 0;

	for (size_t i = 0; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i];
		unsigned site = site_index(host, cpu->node);

		if (site < n_sites)
			seats[count++] = (struct seat){ site, cpu->l3, cpu->core,
							cpu->number };
	}
	qsort(seats, count, sizeof(*seats), seat_order);
	*ret_count = count;
	return seats;
}

static bool for_vcpus(const struct place_request *request, unsigned cpu)
{
	return cpuset_has(&request->pool, cpu) &&
	       !cpuset_has(&request->housekeeping, cpu);
}

static struct thread thread_of(const struct sites *sites, unsigned cpu)
{
	const struct place_request *request = sites->request;
	const struct place_state *state = sites->state;
	bool housekeeping = cpuset_has(&request->housekeeping, cpu);
	bool taken = cpuset_has(&state->owned, cpu);
	bool busy = taken || cpuset_has(&state->busy, cpu);

	/* Guests that float may do so where others float. */
	return (struct thread){
		.cpu = cpu,
		.free = for_vcpus(request, cpu) && !(request->shared ? taken : busy),
		.own = request->own && !housekeeping && !busy &&
		       cpuset_has(&request->own_pool, cpu),
	};
}

static void core_add(struct sites *sites, struct core *core, unsigned cpu)
{
	struct thread thread = thread_of(sites, cpu);

	thread.core = sites->n_cores - 1;
	sites->threads[sites->n_threads++] = thread;
	core->n_threads++;
	core->free += thread.free;
	core->own += thread.own;
	core->spare |= thread.own && !thread.free;
	core->whole = core->free == core->n_threads;
	core->shared |= cpuset_has(&sites->state->owned, cpu) ||
			cpuset_has(&sites->state->busy, cpu);
}

static void add_seats(struct sites *sites)
{
	unsigned count;
	cleanup_free struct seat *all = seats(sites->state->host, sites->count, &count);

	sites->threads = xcalloc(count, sizeof(*sites->threads));
	sites->cores = xcalloc(count, sizeof(*sites->cores));
	for (unsigned i = 0; i < count; i++) {
		struct site *site = &sites->items[all[i].site];

		if (!i || all[i].core != all[i - 1].core ||
		    all[i].site != all[i - 1].site) {
			if (!site->n_cores++)
				site->first = sites->n_cores;
			sites->cores[sites->n_cores++] = (struct core){
				.first = i, .l3 = all[i].l3, .site = all[i].site
			};
		}
		struct core *core = &sites->cores[sites->n_cores - 1];
		core_add(sites, core, all[i].cpu);
		site->capacity += for_vcpus(sites->request, all[i].cpu);
		site->free += sites->threads[i].free;
		site->housekeeping |= cpuset_has(&sites->request->housekeeping,
						 all[i].cpu);
		if (site->n_cores > sites->largest)
			sites->largest = site->n_cores;
	}
}

/* Bytes of normal pages; of what hugepages hold nothing is to be had. */
static uint64_t normal_memory(const struct host_node *node)
{
	uint64_t bytes = node->memory;

	if (node->free != HOST_UNKNOWN)
		return node->free;
	for (size_t i = 0; bytes != HOST_UNKNOWN && i < node->n_pages; i++) {
		uint64_t held;

		if (__builtin_mul_overflow(node->pages[i].size, node->pages[i].total,
					   &held))
			held = UINT64_MAX;
		bytes = size_left(bytes, held);
	}
	return bytes;
}

static uint64_t hugepages(const struct host_node *node, uint64_t size)
{
	for (size_t i = 0; i < node->n_pages; i++)
		if (node->pages[i].size == size)
			return node->pages[i].free != HOST_UNKNOWN ? node->pages[i].free
								   : node->pages[i].total;
	return node->pages_known ? 0 : UINT64_MAX;
}

static uint64_t units(const struct sites *sites, unsigned index)
{
	const struct host_node *node = &sites->state->host->nodes[index];
	uint64_t size = sites->request->page_size;
	uint64_t have = size ? hugepages(node, size) : normal_memory(node);
	const uint64_t *taken = size ? sites->state->pages_taken
				     : sites->state->memory_taken;

	if (have == UINT64_MAX)
		return have;
	if (sites->state->own &&
	    __builtin_add_overflow(have, sites->state->own[index], &have))
		have = UINT64_MAX - 1;
	return taken ? size_left(have, taken[index]) : have;
}

/* Of each node's CPUs; UINT32_MAX for a node of memory only. */
static unsigned *packages(const struct host *host, unsigned count)
{
	unsigned *packages = xcalloc(count, sizeof(*packages));

	for (unsigned i = 0; i < count; i++)
		packages[i] = UINT32_MAX;
	for (size_t i = 0; i < host->n_cpus; i++) {
		unsigned site = site_index(host, host->cpus[i].node);

		if (site < count)
			packages[site] = host->cpus[i].package;
	}
	return packages;
}

/* Where the firmware's figures are equal or unknown, the same package is nearer. */
static unsigned distance(const struct host *host, const unsigned *package, unsigned from,
			 unsigned to)
{
	enum { STEP = 1 << 15 }; /* above the number of pairs that a guest's nodes make */
	unsigned firmware = from == to ? 10 : 20;

	if (host->n_nodes && host->nodes[from].distances)
		firmware = host->nodes[from].distances[to];
	if (firmware > UINT16_MAX)
		firmware = UINT16_MAX;
	return firmware * STEP + (package[from] != package[to]);
}

static void add_distances(struct sites *sites)
{
	const struct host *host = sites->state->host;
	unsigned count = sites->count;
	cleanup_free unsigned *package = packages(host, count);

	sites->distances = xcalloc((size_t)count * count, sizeof(*sites->distances));
	for (unsigned i = 0; i < count; i++) {
		sites->items[i].distances = &sites->distances[(size_t)i * count];
		for (unsigned j = 0; j < count; j++)
			sites->distances[(size_t)i * count + j] = distance(host, package,
									   i, j);
	}
}

/* To the nearest node of SET; 0 when SET says nothing. */
static unsigned nearest(const struct sites *sites, const struct site *site,
			const struct cpuset *set)
{
	unsigned best = 0;

	for (unsigned i = 0; i < sites->count; i++)
		if (cpuset_has(set, sites->items[i].number) &&
		    (!best || site->distances[i] < best))
			best = site->distances[i];
	return best;
}

static void add_wishes(const struct sites *sites, struct site *site)
{
	const struct place_request *request = sites->request;

	for (size_t i = 0; i < request->n_near && i < COST_NEAR_MAX; i++)
		site->near[i] = nearest(sites, site, &request->near[i]);
	site->with = nearest(sites, site, &request->with);
	site->allowed = cpuset_has(&request->nodeset, site->number) &&
			!cpuset_has(&request->apart, site->number);
}

struct sites *sites_new(const struct place_request *request,
			const struct place_state *state)
{
	const struct host *host = state->host;
	struct sites *sites = xcalloc(1, sizeof(*sites));

	sites->request = request;
	sites->state = state;
	sites->unit = request->page_size ? request->page_size : 1;
	sites->count = host->n_nodes ? (unsigned)host->n_nodes : 1;
	sites->items = xcalloc(sites->count, sizeof(*sites->items));
	add_distances(sites);
	add_seats(sites);
	for (unsigned i = 0; i < sites->count; i++) {
		struct site *site = &sites->items[i];

		site->index = i;
		site->number = host->n_nodes ? host->nodes[i].number : 0;
		site->units = host->n_nodes ? units(sites, i) : UINT64_MAX;
	}
	for (unsigned i = 0; i < sites->count; i++)
		add_wishes(sites, &sites->items[i]);
	return sites;
}

void sites_free(struct sites *sites)
{
	if (!sites)
		return;
	free(sites->threads);
	free(sites->cores);
	free(sites->items);
	free(sites->distances);
	free(sites->by_number);
	free(sites);
}

void sites_free_pointer(struct sites **sites)
{
	sites_free(*sites);
}

static int number_order(const void *number, const void *thread)
{
	unsigned a = *(const unsigned *)number;
	unsigned b = (*(const struct thread *const *)thread)->cpu;

	return (a > b) - (a < b);
}

static int thread_order(const void *left, const void *right)
{
	return number_order(&(*(const struct thread *const *)left)->cpu, right);
}

static void index_threads(struct sites *sites)
{
	sites->by_number = xcalloc(sites->n_threads, sizeof(*sites->by_number));
	for (unsigned i = 0; i < sites->n_threads; i++)
		sites->by_number[i] = &sites->threads[i];
	qsort(sites->by_number, sites->n_threads, sizeof(*sites->by_number),
	      thread_order);
}

const struct thread *sites_thread(struct sites *sites, unsigned cpu)
{
	if (!sites->by_number)
		index_threads(sites);
	const struct thread *const *found = bsearch(
		&cpu, sites->by_number, sites->n_threads, sizeof(*sites->by_number),
		number_order);
	return found ? *found : NULL;
}

unsigned sites_index(const struct sites *sites, unsigned number)
{
	unsigned index = 0;

	while (index < sites->count && sites->items[index].number != number)
		index++;
	return index;
}

const struct site *sites_of(const struct sites *sites, unsigned number)
{
	return &sites->items[sites_index(sites, number)];
}

bool sites_allow(const struct sites *sites, size_t cell, const struct site *site)
{
	const struct cpuset *nodes = sites->request->cell_nodes;

	return site->allowed && (!nodes || cpuset_empty(&nodes[cell]) ||
				 cpuset_has(&nodes[cell], site->number));
}

uint64_t sites_units(const struct sites *sites, uint64_t bytes)
{
	return bytes / sites->unit + (bytes % sites->unit != 0);
}

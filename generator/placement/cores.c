/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cores of a node a guest cell gets.
 *
 * A node can be used in up to four ways: with or without the emulator on a sibling of an
 * own vCPU, with or without cores that other guests are on. In each way a core has room
 * for a number of vCPUs, and the emulator's CPU costs some of one core's. That makes
 * exact what would else be a search: whether it fits is a sum, the fewest L3 domains are
 * the roomiest ones, and the emulator goes where it costs those least.
 */
#include <string.h>

#include "placement/cores.h"
#include "placement/fragments.h"

unsigned cores_room(const struct place_request *request, const struct core *core,
		    unsigned free)
{
	if (request->shared)
		return free;
	if (request->smt == SMT_REQUIRE)
		return free >= 2 ? free : 0;
	if (request->smt != SMT_ISOLATE)
		return free;
	if (!core->whole || free < core->n_threads)
		return 0;
	return request->threads <= 1		    ? 1
	       : request->threads < core->n_threads ? request->threads
						    : core->n_threads;
}

/* One way of using a node. */
struct way {
	bool sibling, sharing; /* are allowed */
};

/* The cores of an L3 domain, as one way sees them. */
struct domain {
	unsigned first, count; /* cores */
	unsigned room;	       /* vCPUs */
	unsigned emulator; /* the core on which the emulator costs least, or CORES_NONE */
	unsigned price;	   /* the room that this takes */
};

struct node {
	const struct sites *sites;
	const struct core *cores;
	unsigned count;
	struct way way;
	struct domain *domains; /* roomiest first */
	unsigned n_domains;
};

static bool usable(const struct node *node, const struct core *core)
{
	return node->way.sharing || !core->shared;
}

static unsigned room(const struct node *node, const struct core *core)
{
	return usable(node, core) ? cores_room(node->sites->request, core, core->free)
				  : 0;
}

/* Room that a core has left when the emulator's CPU is on it. */
static unsigned room_beside(const struct node *node, const struct core *core)
{
	if (!node->way.sibling)
		return 0;
	return cores_room(node->sites->request, core, core->free - !core->spare);
}

/* A single vCPU or emulator on it leaves it half used. */
static bool breaks(const struct core *core)
{
	return core->whole && core->n_threads > 1;
}

static void domain_add(const struct node *node, struct domain *domain, unsigned index)
{
	const struct core *core = &node->cores[index];
	unsigned has = room(node, core);

	domain->count++;
	domain->room += has;
	if (!core->own || !usable(node, core))
		return;
	unsigned price = has - room_beside(node, core);
	const struct core *best = domain->emulator == CORES_NONE
					  ? NULL
					  : &node->cores[domain->emulator];
	/* The last of equals: vCPUs go to the first. */
	if (!best || price < domain->price ||
	    (price == domain->price && breaks(core) <= breaks(best))) {
		domain->emulator = index;
		domain->price = price;
	}
}

static int domain_order(const void *left, const void *right)
{
	const struct domain *a = left, *b = right;

	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	if ((a->emulator == CORES_NONE) != (b->emulator == CORES_NONE))
		return a->emulator == CORES_NONE ? 1 : -1;
	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void find_domains(struct node *node)
{
	node->n_domains = 0;
	for (unsigned i = 0; i < node->count; i++) {
		if (!i || node->cores[i].l3 != node->cores[i - 1].l3)
			node->domains[node->n_domains++] = (struct domain){
				.first = i, .emulator = CORES_NONE
			};
		domain_add(node, &node->domains[node->n_domains - 1], i);
	}
	qsort(node->domains, node->n_domains, sizeof(*node->domains), domain_order);
}

/* How many of the roomiest domains hold NEED; more than there are when all do not. */
static unsigned span(const struct node *node, unsigned need)
{
	unsigned count = 0, sum = 0;

	while (sum < need && count < node->n_domains)
		sum += node->domains[count++].room;
	return sum < need ? node->n_domains + 1 : count;
}

/* The same with the emulator in domain D, which then has less room. */
static unsigned span_beside(const struct node *node, unsigned need, unsigned d)
{
	unsigned left = node->domains[d].room - node->domains[d].price;
	unsigned count = 0, sum = 0;
	bool used = false;

	for (unsigned i = 0; sum < need;) {
		if (i == d)
			i++;
		bool other = i < node->n_domains;
		if (!other && used)
			return node->n_domains + 1;
		if (!used && (!other || left >= node->domains[i].room)) {
			sum += left;
			used = true;
		} else {
			sum += node->domains[i++].room;
		}
		count++;
	}
	return count;
}

/* Domains that look alike are tried once: a node has few kinds. */
static bool alike(const struct domain *a, const struct domain *b)
{
	return a->room == b->room && a->emulator != CORES_NONE &&
	       b->emulator != CORES_NONE && a->price == b->price;
}

/* Where the emulator leaves the vCPUs on the fewest domains, then with the most room. */
static bool choose_emulator(const struct node *node, unsigned need, unsigned *ret_domain)
{
	unsigned best = node->n_domains + 1;

	for (unsigned d = 0; d < node->n_domains; d++) {
		const struct domain *domain = &node->domains[d];

		if (domain->emulator == CORES_NONE ||
		    (d && alike(domain, &node->domains[d - 1])))
			continue;
		unsigned count = span_beside(node, need, d);
		if (count < best || (count == best && count <= node->n_domains &&
				     domain->price < node->domains[*ret_domain].price)) {
			best = count;
			*ret_domain = d;
		}
	}
	return best <= node->n_domains;
}

/* A core with its room, in the order in which they are filled. */
struct slot {
	unsigned core, room;
	bool shared;
};

static int slot_order(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	if (a->shared != b->shared)
		return a->shared ? 1 : -1;
	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	return (a->core > b->core) - (a->core < b->core);
}

/* Marks the domains to use in the order of their room: the roomiest, but last the least
 * roomy that still does. */
static void choose_domains(struct node *node, unsigned need)
{
	unsigned count = span(node, need), i = 0;

	for (; i + 1 < count; i++)
		need -= node->domains[i].room;
	unsigned last = i;
	for (unsigned j = i; j < node->n_domains && node->domains[j].room >= need; j++)
		if (node->domains[j].room < node->domains[last].room)
			last = j;
	if (count) {
		struct domain chosen = node->domains[last];

		node->domains[last] = node->domains[i];
		node->domains[i] = chosen;
	}
	node->n_domains = count;
}

static unsigned find_slots(const struct node *node, unsigned emulator, struct slot *slots)
{
	unsigned count = 0;

	for (unsigned d = 0; d < node->n_domains; d++)
		for (unsigned i = 0; i < node->domains[d].count; i++) {
			unsigned index = node->domains[d].first + i;
			const struct core *core = &node->cores[index];
			unsigned has = index != emulator    ? room(node, core)
				       : usable(node, core) ? room_beside(node, core)
							    : 0;

			if (has)
				slots[count++] = (struct slot){ index, has,
								core->shared };
		}
	qsort(slots, count, sizeof(*slots), slot_order);
	return count;
}

/* Siblings together: no vCPU alone on its core, but for one where their number is odd. */
static void pair_up(const struct slot *slots, unsigned count, unsigned last,
		    unsigned *takes)
{
	for (unsigned i = 0; i < count; i++)
		if (takes[slots[i].core] >= 3) {
			takes[slots[i].core]--;
			takes[last]++;
			return;
		}
}

/* Is A the better core for what does not fill one? */
static bool tighter(const struct node *node, const struct slot *a, const struct slot *b)
{
	bool whole_a = node->cores[a->core].whole, whole_b = node->cores[b->core].whole;

	return whole_a != whole_b ? whole_b : a->room < b->room;
}

/* Cores that are filled, then the tightest one for what remains. */
static void fill(const struct node *node, const struct slot *slots, unsigned count,
		 unsigned need, unsigned *takes)
{
	const struct slot *last = NULL;

	for (unsigned i = 0; i < count && need; i++)
		if (slots[i].room <= need) {
			takes[slots[i].core] = slots[i].room;
			need -= slots[i].room;
		}
	for (unsigned i = 0; i < count && need; i++)
		if (!takes[slots[i].core] && (!last || tighter(node, &slots[i], last)))
			last = &slots[i];
	if (!last)
		return;
	takes[last->core] = need;
	if (need == 1 && node->sites->request->smt == SMT_REQUIRE)
		pair_up(slots, count, last->core, takes);
}

static unsigned l3_count(const struct node *node, const unsigned *takes)
{
	unsigned count = 0, last = UINT32_MAX;

	for (unsigned i = 0; i < node->count; i++)
		if (takes[i] && node->cores[i].l3 != last) {
			count++;
			last = node->cores[i].l3;
		}
	return count;
}

static void price(const struct node *node, struct cores_choice *choice)
{
	const struct place_request *request = node->sites->request;
	struct cost *cost = &choice->cost;

	*cost = (struct cost){ { 0 } };
	choice->used = 0;
	for (unsigned i = 0; i < node->count; i++) {
		const struct core *core = &node->cores[i];
		bool emulator = choice->emulator == i;
		unsigned takes = request->shared ? 0 : choice->takes[i];
		bool isolated = takes && request->smt == SMT_ISOLATE;

		if (!takes && !emulator)
			continue;
		choice->used += isolated ? core->n_threads : takes;
		choice->used += emulator && !core->spare;
		cost->columns[COST_SIBLING] += emulator && takes;
		cost->columns[COST_SHARING] |= core->shared;
		cost->columns[COST_FRAGMENTS] += fragments_leaves(request, core, takes,
								  emulator);
	}
	cost->columns[COST_L3] = l3_count(node, choice->takes);
	cost->columns[COST_OWN] = choice->emulator != CORES_NONE;
}

static bool use(struct node *node, unsigned need, bool emulator,
		struct cores_choice *choice)
{
	cleanup_free struct slot *slots = NULL;

	find_domains(node);
	choice->emulator = CORES_NONE;
	if (emulator) {
		unsigned d = 0;

		if (!choose_emulator(node, need, &d))
			return false;
		choice->emulator = node->domains[d].emulator;
		node->domains[d].room -= node->domains[d].price;
		qsort(node->domains, node->n_domains, sizeof(*node->domains),
		      domain_order);
	}
	if (span(node, need) > node->n_domains)
		return false;
	choose_domains(node, need);
	slots = xcalloc(node->count, sizeof(*slots));
	memset(choice->takes, 0, node->count * sizeof(*choice->takes));
	fill(node, slots, find_slots(node, choice->emulator, slots), need, choice->takes);
	price(node, choice);
	return true;
}

/* Guests that float need but one CPU to do so. */
static unsigned needed(const struct sites *sites, unsigned vcpus)
{
	return sites->request->shared ? vcpus != 0 : vcpus;
}

bool cores_choose(const struct sites *sites, const struct site *site, unsigned vcpus,
		  bool emulator, struct cores_choice *choice)
{
	static const struct way ways[] = {
		{ false, false }, { false, true }, { true, false }, { true, true }
	};
	cleanup_free struct domain *domains = xcalloc(site->n_cores, sizeof(*domains));
	cleanup_free unsigned *takes = xcalloc(site->n_cores, sizeof(*takes));
	struct node node = { .sites = sites,
			     .cores = &sites->cores[site->first],
			     .count = site->n_cores,
			     .domains = domains };
	struct cores_choice best = { .takes = choice->takes }, other = { .takes = takes };
	bool found = false;

	for (unsigned i = 0; i < (emulator ? 4 : 2); i++) {
		node.way = ways[i];
		if (!use(&node, needed(sites, vcpus), emulator, &other) ||
		    (found &&
		     costs_compare(&other.cost, &best.cost, sites->request->pack) >= 0))
			continue;
		found = true;
		memcpy(best.takes, other.takes, site->n_cores * sizeof(*best.takes));
		other.takes = best.takes;
		best = other;
		other.takes = takes;
	}
	if (!found)
		return false;
	/* to pack, fragments come last */
	if (!sites->request->pack &&
	    fragments_lessen(sites, site, needed(sites, vcpus), &best))
		price(&node, &best);
	*choice = best;
	return true;
}

unsigned cores_most(const struct sites *sites, const struct site *site, bool emulator)
{
	const struct place_request *request = sites->request;
	struct node node = { .sites = sites,
			     .cores = &sites->cores[site->first],
			     .count = site->n_cores,
			     .way = { true, true } };
	unsigned sum = 0, least = UINT32_MAX;

	for (unsigned i = 0; i < node.count; i++) {
		const struct core *core = &node.cores[i];
		unsigned has = room(&node, core);

		sum += has;
		if (core->own && has - room_beside(&node, core) < least)
			least = has - room_beside(&node, core);
	}
	if (emulator)
		sum = least <= sum ? sum - least : 0;
	return request->shared && sum ? request->vcpus : sum;
}

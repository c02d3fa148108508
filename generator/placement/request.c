/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From policy, guest, host and claims to a place_request, and its answer to a claim. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "placement/cells.h"
#include "placement/near.h"
#include "placement/request.h"
#include "placement/taken.h"

/* From 9.4.0 on libvirt starts the emulator with a wider cpuset.mems; before, memory
 * cannot be had from a node where the emulator may not run. */
#define LIBVIRT_WIDE_EMULATOR UINT64_C(9004000)

/* libvirt takes the system's own page size for a hugepage's, and means normal pages. */
enum { NORMAL_PAGE = 4096 };

/* A request and all that it borrows. */
struct draft {
	struct place_request request;
	struct place_state state;
	struct cells cells;
	unsigned *list;
	struct cpuset *near;
	struct taken taken;
	struct placement *standing;
	struct text why;
};

static void draft_done(struct draft *draft)
{
	cells_done(&draft->cells);
	free(draft->list);
	free(draft->near);
	taken_done(&draft->taken);
	placement_free(draft->standing);
	text_done(&draft->why);
}

uint64_t request_page_size(const struct policy *policy, const struct guest *guest)
{
	const struct element *page = element_find(guest->domain,
						  "memoryBacking/hugepages/page");
	const char *size = element_attribute(page, "size");
	unsigned long long number;
	uint64_t bytes = 0;

	if (given(&policy->memoryBacking.hugepages))
		return policy->memoryBacking.hugepages.number;
	if (size && text_number(size, &number) &&
	    size_scale(number, element_attribute(page, "unit"), &bytes) &&
	    bytes > NORMAL_PAGE)
		return bytes;
	return 0;
}

static void without(struct cpuset *set, const struct value *value)
{
	if (value->cpus)
		cpuset_andnot(set, value->cpus);
}

/* The CPUs that guests may own: those set aside for it, or all that is not set aside for
 * something else. */
static struct cpuset dedicated_pool(const struct host *host,
				    const struct host_policy *host_policy)
{
	struct cpuset pool = host->online;

	if (!host_policy)
		return pool;
	if (host_policy->dedicated_cpus.cpus)
		cpuset_and(&pool, host_policy->dedicated_cpus.cpus);
	else
		without(&pool, &host_policy->shared_cpus);
	without(&pool, &host_policy->reserved_cpus);
	without(&pool, &host_policy->housekeeping_cpus);
	without(&pool, &host_policy->vswitch.pmd_cpus);
	return pool;
}

/* The CPUs that guests may float over. */
static struct cpuset shared_pool(const struct host *host,
				 const struct host_policy *host_policy)
{
	struct cpuset pool = host->online;

	if (!host_policy)
		return pool;
	if (host_policy->shared_cpus.cpus)
		cpuset_and(&pool, host_policy->shared_cpus.cpus);
	else
		without(&pool, &host_policy->dedicated_cpus);
	without(&pool, &host_policy->reserved_cpus);
	without(&pool, &host_policy->vswitch.pmd_cpus);
	return pool;
}

/* A list is dealt out in order of its numbers, first to vCPU 0. */
static bool deal_list(const struct request_source *source, struct draft *draft,
		      struct diag *diag)
{
	const struct value *said = &source->policy->cputune.vcpupin;
	unsigned vcpus = source->guest->vcpus, dealt = 0;
	struct cpuset absent = *said->cpus;

	cpuset_andnot(&absent, &source->host->online);
	if (!cpuset_empty(&absent)) {
		cleanup_free char *cpus = cpuset_format(&absent);

		diag_error(diag, said->place, "pin-offline",
			   "CPU %s is not online on the host (%s)", cpus,
			   source->host->origin);
		return false;
	}
	cleanup_free unsigned *dealt_to = xcalloc(vcpus, sizeof(*dealt_to));
	cpuset_foreach (cpu, said->cpus) {
		if (dealt < vcpus)
			dealt_to[dealt++] = cpu;
	}
	if (dealt < vcpus) {
		diag_error(diag, said->place, "placement",
			   "the list has %u CPUs, the guest has %u vCPUs", dealt, vcpus);
		return false;
	}
	draft->request.list = draft->list;
	draft->request.pool = *said->cpus;
	return true;
}

static bool ask_cpus(const struct request_source *source, struct draft *draft,
		     struct diag *diag)
{
	const struct value *said = &source->policy->cputune.vcpupin;
	struct place_request *request = &draft->request;

	request->smt = given(&source->policy->cputune.smt)
			       ? (enum smt)source->policy->cputune.smt.word
			       : SMT_PREFER;
	request->threads = source->guest->threads > 1 ? source->guest->threads : 0;
	if (given(said) && said->word < 0)
		return deal_list(source, draft, diag);
	request->shared = !given(said) || said->word == VCPUPIN_SHARED;
	request->pool = request->shared
				? shared_pool(source->host, source->host_policy)
				: dedicated_pool(source->host, source->host_policy);
	return true;
}

static bool wants_own(const struct value *said)
{
	return given(said) && said->word == HELPERPIN_OWN;
}

static bool is_list(const struct value *said)
{
	return given(said) && said->word < 0;
}

/* Emulator and I/O threads need a CPU of placement's choice unless lists say all. */
static void ask_helpers(const struct request_source *source, struct draft *draft)
{
	const struct value *emulator = &source->policy->cputune.emulatorpin;
	const struct value *io = &source->policy->cputune.iothreadpin;
	struct place_request *request = &draft->request;

	if (!given(&source->policy->cputune.vcpupin) && !given(emulator) && !given(io))
		return;
	if (is_list(emulator) && (is_list(io) || !given(io)))
		return;
	if (!wants_own(emulator) && !wants_own(io) && source->host_policy &&
	    source->host_policy->housekeeping_cpus.cpus) {
		request->housekeeping = *source->host_policy->housekeeping_cpus.cpus;
		cpuset_and(&request->housekeeping, &source->host->online);
	}
	request->own = !request->shared || wants_own(emulator) || wants_own(io);
	request->own_each = source->libvirt < LIBVIRT_WIDE_EMULATOR;
	request->own_pool = dedicated_pool(source->host, source->host_policy);
}

static void named_nodes(const struct claims *claims, const struct values *names,
			struct cpuset *nodes, const char *verb, struct text *why)
{
	for (size_t i = 0; claims && i < names->count; i++) {
		const struct claim *claim = claims_find_name(claims,
							     names->items[i].text);

		if (!claim)
			continue;
		cleanup_free char *where = cpulist_format(&claim->nodes);
		cpulist_add(nodes, &claim->nodes);
		text_printf(why, "%s%s %s, which is on node %s", why->length ? ", " : "",
			    verb, claim->name, where);
	}
}

/* What a policy does not name: `with` and the switch's two. */
enum { NEAR_IMPLIED = 3 };

static void ask_near(const struct request_source *source, struct draft *draft)
{
	const struct values *near = &source->policy->numatune.near;
	struct place_request *request = &draft->request;

	draft->near = xcalloc(near->count + NEAR_IMPLIED, sizeof(*draft->near));
	request->near = draft->near;
	request->n_near = near->count;
	for (size_t i = 0; i < near->count; i++)
		near_nodes(&near->items[i], source->policy, source->host,
			   source->host_policy, source->guest, &draft->near[i],
			   &draft->why);
	for (size_t i = 0; source->away && i < near->count; i++) {
		cpuset_or(&request->apart, &draft->near[i]);
		draft->near[i] = (struct cpuset)CPUSET_INIT;
	}
}

static void add_near(struct draft *draft, const struct cpuset *nodes)
{
	if (!cpuset_empty(nodes))
		draft->near[draft->request.n_near++] = *nodes;
}

/* The switch comes after all that the policy wants, `with` included. */
static void ask_switch(const struct request_source *source, struct draft *draft)
{
	struct cpuset pmd, nics;

	near_switch(source->policy, source->host, source->host_policy, source->guest,
		    &pmd, &nics, &draft->why);
	if (source->away) {
		cpuset_or(&draft->request.apart, &pmd);
	} else if (!cpuset_empty(&pmd) || !cpuset_empty(&nics)) {
		add_near(draft, &draft->request.with);
		add_near(draft, &pmd);
		add_near(draft, &nics);
	}
}

static bool ask_nodes(const struct request_source *source, struct draft *draft,
		      struct diag *diag)
{
	const struct policy *policy = source->policy;
	const struct host *host = source->host;
	struct place_request *request = &draft->request;

	for (size_t i = 0; i < host->n_nodes; i++)
		cpuset_set(&request->nodeset, host->nodes[i].number);
	if (policy->numatune.nodeset.cpus) {
		struct cpuset absent = *policy->numatune.nodeset.cpus;

		cpuset_andnot(&absent, &request->nodeset);
		if (!cpuset_empty(&absent)) {
			cleanup_free char *nodes = cpuset_format(&absent);
			diag_error(diag, policy->numatune.nodeset.place,
				   "numa-node-missing", "the host (%s) has no node %s",
				   host->origin, nodes);
			return false;
		}
		cpuset_and(&request->nodeset, policy->numatune.nodeset.cpus);
	}
	ask_near(source, draft);
	named_nodes(source->claims, &policy->numatune.with, &request->with, "with",
		    &draft->why);
	ask_switch(source, draft);
	named_nodes(source->claims, &policy->numatune.apart, &request->apart,
		    "apart from", &draft->why);
	return true;
}

/* The guest's own, which does not stand in its way; or NULL. */
static const struct claim *own_claim(const struct claims *claims,
				     const struct guest *guest)
{
	if (!claims)
		return NULL;
	return guest->uuid ? claims_find(claims, guest->uuid)
			   : claims_find_name(claims, guest->name);
}

static void see_claims(const struct request_source *source, struct draft *draft)
{
	const struct claims *claims = source->claims;
	const struct claim *own = own_claim(claims, source->guest);
	uint64_t size = draft->request.page_size;

	draft->state.host = source->host;
	for (size_t i = 0; claims && i < claims->count; i++) {
		const struct claim *claim = &claims->items[i];

		if (claim == own)
			continue;
		const struct cpuset on = cpulist_set(&claim->vcpus_on);
		cpulist_add(&draft->state.owned, &claim->cpus);
		cpulist_add(&draft->state.busy, &claim->cpus);
		/* one that floats over all there is stands in nobody's way */
		if (!cpuset_subset(&draft->request.pool, &on))
			cpuset_or(&draft->state.busy, &on);
	}
	draft->taken = taken_memory(source->host, claims, own, size);
	draft->state.own = draft->taken.own;
	if (size)
		draft->state.pages_taken = draft->taken.others;
	else
		draft->state.memory_taken = draft->taken.others;
	if (draft->request.shared)
		cpuset_andnot(&draft->request.pool, &draft->state.owned);
}

/* The CPU that pins vCPU, or CPUSET_MAX when it is not pinned to just one. */
static unsigned pinned_to(const struct guest *guest, unsigned vcpu)
{
	const struct guest_pin *pin = &guest->vcpupin[vcpu];

	return pin->element && cpuset_count(&pin->cpus) == 1 ? cpuset_next(&pin->cpus, 0)
							     : (unsigned)CPUSET_MAX;
}

static void add_pin(const struct guest_pin *pin, struct placement *standing)
{
	if (!pin->element)
		return;
	cpuset_or(&standing->emulator, &pin->cpus);
	standing->emulator_own = true;
}

/* Where the guest's pins put it now, if each vCPU has one CPU: a placement to keep. */
static struct placement *standing_of(const struct guest *guest)
{
	struct placement *standing = xcalloc(1, sizeof(*standing));

	standing->n_vcpus = guest->vcpus;
	standing->cpus = xcalloc(guest->vcpus, sizeof(*standing->cpus));
	for (unsigned vcpu = 0; vcpu < guest->vcpus; vcpu++) {
		unsigned cpu = pinned_to(guest, vcpu);

		if (cpu == CPUSET_MAX || cpuset_has(&standing->owned, cpu)) {
			placement_free(standing);
			return NULL;
		}
		standing->cpus[vcpu] = cpu;
		cpuset_set(&standing->owned, cpu);
	}
	add_pin(&guest->emulatorpin, standing);
	for (size_t i = 0; i < guest->n_iothreads; i++)
		add_pin(&guest->iothreads[i].pin, standing);
	return standing;
}

static bool make(const struct request_source *source, struct draft *draft,
		 struct diag *diag)
{
	const struct guest *guest = source->guest;
	struct place_request *request = &draft->request;

	draft->cells = cells_of(guest);
	request->vcpus = guest->vcpus;
	request->memory = guest->memory;
	request->page_size = request_page_size(source->policy, guest);
	if (!ask_cpus(source, draft, diag))
		return false;
	ask_helpers(source, draft);
	if (!ask_nodes(source, draft, diag))
		return false;
	request->pack = source->host_policy && given(&source->host_policy->packing) &&
			source->host_policy->packing.word == PACKING_PACK;
	see_claims(source, draft);
	if (source->usable) {
		cpuset_and(&request->pool, source->usable);
		cpuset_and(&request->own_pool, source->usable);
		cpuset_and(&request->housekeeping, source->usable);
	}
	if (!source->replace && !request->list && !request->shared)
		request->standing = draft->standing = standing_of(guest);
	return true;
}

/* How many host nodes the guest may span: one unless the policy says more; a policy that
 * does not speak of memory leaves it free. */
static unsigned nodes_allowed(const struct request_source *source)
{
	const struct value *nodes = &source->policy->numatune.nodes;

	if (source->fixed && !source->guest->n_cells &&
	    source->policy->numatune.place.line)
		return 1;
	if (given(nodes))
		return (unsigned)nodes->number;
	return source->policy->numatune.place.line ? 1 : (unsigned)source->host->n_nodes;
}

static struct placement *try_place(struct draft *draft, const struct policy *policy,
				   struct diag *diag)
{
	struct place at = given(&policy->cputune.vcpupin) ? policy->cputune.vcpupin.place
							  : policy->name.place;

	return diag ? place(&draft->request, &draft->state, at, diag)
		    : place_quietly(&draft->request, &draft->state, NULL);
}

/* Where neighbours that share nodes do not fit: any cells that do, on MOST nodes or
 * fewer.
 */
static struct placement *place_anyhow(const struct guest *guest, struct draft *draft,
				      size_t most)
{
	struct place_request *request = &draft->request;
	unsigned ways = CELLS_WAYS;

	for (size_t groups = most; groups > 1; groups--) {
		cells_first(&draft->cells);
		while (ways && cells_ask_next(&draft->cells, guest, groups, request)) {
			if (place_fits(request, &draft->state))
				return place_quietly(request, &draft->state, NULL);
			ways--;
		}
	}
	return NULL;
}

/* The guest's cells on as many nodes as they are, or as few as it takes. */
static struct placement *place_cells(const struct request_source *source,
				     struct draft *draft, struct diag *diag)
{
	size_t cells = source->guest->n_cells, groups = nodes_allowed(source);
	struct placement *placement = NULL;

	if (!cells) {
		draft->request.max_nodes = (unsigned)groups;
		return try_place(draft, source->policy, diag);
	}
	groups = groups < cells ? groups : cells;
	for (size_t i = groups; i && !placement; i--) {
		if (cells_ask(&draft->cells, source->guest, i, &draft->request))
			placement = place_quietly(&draft->request, &draft->state, NULL);
	}
	if (!placement)
		placement = place_anyhow(source->guest, draft, groups);
	if (placement)
		return placement;
	cells_ask_by_binding(&draft->cells, source->guest, &draft->request);
	return try_place(draft, source->policy, diag);
}

/* What stands, stays: within the CPUs that are the guest's own already, if that can be.
 */
static struct placement *place_in_claim(const struct request_source *source,
					struct draft *draft)
{
	const struct claim *own = own_claim(source->claims, source->guest);
	struct place_request *request = &draft->request, whole = *request;

	if (!own || !own->cpus.count || source->replace || request->list ||
	    request->shared)
		return NULL;
	const struct cpuset cpus = cpulist_set(&own->cpus);
	const struct cpuset nodes = cpulist_set(&own->nodes);
	cpuset_and(&request->pool, &cpus);
	cpuset_and(&request->own_pool, &cpus);
	cpuset_and(&request->nodeset, &nodes);
	struct placement *placement = place_cells(source, draft, NULL);
	if (!placement)
		*request = whole;
	return placement;
}

static bool stands(const struct placement *placement, const struct placement *standing)
{
	return placement && standing && placement->cpus &&
	       !memcmp(placement->cpus, standing->cpus,
		       standing->n_vcpus * sizeof(*standing->cpus));
}

/* On the nodes that the guest's own <numatune> names, or near what it prefers. NULL: it
 * names none, or does not fit there. */
static struct placement *place_bound(const struct request_source *source,
				     struct draft *draft)
{
	struct place_request *request = &draft->request, whole = *request;
	struct cells *cells = &draft->cells;
	struct placement *placement = NULL;
	struct cpuset wished;

	if (!cells_bind(cells, source->guest, source->host, &wished))
		return NULL;
	if (!source->guest->n_cells && !cpuset_empty(&cells->bound[0]))
		cpuset_and(&request->nodeset, &cells->bound[0]);
	if (!cpuset_empty(&wished))
		*append(draft->near, request->n_near) = wished;
	request->near = draft->near;
	if (!cpuset_empty(&request->nodeset))
		placement = place_cells(source, draft, NULL);
	if (placement)
		return placement;
	cells_unbind(cells);
	*request = whole;
	request->near = draft->near;
	return NULL;
}

/* Memory that the policy leaves to the guest, or that a running guest has already,
 * decides where its vCPUs are, if they can be there and stand nowhere yet: elsewhere each
 * access would cross nodes. */
static struct placement *place_by_memory(const struct request_source *source,
					 struct draft *draft)
{
	struct place_request whole = draft->request;
	struct placement *placement = NULL;

	if (source->policy->numatune.place.line && !source->running)
		return NULL;
	if (whole.standing)
		placement = place_cells(source, draft, NULL);
	if (stands(placement, whole.standing))
		return placement;
	placement_free(placement);
	draft->request = whole;
	placement = place_bound(source, draft);
	if (!placement)
		return NULL;
	text_done(&draft->why);
	text_add(&draft->why, source->running ? "its memory is there already"
					      : "its memory is bound there");
	return placement;
}

static char *nodes_why(const struct draft *draft)
{
	if (draft->why.length)
		return xstrdup(draft->why.data);
	if (draft->state.host->n_nodes == 1)
		return xstrdup("the host's only one");
	if (draft->request.standing)
		return xstrdup(
			"where the guest is already, or the fewest nodes that fit");
	return xasprintf("the fewest nodes that fit, packing: %s",
			 draft->request.pack ? "pack" : "spread");
}

struct placement *request_placement(const struct request_source *source, char **ret_why,
				    struct diag *diag)
{
	cleanup(draft_done) struct draft draft = { .list = NULL };

	if (!make(source, &draft, diag))
		return NULL;
	struct placement *placement = place_in_claim(source, &draft);
	if (!placement)
		placement = place_by_memory(source, &draft);
	if (!placement)
		placement = place_cells(source, &draft, diag);
	if (!placement)
		return NULL;
	if (source->guest->n_cells) {
		placement->group = draft.cells.group;
		draft.cells.group = NULL;
	}
	*ret_why = nodes_why(&draft);
	return placement;
}

unsigned request_cell_node(const struct placement *placement, size_t cell)
{
	return placement->cells[placement->group ? placement->group[cell] : cell].node;
}

struct cpuset request_helpers(const struct request_source *source,
			      const struct placement *placement, const struct value *said)
{
	const struct host_policy *host_policy = source->host_policy;
	struct cpuset cpus = CPUSET_INIT;

	if (is_list(said))
		return *said->cpus;
	if (wants_own(said) || !host_policy || !host_policy->housekeeping_cpus.cpus)
		return placement->emulator;
	for (size_t i = 0; i < source->host->n_nodes; i++)
		if (cpuset_has(&placement->nodes, source->host->nodes[i].number))
			cpuset_or(&cpus, &source->host->nodes[i].cpus);
	cpuset_and(&cpus, host_policy->housekeeping_cpus.cpus);
	if (source->usable)
		cpuset_and(&cpus, source->usable);
	return cpuset_empty(&cpus) ? placement->emulator : cpus;
}

static uint64_t whole_pages(uint64_t bytes, uint64_t page)
{
	return page ? (bytes + page - 1) / page * page : bytes;
}

struct claim request_claim(const struct request_source *source,
			   const struct placement *placement)
{
	const struct guest *guest = source->guest;
	struct cpuset vcpus_on = placement->shared;

	for (size_t i = 0; placement->cpus && i < placement->n_vcpus; i++)
		cpuset_set(&vcpus_on, placement->cpus[i]);
	struct claim claim = {
		.name = xstrdup(guest->name),
		.state = CLAIM_STARTING,
		.cpus = cpulist_of(&placement->owned),
		.nodes = cpulist_of(&placement->nodes),
		.vcpus_on = cpulist_of(&vcpus_on),
	};
	if (guest->uuid)
		snprintf(claim.uuid, sizeof(claim.uuid), "%s", guest->uuid);
	uint64_t page = request_page_size(source->policy, guest);
	for (size_t i = 0; i < placement->n_cells; i++)
		*append(claim.memory, claim.n_memory) = (struct claim_memory){
			.node = placement->cells[i].node,
			.page_size = page,
			.bytes = whole_pages(placement->cells[i].memory, page),
		};
	return claim;
}

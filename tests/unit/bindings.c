/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest whose policy says nothing of memory keeps its own <numatune>: its vCPUs are
 * where its memory is bound to, if there is room for them there. */
#include <string.h>

#include "base/text.h"
#include "guest/bindings.h"
#include "placement/request.h"
#include "random.h"
#include "tap.h"

enum { NODES = 3, CORES = 6, GUESTS = 4000, CELLS_MAX = 4 };

/* What a random guest is made of: the node that each cell is bound to, NODES: to none. */
struct sketch {
	unsigned n_cells; /* 0: no cells, and vcpus[0] and node[0] are the guest's */
	unsigned vcpus[CELLS_MAX], node[CELLS_MAX];
	bool preferred;
};

/* CPUs 0 to 5 on node 0, 6 to 11 on node 1, and node 2, which has memory alone. */
static struct host *make_host(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_text struct text text = TEXT_INIT;

	text_add(&text, "machine: m\nnodes:\n");
	for (unsigned node = 0; node < NODES - 1; node++) {
		text_printf(&text,
			    "  - node: %u\n    memory: 64 GiB\n    cpus:\n"
			    "      - {package: %u, cores: ",
			    node, node);
		for (unsigned core = 0; core < CORES; core++)
			text_printf(&text, "%u ", node * CORES + core);
		text_add(&text, "}\n");
	}
	text_printf(&text, "  - {node: %d, memory: 64 GiB}\n", NODES - 1);
	struct host *host = host_from_yaml("m.yaml", text.data, text.length, &diag);
	diag_print(&diag, stderr, false);
	return host;
}

static struct sketch random_sketch(void)
{
	struct sketch sketch = { .n_cells = below(CELLS_MAX + 1) };

	sketch.preferred = !sketch.n_cells && below(4) == 0;
	for (unsigned i = 0; i < CELLS_MAX; i++) {
		sketch.vcpus[i] = 1 + below(sketch.n_cells ? 3 : 6);
		sketch.node[i] = below(NODES + 1);
	}
	return sketch;
}

static unsigned count_of(const struct sketch *sketch)
{
	return sketch->n_cells ? sketch->n_cells : 1;
}

static void add_binding(struct text *xml, const struct sketch *sketch, unsigned i)
{
	if (sketch->node[i] == NODES)
		return;
	if (sketch->n_cells)
		text_printf(xml, "<memnode cellid='%u' mode='strict' nodeset='%u'/>", i,
			    sketch->node[i]);
	else
		text_printf(xml, "<memory mode='%s' nodeset='%u'/>",
			    sketch->preferred ? "preferred" : "strict", sketch->node[i]);
}

static char *xml_of(const struct sketch *sketch)
{
	struct text xml = TEXT_INIT;
	unsigned vcpus = 0;

	for (unsigned i = 0; i < count_of(sketch); i++)
		vcpus += sketch->vcpus[i];
	text_printf(&xml,
		    "<domain type='kvm'><name>g</name><memory unit='GiB'>%u</memory>"
		    "<vcpu>%u</vcpu><numatune>",
		    count_of(sketch), vcpus);
	for (unsigned i = 0; i < count_of(sketch); i++)
		add_binding(&xml, sketch, i);
	text_add(&xml, "</numatune><cpu><numa>");
	for (unsigned i = 0, first = 0; i < sketch->n_cells; first += sketch->vcpus[i++])
		text_printf(&xml, "<cell id='%u' cpus='%u-%u' memory='1' unit='GiB'/>", i,
			    first, first + sketch->vcpus[i] - 1);
	text_add(&xml, "</numa></cpu></domain>");
	return text_take(&xml);
}

/* Each vCPU is on the node that its memory is bound to. */
static bool obeys(const struct sketch *sketch, const struct placement *placement)
{
	unsigned vcpu = 0;

	for (unsigned i = 0; i < count_of(sketch); i++)
		for (unsigned k = 0; k < sketch->vcpus[i]; k++, vcpu++)
			if (sketch->node[i] < NODES - 1 && !sketch->preferred &&
			    placement->cpus[vcpu] / CORES != sketch->node[i])
				return false;
	return true;
}

/* Whether there is a node for each cell, where it is bound to if BOUND, with a CPU for
 * each vCPU and one more for the emulator: some of the 2^4 ways. */
static bool fits(const struct sketch *sketch, bool bound)
{
	for (unsigned way = 0; way < 1U << count_of(sketch); way++) {
		unsigned need[2] = { 0 };
		bool fits = true;

		for (unsigned i = 0; i < count_of(sketch); i++) {
			need[way >> i & 1] += sketch->vcpus[i];
			fits &= !bound || sketch->preferred ||
				sketch->node[i] >= NODES - 1 ||
				sketch->node[i] == (way >> i & 1);
		}
		for (unsigned node = 0; node < 2; node++)
			fits &= !need[node] || need[node] + 1 <= CORES;
		if (fits)
			return true;
	}
	return !sketch->n_cells && sketch->vcpus[0] + 2 <= 2 * CORES &&
	       (!bound || sketch->preferred || sketch->node[0] >= NODES - 1);
}

struct tally {
	unsigned placed, refused, astray, wrong, wished, away;
};

static void try_guest(const struct host *host, const struct policy *policy,
		      const struct sketch *sketch, struct tally *tally)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *xml = xml_of(sketch), *why = NULL;
	cleanup_doc struct doc *doc = doc_parse("g.xml", xml, strlen(xml), &diag);
	cleanup_guest struct guest *guest = guest_read(doc, &diag);
	struct request_source source = { .policy = policy, .host = host, .guest = guest };
	cleanup_placement struct placement *placement = request_placement(&source, &why,
									  &diag);

	tally->placed += placement != NULL;
	tally->refused += !placement;
	bool astray = placement && fits(sketch, true) && !obeys(sketch, placement);
	bool wrong = fits(sketch, false) != (placement != NULL);
	if (astray || wrong)
		note("%s", xml);
	tally->astray += astray;
	tally->wrong += wrong;
	tally->away += placement && !obeys(sketch, placement);
	/* a preferred node of all hosts' nodes that has room is taken */
	if (placement && sketch->preferred && sketch->node[0] < NODES - 1 &&
	    sketch->vcpus[0] < CORES)
		tally->wished += placement->cpus[0] / CORES != sketch->node[0];
}

int main(void)
{
	static const char text[] = "policy: p\ncputune: {vcpupin: dedicated, smt: any}\n";
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = make_host();
	struct policy *policy = policy_parse("p.yaml", text, strlen(text), &diag);
	struct tally tally = { 0 };

	for (unsigned i = 0; i < GUESTS; i++) {
		struct sketch sketch = random_sketch();

		try_guest(host, policy, &sketch, &tally);
	}
	note("%d guests, %u placed (%u away from memory that they do not all fit "
	     "beside), "
	     "%u refused",
	     GUESTS, tally.placed, tally.away, tally.refused);
	ok(tally.placed > GUESTS / 3 && tally.refused > GUESTS / 100,
	   "there are guests that fit and guests that do not");
	ok(!tally.astray,
	   "vCPUs that fit there are where their memory is bound to (%u guests' are not)",
	   tally.astray);
	ok(!tally.wrong,
	   "and a guest is refused only where there is no room at all (%u are wrong)",
	   tally.wrong);
	ok(!tally.wished, "a preferred node that has room is taken (%u are not)",
	   tally.wished);
	policy_free(policy);
	return tap_done();
}

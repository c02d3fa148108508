/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which host nodes the memory comes from. */
#include <stdio.h>

#include "base/text.h"
#include "edits/edits.h"
#include "placement/request.h"

static const char *mode_of(const struct policy *policy)
{
	return given(&policy->numatune.mode) ? policy->numatune.mode.text : "strict";
}

/* Why the memory is there: it is where the vCPUs are. */
static char *why_here(const struct plan *plan)
{
	return xasprintf("%s; memory on another node costs some 20 %% (xapi CA-420968)",
			 plan->node_why);
}

static void bind_guest(struct edits *edits, const struct plan *plan,
		       struct element *numatune)
{
	struct element *memory = element_child(numatune, "memory");
	cleanup_free char *nodes = cpuset_format(&plan->memory_nodes);
	bool automatic = text_equal(element_attribute(memory, "placement"), "auto");
	const struct want wants[] = {
		{ "mode", mode_of(plan->policy), SAME_TEXT },
		{ "nodeset", nodes, SAME_CPUS },
		{ automatic ? "placement" : NULL, "static", SAME_TEXT },
		{ NULL, NULL, SAME_TEXT },
	};

	cleanup_free char *why = why_here(plan);
	edits_want(edits, numatune, memory, "memory", wants,
		   (struct reason){ plan->policy->numatune.place, why });
}

static struct element *memnode_of(const struct element *numatune, const char *cell)
{
	element_foreach (memnode, numatune, "memnode") {
		if (text_equal(element_attribute(memnode, "cellid"), cell))
			return memnode;
	}
	return NULL;
}

static void bind_cell(struct edits *edits, const struct plan *plan,
		      struct element *numatune, unsigned cell, unsigned node)
{
	char id[12], nodeset[12];

	snprintf(id, sizeof(id), "%u", cell);
	snprintf(nodeset, sizeof(nodeset), "%u", node);
	const struct want wants[] = {
		{ "cellid", id, SAME_NUMBER },
		{ "mode", mode_of(plan->policy), SAME_TEXT },
		{ "nodeset", nodeset, SAME_CPUS },
		{ NULL, NULL, SAME_TEXT },
	};
	cleanup_free char *why = why_here(plan);
	edits_want(edits, numatune, memnode_of(numatune, id), "memnode", wants,
		   (struct reason){ plan->policy->numatune.place, why });
}

/* A control moves the memory of all cells; without one each cell's is where its vCPUs
 * are. */
static unsigned node_of(const struct plan *plan, size_t cell)
{
	return cpuset_equal(&plan->memory_nodes, &plan->placement->nodes)
		       ? request_cell_node(plan->placement, cell)
		       : cpuset_next(&plan->memory_nodes, 0);
}

void edits_numatune(struct edits *edits, const struct plan *plan)
{
	const struct placement *placement = plan->placement;
	const struct guest *guest = plan->guest;

	if (!plan->policy->numatune.place.line)
		return;
	struct element *numatune = doc_need(guest->domain, "numatune");
	bool cells = placement->n_cells > 1 || element_child(numatune, "memnode");
	bind_guest(edits, plan, numatune);
	size_t count = guest->n_cells ? guest->n_cells : placement->n_cells;
	for (size_t i = 0; cells && i < count; i++)
		bind_cell(edits, plan, numatune,
			  guest->n_cells ? guest->cells[i].id : (unsigned)i,
			  node_of(plan, i));
}

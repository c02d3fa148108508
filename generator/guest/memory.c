/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a guest's memory must come from. */
#include "base/text.h"
#include "guest/guest.h"

/* strict is what libvirt takes where no mode is given. */
static struct cpuset strict_nodes(const struct element *element)
{
	const char *mode = element_attribute(element, "mode");
	const char *list = element_attribute(element, "nodeset");
	struct cpuset nodes;

	return (!mode || text_equal(mode, "strict")) && list &&
			       cpuset_parse(list, &nodes, NULL, NULL)
		       ? nodes
		       : (struct cpuset)CPUSET_INIT;
}

struct cpuset guest_memory_nodes(const struct guest *guest)
{
	const struct element *numatune = element_child(guest->domain, "numatune");
	struct cpuset nodes = CPUSET_INIT;
	size_t cells = 0;

	element_foreach (memnode, numatune, "memnode") {
		struct cpuset bound = strict_nodes(memnode);

		if (cpuset_empty(&bound))
			return bound;
		cpuset_or(&nodes, &bound);
		cells++;
	}
	if (cells && cells >= guest->n_cells)
		return nodes;
	struct cpuset rest = strict_nodes(element_child(numatune, "memory"));
	if (cpuset_empty(&rest))
		return rest;
	cpuset_or(&nodes, &rest);
	return nodes;
}

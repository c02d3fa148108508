/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which host nodes a guest's memory comes from. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "guest/bindings.h"

const char *numa_mode(const struct element *element)
{
	const char *mode = element_attribute(element, "mode");

	return mode ? mode : "strict";
}

static int cell_order(const void *key, const void *item)
{
	const unsigned long long *id = key;
	const struct guest_cell *cell = item;

	return *id < cell->id ? -1 : *id > cell->id;
}

const struct guest_cell *guest_cell_find(const struct guest *guest, unsigned long long id)
{
	if (!guest->n_cells)
		return NULL;
	return bsearch(&id, guest->cells, guest->n_cells, sizeof(*guest->cells),
		       cell_order);
}

static void bind_to(struct numa_binding *binding, const struct element *element)
{
	const char *nodeset = element_attribute(element, "nodeset");

	binding->mode = "strict";
	if (!nodeset || !cpuset_parse(nodeset, &binding->nodes, NULL, NULL))
		return;
	binding->element = element;
	binding->mode = numa_mode(element);
}

struct numa_binding *numa_bindings(const struct guest *guest, size_t *ret_count)
{
	const struct element *numatune = element_child(guest->domain, "numatune");
	const struct element *memory = element_child(numatune, "memory");
	size_t count = guest->n_cells ? guest->n_cells : 1;
	struct numa_binding *bindings = xcalloc(count, sizeof(*bindings));

	for (size_t i = 0; i < guest->n_cells; i++) {
		bind_to(&bindings[i], memory);
		bindings[i].vcpus = guest->cells[i].vcpus;
		bindings[i].memory = guest->cells[i].memory;
	}
	element_foreach (memnode, numatune, "memnode") {
		const char *cellid = element_attribute(memnode, "cellid");
		const struct guest_cell *cell = NULL;
		unsigned long long id;

		if (cellid && text_number(cellid, &id))
			cell = guest_cell_find(guest, id);
		if (cell)
			bind_to(&bindings[cell - guest->cells], memnode);
	}
	if (!guest->n_cells) {
		bind_to(&bindings[0], memory);
		if (guest->vcpus)
			cpuset_set_range(&bindings[0].vcpus, 0, guest->vcpus - 1);
		bindings[0].memory = guest->memory;
	}
	*ret_count = count;
	return bindings;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that claims will still take. */
#include "base/mem.h"
#include "base/size.h"
#include "placement/taken.h"

void taken_done(struct taken *taken)
{
	free(taken->others);
	free(taken->own);
}

static size_t node_index(const struct host *host, unsigned number)
{
	size_t i = 0;

	while (i < host->n_nodes && host->nodes[i].number != number)
		i++;
	return i;
}

static void add(const struct host *host, const struct claim *claim, uint64_t page_size,
		uint64_t *amounts)
{
	for (size_t i = 0; i < claim->n_memory; i++) {
		const struct claim_memory *memory = &claim->memory[i];
		size_t node = node_index(host, memory->node);

		if (node < host->n_nodes && memory->page_size == page_size)
			amounts[node] += page_size ? memory->bytes / page_size
						   : memory->bytes;
	}
}

static uint64_t free_of(const struct host_node *node, uint64_t page_size)
{
	for (size_t i = 0; page_size && i < node->n_pages; i++)
		if (node->pages[i].size == page_size)
			return node->pages[i].free;
	return page_size ? HOST_UNKNOWN : node->free;
}

/* Whoever has it; what hugepages hold is no normal memory. */
static uint64_t total_of(const struct host_node *node, uint64_t page_size)
{
	uint64_t bytes = node->memory;

	for (size_t i = 0; i < node->n_pages; i++) {
		const struct host_pages *pages = &node->pages[i];
		uint64_t held;

		if (page_size && pages->size == page_size)
			return pages->total;
		if (__builtin_mul_overflow(pages->size, pages->total, &held))
			held = UINT64_MAX;
		if (bytes != HOST_UNKNOWN)
			bytes = size_left(bytes, held);
	}
	return page_size ? HOST_UNKNOWN : bytes;
}

/* ALL that others claim, of which PENDING is of those that do not run yet. */
static uint64_t still_taken(const struct host_node *node, uint64_t page_size,
			    uint64_t all, uint64_t pending, uint64_t own)
{
	uint64_t free = free_of(node, page_size), total = total_of(node, page_size);

	if (free == HOST_UNKNOWN)
		return all;
	if (total == HOST_UNKNOWN || __builtin_add_overflow(free, own, &free))
		return pending;
	uint64_t untouched = size_left(free, size_left(total, all));

	return untouched > pending ? untouched : pending;
}

struct taken taken_memory(const struct host *host, const struct claims *claims,
			  const struct claim *own, uint64_t page_size)
{
	struct taken taken = {
		.others = xcalloc(host->n_nodes, sizeof(uint64_t)),
		.own = xcalloc(host->n_nodes, sizeof(uint64_t)),
	};
	cleanup_free uint64_t *pending = xcalloc(host->n_nodes, sizeof(uint64_t));

	for (size_t i = 0; claims && i < claims->count; i++) {
		const struct claim *claim = &claims->items[i];

		if (claim == own)
			continue;
		add(host, claim, page_size, taken.others);
		if (claim->state != CLAIM_RUNNING)
			add(host, claim, page_size, pending);
	}
	if (own && own->state == CLAIM_RUNNING)
		add(host, own, page_size, taken.own);
	for (size_t i = 0; i < host->n_nodes; i++) {
		if (free_of(&host->nodes[i], page_size) == HOST_UNKNOWN)
			taken.own[i] = 0;
		taken.others[i] = still_taken(&host->nodes[i], page_size, taken.others[i],
					      pending[i], taken.own[i]);
	}
	return taken;
}

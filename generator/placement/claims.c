/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which guest owns what of the host. */
#include <string.h>

#include "base/text.h"
#include "placement/claims.h"

const char *const claim_state_words[CLAIM_STATES] = {
	[CLAIM_HELD] = "held",	       [CLAIM_INCOMING] = "incoming",
	[CLAIM_STARTING] = "starting", [CLAIM_RUNNING] = "running",
	[CLAIM_FAILED] = "failed",
};

static void free_owned(struct claim *claim)
{
	cpulist_done(&claim->cpus);
	cpulist_done(&claim->vcpus_on);
	cpulist_done(&claim->nodes);
	free(claim->name);
	free(claim->memory);
	free(claim->policy);
	free(claim->failure);
}

void claim_done(struct claim *claim)
{
	free_owned(claim);
	*claim = (struct claim){ .name = NULL };
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	for (size_t i = 0; i < claims->count; i++)
		free_owned(&claims->items[i]);
	free(claims->items);
	free(claims);
}

void claims_free_pointer(struct claims **claims)
{
	claims_free(*claims);
}

/* Index of the claim with UUID, or where one would go. */
static size_t position(const struct claims *claims, const char *uuid)
{
	size_t low = 0, high = claims->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(claims->items[middle].uuid, uuid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct claim *claims_find(const struct claims *claims, const char *uuid)
{
	size_t at = position(claims, uuid);

	return at < claims->count && !strcmp(claims->items[at].uuid, uuid)
		       ? &claims->items[at]
		       : NULL;
}

const struct claim *claims_find_name(const struct claims *claims, const char *name)
{
	for (size_t i = 0; i < claims->count; i++)
		if (text_equal(claims->items[i].name, name))
			return &claims->items[i];
	return NULL;
}

void claims_put(struct claims *claims, struct claim *claim)
{
	size_t at;

	claims_drop(claims, claim->uuid);
	at = position(claims, claim->uuid);
	(void)append(claims->items, claims->count);
	memmove(&claims->items[at + 1], &claims->items[at],
		(claims->count - 1 - at) * sizeof(*claims->items));
	claims->items[at] = *claim;
	*claim = (struct claim){ .name = NULL };
}

void claims_drop(struct claims *claims, const char *uuid)
{
	size_t at = position(claims, uuid);

	if (!claims_find(claims, uuid))
		return;
	free_owned(&claims->items[at]);
	claims->count--;
	memmove(&claims->items[at], &claims->items[at + 1],
		(claims->count - at) * sizeof(*claims->items));
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct claim claim_copy(const struct claim *claim)
{
	struct claim copy = *claim;

	copy.cpus = cpulist_copy(&claim->cpus);
	copy.vcpus_on = cpulist_copy(&claim->vcpus_on);
	copy.nodes = cpulist_copy(&claim->nodes);
	copy.name = copy_text(claim->name);
	copy.policy = copy_text(claim->policy);
	copy.failure = copy_text(claim->failure);
	copy.memory = NULL;
	copy.n_memory = 0;
	for (size_t i = 0; i < claim->n_memory; i++)
		*append(copy.memory, copy.n_memory) = claim->memory[i];
	return copy;
}

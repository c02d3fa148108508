/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of claims. */
#include "placement/expiry.h"

/* A time further off than a day was counted from another boot. */
static bool time_is_over(const struct claim *claim, uint64_t now)
{
	return now >= claim->until || claim->until - now > EXPIRY_DAY;
}

static bool ended(const struct claim *claim, bool owner_lives, uint64_t now)
{
	switch (claim->state) {
	case CLAIM_STARTING:
	case CLAIM_RUNNING:
		return !owner_lives;
	case CLAIM_HELD:
		return claim->until ? time_is_over(claim, now) : !owner_lives;
	case CLAIM_INCOMING:
	case CLAIM_FAILED:
	case CLAIM_STATES:
		break;
	}
	return time_is_over(claim, now);
}

/* The exclusive CPUs of a guest that was given some and is seen at SEEN's. */
static void see_cpus(struct claim *claim, const struct claim *seen)
{
	struct cpuset cpus = cpulist_set(&claim->cpus);
	struct cpuset left = cpulist_set(&claim->vcpus_on);
	const struct cpuset now_on = cpulist_set(&seen->vcpus_on);

	cpuset_andnot(&left, &now_on);
	if (claim->status.inode)
		cpuset_andnot(&cpus, &left);
	cpulist_add(&cpus, &seen->cpus);
	cpulist_done(&claim->cpus);
	claim->cpus = cpulist_of(&cpus);
}

static void see_memory(struct claim *claim, struct claim *seen)
{
	if (claim->policy && !seen->n_memory)
		return;
	free(claim->memory);
	cpulist_move(&claim->nodes, &seen->nodes);
	claim->n_memory = seen->n_memory;
	claim->memory = take(seen->memory);
}

/* CLAIM becomes what SEEN is, as far as it must. */
static void runs(struct claim *claim, struct claim *seen)
{
	if (claim->policy)
		see_cpus(claim, seen);
	else
		cpulist_move(&claim->cpus, &seen->cpus);
	cpulist_move(&claim->vcpus_on, &seen->vcpus_on);
	see_memory(claim, seen);
	claim->state = CLAIM_RUNNING;
	claim->owner = seen->owner;
	claim->status = seen->status;
	claim->until = 0;
	free(claim->name);
	claim->name = take(seen->name);
}

/* Index in CLAIMS of UUID, or COUNT. */
static size_t index_of(const struct claims *claims, const char *uuid)
{
	const struct claim *claim = claims_find(claims, uuid);

	return claim ? (size_t)(claim - claims->items) : claims->count;
}

void expiry_apply(struct claims *claims, const bool *owner_lives, struct claims *live,
		  uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < claims->count; i++) {
		struct claim *claim = &claims->items[i];
		size_t seen = index_of(live, claim->uuid);

		if (seen < live->count) {
			runs(claim, &live->items[seen]);
		} else if (ended(claim, owner_lives[i], now)) {
			claim_done(claim);
			continue;
		}
		if (kept != i)
			claims->items[kept] = *claim;
		kept++;
	}
	claims->count = kept;
	for (size_t i = 0; i < live->count; i++)
		if (!claims_find(claims, live->items[i].uuid))
			claims_put(claims, &live->items[i]);
}

bool expiry_outlives_stop(const struct claim *claim)
{
	return claim->state != CLAIM_STARTING && claim->state != CLAIM_RUNNING;
}

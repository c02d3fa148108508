/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that claims will still take. */
#include "placement/taken.h"
#include "tap.h"

enum { PAGE = 2 << 20 };

/* A node of TOTAL pages of which FREE are free, two guests with 16 each; what others take
 * of the second's point of view. */
static struct taken take_of(uint64_t total, uint64_t free, enum claim_state first,
			    enum claim_state second)
{
	struct host_pages pages = { .size = PAGE, .total = total, .free = free };
	struct host_node node = { .memory = HOST_UNKNOWN,
				  .free = HOST_UNKNOWN,
				  .pages = &pages,
				  .n_pages = 1,
				  .pages_known = true };
	struct host host = { .nodes = &node, .n_nodes = 1 };
	struct claim_memory memory = { .page_size = PAGE, .bytes = 16ULL * PAGE };
	struct claim items[] = {
		{ .state = first, .memory = &memory, .n_memory = 1 },
		{ .state = second, .memory = &memory, .n_memory = 1 },
	};
	struct claims claims = { items, 2 };

	return taken_memory(&host, &claims, &items[1], PAGE);
}

static void taken_is(struct taken taken, uint64_t others, uint64_t own, const char *name)
{
	ok(taken.others[0] == others && taken.own[0] == own, "%s", name);
	taken_done(&taken);
}

int main(void)
{
	taken_is(take_of(64, 64, CLAIM_STARTING, CLAIM_STARTING), 16, 0,
		 "who starts will take its pages, and has none yet");
	taken_is(take_of(64, 48, CLAIM_RUNNING, CLAIM_STARTING), 0, 0,
		 "who runs has them already");
	taken_is(take_of(64, 64, CLAIM_RUNNING, CLAIM_STARTING), 16, 0,
		 "... or has not touched them, and they seem free");
	taken_is(take_of(32, 0, CLAIM_RUNNING, CLAIM_RUNNING), 0, 16,
		 "a guest that runs where nothing is free has its own");
	taken_is(take_of(64, HOST_UNKNOWN, CLAIM_RUNNING, CLAIM_RUNNING), 16, 0,
		 "where the host does not tell, of the total all is taken");
	taken_is(take_of(8, 8, CLAIM_RUNNING, CLAIM_STARTING), 8, 0,
		 "a pool that was made smaller has no room");
	return tap_done();
}

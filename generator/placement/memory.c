/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest's memory on several nodes. */
#include "base/size.h"
#include "placement/memory.h"

/* Products of bytes and vCPUs. */
__extension__ typedef unsigned __int128 wide;

uint64_t memory_share(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)((wide)whole * part / parts);
}

uint64_t memory_share_below(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)(((wide)whole * part - 1) / parts);
}

/* Normal memory is split by MiB, where the guest's size is one of MiB. */
static uint64_t memory_unit(const struct place_request *request)
{
	if (request->page_size)
		return request->page_size;
	return request->memory % (1 << 20) == 0 ? 1 << 20
	       : request->memory % 1024 == 0	? 1024
						: 1;
}

uint64_t memory_units(const struct place_request *request)
{
	uint64_t unit = memory_unit(request);

	return request->memory / unit + (request->memory % unit != 0);
}

uint64_t memory_room(const struct sites *sites, const struct site *site)
{
	return site->units == UINT64_MAX
		       ? UINT64_MAX
		       : site->units / (memory_unit(sites->request) / sites->unit);
}

/* TOTAL dealt out as equally as ROOM allows, on top of SHARES; yields what is left. */
static uint64_t deal_units(const uint64_t *room, unsigned count, uint64_t total,
			   uint64_t *shares)
{
	while (total) {
		uint64_t open = 0;

		for (unsigned i = 0; i < count; i++)
			open += shares[i] < room[i];
		if (!open)
			break;
		uint64_t each = total / open ? total / open : 1;
		for (unsigned i = 0; i < count && total; i++) {
			uint64_t more = size_left(room[i], shares[i]);

			more = size_least(size_least(more, each), total);
			shares[i] += more;
			total -= more;
		}
	}
	return total;
}

/* A unit for each part, then up to its fair share rounded down, then up, then whatever
 * its node has. */
static bool deal_fairly(const struct sites *sites, const struct part *parts,
			unsigned count, uint64_t total, uint64_t *ret_units)
{
	uint64_t room[PLACE_CELLS_MAX] = { 0 }, limit[PLACE_CELLS_MAX] = { 0 };
	uint64_t left = total - count;

	if (total < count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		room[i] = memory_room(sites, parts[i].site);
		if (!room[i])
			return false;
		ret_units[i] = 1;
	}
	for (unsigned more = 0; more < 2; more++) {
		for (unsigned i = 0; i < count; i++) {
			uint64_t fair = memory_share(total, parts[i].vcpus,
						     sites->request->vcpus);

			limit[i] = size_least(room[i], fair + more);
		}
		left = deal_units(limit, count, left, ret_units);
	}
	return !deal_units(room, count, left, ret_units);
}

bool memory_split(const struct sites *sites, struct part *parts, unsigned count,
		  uint64_t *ret_remote)
{
	const struct place_request *request = sites->request;
	uint64_t unit = memory_unit(request), left = request->memory;
	uint64_t total = left / unit + (left % unit != 0), units[PLACE_CELLS_MAX];

	*ret_remote = 0;
	if (total && !deal_fairly(sites, parts, count, total, units))
		return false;
	for (unsigned i = 0; i < count; i++) {
		uint64_t fair = memory_share(total, parts[i].vcpus, request->vcpus) + 1;

		parts[i].memory = total ? size_least(units[i] * unit, left) : 0;
		left -= parts[i].memory;
		*ret_remote += total && units[i] > fair ? units[i] - fair : 0;
	}
	return true;
}

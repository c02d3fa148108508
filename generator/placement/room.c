/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a placement leaves for the guests that come after it. */
#include "placement/room.h"

static int free_order(const void *left, const void *right, void *sites)
{
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
	const struct site *items = sites;

	if (items[a].free != items[b].free)
		return items[a].free > items[b].free ? -1 : 1;
	return (a > b) - (a < b);
}

void room_init(struct room *room, const struct sites *sites)
{
	*room = (struct room){ .sites = sites };
	room->by_free = xcalloc(sites->count, sizeof(*room->by_free));
	for (unsigned i = 0; i < sites->count; i++) {
		const struct site *site = &sites->items[i];

		room->by_free[i] = i;
		if (site->capacity > room->largest)
			room->largest = site->capacity;
		for (unsigned size = 1; size <= site->free && size < ROOM_SIZES + 2;
		     size++)
			room->fits[size] += site->free / size;
	}
	if (room->largest > ROOM_SIZES)
		room->largest = ROOM_SIZES;
	qsort_r(room->by_free, sites->count, sizeof(*room->by_free), free_order,
		sites->items);
}

void room_done(struct room *room)
{
	free(room->by_free);
}

static unsigned left_on(const struct part *part)
{
	return part->site->free - part->used;
}

/* Free CPUs of the node that has most of them with PARTS placed. */
static unsigned most_free(const struct room *room, const struct part *parts,
			  unsigned count)
{
	unsigned most = 0;

	for (unsigned i = 0; i < count; i++)
		if (left_on(&parts[i]) > most)
			most = left_on(&parts[i]);
	for (unsigned i = 0; i < room->sites->count; i++) {
		const struct site *site = &room->sites->items[room->by_free[i]];
		bool here = false;

		for (unsigned j = 0; j < count; j++)
			here |= parts[j].site == site;
		if (!here)
			return site->free > most ? site->free : most;
	}
	return most;
}

/* How many parts of SIZE vCPUs fit with PARTS placed. */
static unsigned fits(const struct room *room, const struct part *parts, unsigned count,
		     unsigned size)
{
	unsigned fits = room->fits[size];

	for (unsigned i = 0; i < count; i++)
		fits -= parts[i].site->free / size - left_on(&parts[i]) / size;
	return fits;
}

/* What it is worth that a kind fits so many times. */
static uint64_t worth(unsigned times)
{
	return times ? 1000 + 100 * times / (times + 1) : 0;
}

/* The kinds of guests that still fit, by their worth. */
static uint64_t room_left(const struct room *room, const struct part *parts,
			  unsigned count)
{
	unsigned most = most_free(room, parts, count);
	unsigned here = fits(room, parts, count, 1);
	uint64_t sum = 0;

	for (unsigned size = 1; size <= room->largest && size <= most; size++) {
		unsigned next = fits(room, parts, count, size + 1);
		unsigned elsewhere = here - most / size;
		unsigned pairs = here / 2 < elsewhere ? here / 2 : elsewhere;
		uint64_t weight = (8U << 20) / (size * size);
		uint64_t with_emulator = most > size ? worth(pairs) : 0;

		sum += weight * (worth(here) + worth(next));
		sum += weight / 8 * (worth(pairs) + with_emulator);
		here = next;
	}
	return sum;
}

/* Parts that the host policy would rather have elsewhere: pack, on nodes where nobody is;
 * spread, where somebody is. */
static unsigned unwelcome(const struct room *room, const struct part *parts,
			  unsigned count)
{
	bool pack = room->sites->request->pack;
	unsigned sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += pack == (parts[i].site->free == parts[i].site->capacity);
	return sum;
}

uint64_t room_cost(const struct room *room, const struct part *parts, unsigned count)
{
	/* room_left() stays below LIMIT, and the CPUs of a host below 2^16. */
	const uint64_t limit = UINT64_C(1) << 38;
	uint64_t avoid = unwelcome(room, parts, count), left = 0;

	for (unsigned i = 0; i < count; i++)
		left += left_on(&parts[i]);
	if (!avoid && !room->sites->request->pack)
		return limit - left;
	return avoid << 54 | (limit - room_left(room, parts, count)) << 16 | left;
}

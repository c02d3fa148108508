/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far each edit reaches, and who has it first.
 *
 * Reach: libvirt's virDomainDefCheckABIStability, each row tried on libvirt 9.0 with save
 * and restore. A child that is added is judged by its own row: libvirt's check fails when
 * a <driver> appears where there was none, so that one is cold though its attributes may
 * change. Versions: libvirt's and QEMU's release notes.
 */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "edits/reach.h"

#define V(major, minor, release) ((major)*UINT64_C(1000000) + (minor)*1000 + (release))

static const struct reach_entry rows[] = {
	{ "metadata", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "vcpu@cpuset", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "vcpu@placement", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "iothreads", NULL, REACH_ABI_SAFE, V(1, 2, 8), 0 },
	{ "cputune/vcpupin", NULL, REACH_LIVE, 0, 0 },
	{ "cputune/emulatorpin", NULL, REACH_LIVE, 0, 0 },
	{ "cputune/iothreadpin", NULL, REACH_LIVE, V(1, 2, 9), 0 },
	{ "cputune/vcpusched", NULL, REACH_ABI_SAFE, V(1, 2, 13), 0 },
	{ "numatune/memory", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "numatune/memory@mode", "restrictive", REACH_ABI_SAFE, V(7, 3, 0), 0 },
	{ "numatune/memnode", NULL, REACH_ABI_SAFE, V(1, 2, 7), 0 },
	{ "numatune/memnode@mode", "restrictive", REACH_ABI_SAFE, V(7, 3, 0), 0 },
	{ "memoryBacking/hugepages", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "memoryBacking/hugepages/page", NULL, REACH_ABI_SAFE, V(1, 2, 5), 0 },
	{ "memoryBacking/nosharepages", NULL, REACH_ABI_SAFE, V(1, 0, 6), 0 },
	{ "memoryBacking/locked", NULL, REACH_ABI_SAFE, V(1, 0, 6), 0 },
	{ "memoryBacking/access", NULL, REACH_ABI_SAFE, V(3, 0, 0), 0 },
	{ "memoryBacking/allocation", NULL, REACH_ABI_SAFE, V(3, 0, 0), 0 },
	{ "memoryBacking/source", NULL, REACH_COLD, V(3, 0, 0), 0 },
	{ "memoryBacking/source@type", "memfd", REACH_COLD, V(4, 10, 0), V(2, 12, 0) },
	{ "cpu/numa/cell@memAccess", NULL, REACH_ABI_SAFE, V(1, 2, 9), 0 },
	{ "cpu/numa/cell/distances", NULL, REACH_COLD, V(3, 10, 0), V(2, 10, 0) },
	{ "devices/disk/alias", NULL, REACH_COLD, V(3, 9, 0), 0 },
	{ "devices/disk@type", "vhostuser", REACH_COLD, V(7, 1, 0), V(2, 12, 0) },
	{ "devices/disk@type", "volume", REACH_COLD, V(1, 0, 5), 0 },
	{ "devices/disk/target@bus", "nvme", REACH_COLD, V(11, 5, 0), 0 },
	{ "devices/disk/source@path", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "devices/disk/source/reconnect", NULL, REACH_ABI_SAFE, V(7, 1, 0), 0 },
	{ "devices/disk/driver/iothreads", NULL, REACH_COLD, V(10, 0, 0), V(9, 0, 0) },
	{ "devices/disk/driver@cache", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "devices/disk/driver@io", NULL, REACH_ABI_SAFE, V(0, 8, 8), 0 },
	{ "devices/disk/driver@io", "io_uring", REACH_ABI_SAFE, V(6, 3, 0), V(5, 0, 0) },
	{ "devices/disk/driver@discard", NULL, REACH_ABI_SAFE, V(1, 0, 6), 0 },
	{ "devices/disk/driver@detect_zeroes", NULL, REACH_ABI_SAFE, V(2, 0, 0), 0 },
	{ "devices/disk/driver@iothread", NULL, REACH_ABI_SAFE, V(1, 2, 8), 0 },
	{ "devices/disk/driver@queues", NULL, REACH_COLD, V(3, 9, 0), 0 },
	{ "devices/disk/driver@queue_size", NULL, REACH_COLD, V(7, 8, 0), 0 },
	{ "devices/interface@type", "vhostuser", REACH_COLD, V(1, 2, 7), 0 },
	{ "devices/interface/alias", NULL, REACH_COLD, V(3, 9, 0), 0 },
	{ "devices/interface/source@path", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "devices/interface/source@mode", NULL, REACH_ABI_SAFE, 0, 0 },
	{ "devices/interface/source/reconnect", NULL, REACH_ABI_SAFE, V(4, 1, 0), 0 },
	{ "devices/interface/driver@queues", NULL, REACH_COLD, V(1, 2, 17), 0 },
	{ "devices/interface/driver@rx_queue_size", NULL, REACH_ABI_SAFE, V(2, 3, 0),
	  V(2, 7, 0) },
	{ "devices/interface/driver@tx_queue_size", NULL, REACH_ABI_SAFE, V(3, 7, 0),
	  V(2, 10, 0) },
	{ "devices/interface/driver/host", NULL, REACH_COLD, V(1, 2, 13), 0 },
};

static const struct reach_entry cold = { "", NULL, REACH_COLD, 0, 0 };

/* The row of just this path; one with the value beats one without. */
static const struct reach_entry *row_of(const char *path, const char *value)
{
	const struct reach_entry *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].path, path) != 0)
			continue;
		if (rows[i].value && !text_equal(rows[i].value, value))
			continue;
		if (!found || rows[i].value)
			found = &rows[i];
	}
	return found;
}

const struct reach_entry *reach_find(const char *path, const char *value)
{
	cleanup_free char *above = xstrdup(path);
	const struct reach_entry *row = row_of(path, value);

	while (!row) {
		char *cut = strrchr(above, '@');

		if (!cut)
			cut = strrchr(above, '/');
		if (!cut)
			return &cold;
		*cut = '\0';
		row = row_of(above, NULL);
	}
	return row;
}

bool reach_listed(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].path, path) == 0)
			return true;
	return false;
}

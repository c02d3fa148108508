/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the YAML form of a host may hold. */
#include <stddef.h>

#include "host/host_fields.h"

/* In the order of enum host_device_kind. */
static const char *const kinds[] = { "other", "nic", "nvme", NULL };
static const char *const none[] = { "none", NULL };

/* Rows are set by hand: clang-format would give each designator a line. */
/* clang-format off */

#define AT(member) .offset = offsetof(struct cpus_fields, member)

static const struct field cpus_fields[] = {
	{ .key = "package", .type = SCALAR_COUNT, .max = CPUSET_MAX - 1, AT(package),
	  .example = "0",
	  .doc = "The package (socket) that they are in. Not given: 0." },
	{ .key = "l3", .type = SCALAR_COUNT, .max = CPUSET_MAX - 1, AT(l3), .example = "0",
	  .doc = "The L3 cache that they share, by a number of one's own. Not given: the "
		 "node is one domain." },
	{ .key = "cores", .type = SCALAR_TEXT, AT(cores), .required = true,
	  .example = "0-7+128-135",
	  .doc = "Their numbers, core by core: spaces or commas between cores, + between "
		 "the SMT siblings of one. \"0-3\" is four cores of one CPU, \"0+4 1+5\" "
		 "two cores of two, \"0-1+4-5\" the same two. CPUs that are offline are "
		 "left out." },
	{ .key = NULL },
};

static const struct group cpus_group = {
	.name = "cpus item",
	.size = sizeof(struct cpus_fields),
	.fields = cpus_fields,
	.doc = "CPUs of one node, package and L3 domain.",
};

#undef AT
#define AT(member) .offset = offsetof(struct pages_fields, member)

static const struct field pages_fields[] = {
	{ .key = "size", .type = SCALAR_SIZE, .min = 1, .max = UINT64_MAX - 1, AT(size),
	  .required = true, .example = "1 GiB", .doc = "The size of a page." },
	{ .key = "total", .type = SCALAR_COUNT, .max = INT64_MAX, AT(total),
	  .required = true, .example = "64", .doc = "How many there are." },
	{ .key = "free", .type = SCALAR_COUNT, .max = INT64_MAX, AT(free),
	  .example = "64", .doc = "How many of them are free. Not given: unknown." },
	{ .key = NULL },
};

static const struct group pages_group = {
	.name = "hugepages item",
	.size = sizeof(struct pages_fields),
	.fields = pages_fields,
	.doc = "Pages of one size on one node.",
};

#undef AT
#define AT(member) .offset = offsetof(struct node_fields, member)

static const struct field node_fields[] = {
	{ .key = "node", .type = SCALAR_COUNT, .max = CPUSET_MAX - 1, AT(node),
	  .required = true, .example = "0",
	  .doc = "Its number, as the kernel numbers it." },
	{ .key = "memory", .type = SCALAR_SIZE, .max = UINT64_MAX - 1, AT(memory),
	  .example = "96 GiB",
	  .doc = "Its memory, hugepages included. Not given: unknown." },
	{ .key = "free", .type = SCALAR_SIZE, .max = UINT64_MAX - 1, AT(free),
	  .example = "22 GiB",
	  .doc = "What of it a guest could have in normal pages: free memory, and page "
		 "cache. Not given: unknown." },
	{ .key = "hugepages", .shape = SHAPE_GROUPS, .group = &pages_group, AT(hugepages),
	  .doc = "Its hugepages; an empty list: there are none. Not given: unknown." },
	{ .key = "distances", .shape = SHAPE_LIST, .type = SCALAR_COUNT, .min = 10,
	  .max = 255, AT(distances), .example = "10",
	  .doc = "Its distances to all nodes, in the order of this file, as in the "
		 "firmware's SLIT. Not given: 10 to itself and 20 to others." },
	{ .key = "cpus", .shape = SHAPE_GROUPS, .group = &cpus_group, AT(cpus),
	  .doc = "Its CPUs. Not given: it is memory only." },
	{ .key = NULL },
};

static const struct group node_group = {
	.name = "nodes item",
	.size = sizeof(struct node_fields),
	.fields = node_fields,
	.doc = "A NUMA node.",
};

#undef AT
#define AT(member) .offset = offsetof(struct device_fields, member)

static const struct field device_fields[] = {
	{ .key = "pci", .type = SCALAR_TEXT, AT(pci), .required = true,
	  .example = "0000:5e:00.0", .doc = "Its address, as lspci -D prints it." },
	{ .key = "kind", .words = kinds, AT(kind), .example = "nvme",
	  .doc = "What it is. Not given: other." },
	{ .key = "node", .type = SCALAR_COUNT, .max = CPUSET_MAX - 1, AT(node),
	  .example = "0",
	  .doc = "The node that it is attached to. Not given: the firmware does not say." },
	{ .key = "names", .shape = SHAPE_LIST, .type = SCALAR_TEXT, AT(names),
	  .example = "nvme0n1", .doc = "What the kernel calls it." },
	{ .key = "mounts", .shape = SHAPE_LIST, .type = SCALAR_PATH, AT(mounts),
	  .example = "/var/lib/libvirt/images",
	  .doc = "Where the file systems on it are mounted." },
	{ .key = NULL },
};

static const struct group device_group = {
	.name = "devices item",
	.size = sizeof(struct device_fields),
	.fields = device_fields,
	.doc = "A PCI function.",
};

#undef AT
#define AT(member) .offset = offsetof(struct host_fields, member)

static const struct field host_fields[] = {
	{ .key = "machine", .type = SCALAR_NAME, AT(machine), .required = true,
	  .example = "two-socket-40", .doc = "A name for the machine." },
	{ .key = "arch", .type = SCALAR_NAME, AT(arch), .example = "x86_64",
	  .doc = "Its architecture, as libvirt calls it. Not given: unknown." },
	{ .key = "libvirt", .type = SCALAR_VERSION, AT(libvirt), .example = "9.0.0",
	  .doc = "The version of libvirt on it. Not given: unknown." },
	{ .key = "qemu", .type = SCALAR_VERSION, AT(qemu), .example = "7.2.0",
	  .doc = "The version of QEMU on it. Not given: unknown." },
	{ .key = "isolated", .type = SCALAR_CPUS, .words = none, AT(isolated),
	  .example = "1-19",
	  .doc = "The CPUs that isolcpus= keeps free of other work. Not given: unknown." },
	{ .key = "cpus", .shape = SHAPE_GROUPS, .group = &cpus_group, AT(cpus),
	  .doc = "CPUs that none of the nodes is local to." },
	{ .key = "nodes", .shape = SHAPE_GROUPS, .group = &node_group, AT(nodes),
	  .required = true, .doc = "Its NUMA nodes; where there is no NUMA, one." },
	{ .key = "devices", .shape = SHAPE_GROUPS, .group = &device_group, AT(devices),
	  .doc = "Its PCI devices; an empty list: there are none. Not given: unknown." },
	{ .key = "other_mounts", .shape = SHAPE_LIST, .type = SCALAR_PATH,
	  AT(other_mounts), .example = "/mnt/nfs",
	  .doc = "Where file systems are mounted that are on none of the devices." },
	{ .key = NULL },
};

/* clang-format on */

const struct group host_group = {
	.name = "host",
	.size = sizeof(struct host_fields),
	.fields = host_fields,
	.doc = "A machine that guests can be put on, as vmgen host prints it.",
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the YAML form of a host may hold. */
#include <stddef.h>

#include "host/host_fields.h"

/* In the order of enum host_device_kind. */
static const char *const kinds[] = { "other", "nic", "nvme", NULL };
static const char *const none[] = { "none", NULL };

static const struct group cpus_group = {
	.name = "cpus",
	.size = sizeof(struct cpus_fields),
	.doc = "CPUs of one node, package and L3 domain.",
	.fields =
		(const struct field[]){
			{ .key = "package",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct cpus_fields, package),
			  .max = CPUSET_MAX - 1,
			  .example = "0",
			  .doc = "The package (socket) they are in; not given: 0." },
			{ .key = "l3",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct cpus_fields, l3),
			  .max = CPUSET_MAX - 1,
			  .example = "0",
			  .doc = "The L3 cache they share, by a number of one's own; not "
				 "given: "
				 "the node is one domain." },
			{ .key = "cores",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_TEXT,
			  .offset = offsetof(struct cpus_fields, cores),
			  .required = true,
			  .example = "0-7+128-135",
			  .doc = "The online CPUs by cores, with spaces or commas "
				 "between cores "
				 "and + between the SMT siblings of one: \"0-3\" is four "
				 "cores of "
				 "one CPU, \"0+4 1+5\" two cores of two, \"0-1+4-5\" the "
				 "same two." },
			{ .key = NULL },
		},
};

static const struct group pages_group = {
	.name = "pool of hugepages",
	.size = sizeof(struct pages_fields),
	.doc = "Pages of one size on one node.",
	.fields =
		(const struct field[]){
			{ .key = "size",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_SIZE,
			  .offset = offsetof(struct pages_fields, size),
			  .required = true,
			  .min = 1,
			  .max = UINT64_MAX - 1,
			  .example = "1 GiB",
			  .doc = "The size of a page." },
			{ .key = "total",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct pages_fields, total),
			  .required = true,
			  .max = UINT64_MAX - 1,
			  .example = "64",
			  .doc = "How many there are." },
			{ .key = "free",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct pages_fields, free),
			  .max = UINT64_MAX - 1,
			  .example = "64",
			  .doc = "How many of them are free; not given: unknown." },
			{ .key = NULL },
		},
};

static const struct group node_group = {
	.name = "node",
	.size = sizeof(struct node_fields),
	.doc = "A NUMA node.",
	.fields =
		(const struct field[]){
			{ .key = "node",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct node_fields, node),
			  .required = true,
			  .max = CPUSET_MAX - 1,
			  .example = "0",
			  .doc = "Its number, as the kernel numbers it." },
			{ .key = "memory",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_SIZE,
			  .offset = offsetof(struct node_fields, memory),
			  .max = UINT64_MAX - 1,
			  .example = "96 GiB",
			  .doc = "Its memory, hugepages included; not given: unknown." },
			{ .key = "free",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_SIZE,
			  .offset = offsetof(struct node_fields, free),
			  .max = UINT64_MAX - 1,
			  .example = "20 GiB",
			  .doc = "What of it is free; not given: unknown." },
			{ .key = "hugepages",
			  .shape = SHAPE_GROUPS,
			  .group = &pages_group,
			  .offset = offsetof(struct node_fields, hugepages),
			  .doc = "Its hugepages; an empty list: there are none; not "
				 "given: "
				 "unknown." },
			{ .key = "distances",
			  .shape = SHAPE_LIST,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct node_fields, distances),
			  .min = 10,
			  .max = 255,
			  .example = "[10, 21]",
			  .doc = "Distances to all nodes, in the order of this file, as "
				 "in the "
				 "firmware's SLIT; not given: 10 to itself, 20 to "
				 "others." },
			{ .key = "cpus",
			  .shape = SHAPE_GROUPS,
			  .group = &cpus_group,
			  .offset = offsetof(struct node_fields, cpus),
			  .doc = "Its CPUs; not given: a node of memory only." },
			{ .key = NULL },
		},
};

static const struct group device_group = {
	.name = "device",
	.size = sizeof(struct device_fields),
	.doc = "A PCI function.",
	.fields =
		(const struct field[]){
			{ .key = "pci",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_TEXT,
			  .offset = offsetof(struct device_fields, pci),
			  .required = true,
			  .example = "0000:5e:00.0",
			  .doc = "Its address, as lspci -D prints it." },
			{ .key = "kind",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_NONE,
			  .offset = offsetof(struct device_fields, kind),
			  .words = kinds,
			  .example = "nvme",
			  .doc = "What it is; not given: other." },
			{ .key = "names",
			  .shape = SHAPE_LIST,
			  .type = SCALAR_TEXT,
			  .offset = offsetof(struct device_fields, names),
			  .example = "[nvme0n1]",
			  .doc = "What the kernel calls it." },
			{ .key = "mounts",
			  .shape = SHAPE_LIST,
			  .type = SCALAR_PATH,
			  .offset = offsetof(struct device_fields, mounts),
			  .example = "[/var/lib/libvirt/images]",
			  .doc = "Where the file systems on it are mounted." },
			{ .key = "node",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_COUNT,
			  .offset = offsetof(struct device_fields, node),
			  .max = CPUSET_MAX - 1,
			  .example = "0",
			  .doc = "The node it is attached to; not given: the firmware "
				 "does not "
				 "say." },
			{ .key = NULL },
		},
};

const struct group host_group = {
	.name = "host",
	.size = sizeof(struct host_fields),
	.doc = "A machine that guests can be put on, as vmgen host prints it.",
	.fields =
		(const struct field[]){
			{ .key = "machine",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_NAME,
			  .offset = offsetof(struct host_fields, machine),
			  .required = true,
			  .example = "two-socket-40",
			  .doc = "A name for the machine." },
			{ .key = "arch",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_NAME,
			  .offset = offsetof(struct host_fields, arch),
			  .example = "x86_64",
			  .doc = "Its architecture, as libvirt calls it." },
			{ .key = "libvirt",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_VERSION,
			  .offset = offsetof(struct host_fields, libvirt),
			  .example = "9.0.0",
			  .doc = "The version of libvirt on it." },
			{ .key = "qemu",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_VERSION,
			  .offset = offsetof(struct host_fields, qemu),
			  .example = "7.2.0",
			  .doc = "The version of QEMU on it." },
			{ .key = "isolated",
			  .shape = SHAPE_SCALAR,
			  .type = SCALAR_CPUS,
			  .offset = offsetof(struct host_fields, isolated),
			  .words = none,
			  .example = "1-19",
			  .doc = "The CPUs that isolcpus= keeps free of other work; not "
				 "given: "
				 "unknown." },
			{ .key = "cpus",
			  .shape = SHAPE_GROUPS,
			  .group = &cpus_group,
			  .offset = offsetof(struct host_fields, cpus),
			  .doc = "CPUs that none of the nodes is local to." },
			{ .key = "nodes",
			  .shape = SHAPE_GROUPS,
			  .group = &node_group,
			  .offset = offsetof(struct host_fields, nodes),
			  .required = true,
			  .doc = "Its NUMA nodes; where there is no NUMA, one." },
			{ .key = "devices",
			  .shape = SHAPE_GROUPS,
			  .group = &device_group,
			  .offset = offsetof(struct host_fields, devices),
			  .doc = "Its PCI devices; not given: unknown." },
			{ .key = "other_mounts",
			  .shape = SHAPE_LIST,
			  .type = SCALAR_PATH,
			  .offset = offsetof(struct host_fields, other_mounts),
			  .example = "[/mnt/nfs]",
			  .doc = "Where file systems are mounted that are on none of the "
				 "devices." },
			{ .key = NULL },
		},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the YAML form of a host may hold, as a table: for its reader, schema and manual.
 */
#ifndef VMGEN_HOST_FIELDS_H
#define VMGEN_HOST_FIELDS_H

#include "policy/fields.h"

struct cpus_fields {
	struct place place;
	struct value package, l3, cores;
};

struct pages_fields {
	struct place place;
	struct value size, total, free;
};

struct node_fields {
	struct place place;
	struct value node, memory, free;
	struct groups hugepages; /* struct pages_fields */
	struct values distances;
	struct groups cpus; /* struct cpus_fields */
};

struct device_fields {
	struct place place;
	struct value pci, kind, node;
	struct values names, mounts;
};

struct host_fields {
	struct place place;
	struct value machine, arch, libvirt, qemu, isolated;
	struct groups cpus;    /* struct cpus_fields */
	struct groups nodes;   /* struct node_fields */
	struct groups devices; /* struct device_fields */
	struct values other_mounts;
};

extern const struct group host_group; /* struct host_fields */

#endif

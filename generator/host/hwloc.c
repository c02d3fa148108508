/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hosts through hwloc: its XML, its synthetic strings, and this machine. */
#include <errno.h>
#include <hwloc.h>
#include <string.h>

#include "base/text.h"
#include "host/apart.h"
#include "host/hwloc_input.h"
#include "host/reader.h"

enum { HWLOC_3 = 0x30000 };

struct reader {
	hwloc_topology_t topology;
	struct host *host;
	struct place place;
	bool os_devices_are_bits; /* as in hwloc 3's XML */
	bool memory_known;
	bool pages_known;
	bool live;
	struct diag *diag;
};

/* hwloc otherwise explains itself on stderr, and wakes every GPU that it has a plugin
 * for.
 */
static hwloc_topology_t new_topology(void)
{
	static const char *const plugins[] = { "cuda", "nvml",	    "opencl",
					       "rsmi", "levelzero", "gl" };
	hwloc_topology_t topology;

	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	if (hwloc_topology_init(&topology))
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		hwloc_topology_set_components(
			topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugins[i]);
	hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	hwloc_topology_set_type_filter(topology, HWLOC_OBJ_BRIDGE,
				       HWLOC_TYPE_FILTER_KEEP_NONE);
	return topology;
}

/*
 * The kernel's node of a CPU: of those that are local to it the one with the lowest
 * number. Memory-only nodes (HBM, CXL, NVM) with the same locality come later.
 */
static int node_of(hwloc_topology_t topology, unsigned cpu)
{
	hwloc_obj_t node = NULL;
	int lowest = HOST_NO_NODE;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_isset(node->cpuset, cpu) &&
		    (lowest == HOST_NO_NODE || (int)node->os_index < lowest))
			lowest = (int)node->os_index;
	return lowest;
}

static unsigned ancestor(const struct reader *reader, hwloc_obj_t pu,
			 hwloc_obj_type_t type)
{
	hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(reader->topology, type, pu);

	return object ? object->logical_index : HOST_NO_LABEL;
}

static bool add_cpus(struct reader *reader)
{
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_PU, pu))) {
		const struct host_cpu cpu = {
			.number = pu->os_index,
			.core = ancestor(reader, pu, HWLOC_OBJ_CORE),
			.l3 = ancestor(reader, pu, HWLOC_OBJ_L3CACHE),
			.package = ancestor(reader, pu, HWLOC_OBJ_PACKAGE),
			.node = node_of(reader->topology, pu->os_index),
		};
		if (!host_add_cpu(reader->host, cpu, reader->place, reader->diag))
			return false;
	}
	return true;
}

/* The smallest size is that of normal pages; a list of only those tells nothing. */
static bool add_pages(const struct reader *reader, struct host_node *node,
		      const struct hwloc_numanode_attr_s *memory)
{
	uint64_t normal = UINT64_MAX;

	for (unsigned i = 0; i < memory->page_types_len; i++)
		if (memory->page_types[i].size < normal)
			normal = memory->page_types[i].size;
	for (unsigned i = 0; i < memory->page_types_len; i++) {
		if (memory->page_types[i].size == normal)
			continue;
		*append(node->pages, node->n_pages) = (struct host_pages){
			.size = memory->page_types[i].size,
			.total = memory->page_types[i].count,
			.free = HOST_UNKNOWN,
		};
		if (!host_check_pages(node, reader->place, reader->diag))
			return false;
	}
	node->pages_known = node->n_pages > 0;
	return true;
}

static bool add_nodes(struct reader *reader)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_NUMANODE,
						    object))) {
		struct host_node *node = host_add_node(reader->host, object->os_index,
						       reader->place, reader->diag);

		if (!node)
			return false;
		if (reader->memory_known)
			node->memory = object->attr->numanode.local_memory;
		if (reader->pages_known &&
		    !add_pages(reader, node, &object->attr->numanode))
			return false;
	}
	return true;
}

/* A node without memory is written like one whose memory is not told; some node with
 * memory shows that it is told. */
static bool tells_memory(hwloc_topology_t topology)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
		if (node->attr->numanode.local_memory)
			return true;
	return false;
}

/* In a SLIT distances are bytes, from 10. */
static bool is_slit(const struct hwloc_distances_s *matrix, size_t nodes)
{
	if (matrix->nbobjs != nodes)
		return false;
	for (size_t i = 0; i < nodes; i++)
		if (!matrix->objs[i])
			return false;
	for (size_t i = 0; i < nodes * nodes; i++)
		if (matrix->values[i] < 10 || matrix->values[i] > 255)
			return false;
	return true;
}

/* The matrix's objects are in no particular order. */
static void copy_distances(struct host *host, const struct hwloc_distances_s *matrix)
{
	size_t count = host->n_nodes;
	cleanup_free size_t *index = xcalloc(count, sizeof(*index));

	for (size_t i = 0; i < count; i++) {
		const struct host_node *node = host_node(host, matrix->objs[i]->os_index);

		if (!node)
			return;
		index[i] = (size_t)(node - host->nodes);
	}
	for (size_t i = 0; i < count; i++)
		if (!host->nodes[i].distances)
			host->nodes[i].distances = xcalloc(count, sizeof(unsigned));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			host->nodes[index[i]].distances[index[j]] =
				(unsigned)matrix->values[i * count + j];
}

static void add_distances(struct reader *reader)
{
	struct hwloc_distances_s *matrices[8];
	unsigned count = ARRAY_SIZE(matrices);

	if (hwloc_distances_get_by_type(reader->topology, HWLOC_OBJ_NUMANODE, &count,
					matrices, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0))
		return;
	for (unsigned i = 0; i < count && i < ARRAY_SIZE(matrices); i++) {
		if (!reader->host->nodes[0].distances &&
		    is_slit(matrices[i], reader->host->n_nodes))
			copy_distances(reader->host, matrices[i]);
		hwloc_distances_release(reader->topology, matrices[i]);
	}
}

/* The one node of the CPUs that the device is attached to, if it is one. */
static int device_node(const struct reader *reader, hwloc_obj_t device)
{
	hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(reader->topology, device);
	int node = HOST_NO_NODE;

	for (size_t i = 0; near && i < reader->host->n_cpus; i++) {
		const struct host_cpu *cpu = &reader->host->cpus[i];

		if (!hwloc_bitmap_isset(near->cpuset, cpu->number))
			continue;
		if (node != HOST_NO_NODE && node != cpu->node)
			return HOST_NO_NODE;
		node = cpu->node;
	}
	return node;
}

/* PCI base class 02 is network, class 0108 non-volatile memory. */
static enum host_device_kind device_kind(unsigned class_id)
{
	if (class_id >> 8 == 0x02)
		return HOST_DEVICE_NIC;
	return class_id == 0x0108 ? HOST_DEVICE_NVME : HOST_DEVICE_OTHER;
}

static bool is_network(const struct reader *reader, unsigned type)
{
	enum { NETWORK = 16, OPENFABRICS = 32 };

	if (reader->os_devices_are_bits)
		return type & (NETWORK | OPENFABRICS);
	return type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

static bool is_storage(const struct reader *reader, unsigned type)
{
	enum { STORAGE = 1 };

	return reader->os_devices_are_bits ? type & STORAGE
					   : type == HWLOC_OBJ_OSDEV_BLOCK;
}

/* Names that the kernel gives, not those of CUDA and its kin. What has a network
 * interface is a NIC, also by an InfiniBand class. */
static void add_name(const struct reader *reader, hwloc_obj_t named,
		     struct host_device *device)
{
	unsigned type = (unsigned)named->attr->osdev.type;
	bool network = is_network(reader, type);

	if (network)
		device->kind = HOST_DEVICE_NIC;
	if (named->name && (network || is_storage(reader, type)))
		host_add_text(&device->names, &device->n_names, named->name);
}

static void add_names(struct reader *reader)
{
	hwloc_obj_t named = NULL;

	while ((named = hwloc_get_next_osdev(reader->topology, named))) {
		hwloc_obj_t pci = named->parent;

		while (pci && pci->type == HWLOC_OBJ_OS_DEVICE)
			pci = pci->parent;
		if (pci && pci->type == HWLOC_OBJ_PCI_DEVICE)
			add_name(reader, named,
				 &reader->host->devices[pci->logical_index]);
	}
}

/* Devices are added in hwloc's logical order, which add_names() relies on. */
static bool add_devices(struct reader *reader)
{
	struct host *host = reader->host;
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_pcidev(reader->topology, object))) {
		const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;

		if (host->n_devices == HOST_DEVICES_MAX) {
			diag_error(reader->diag, reader->place, NULL,
				   "there are more than %d PCI devices",
				   HOST_DEVICES_MAX);
			return false;
		}
		struct host_device *device = append(host->devices, host->n_devices);
		device->pci = xasprintf("%04x:%02x:%02x.%x", (unsigned)pci->domain,
					(unsigned)pci->bus, (unsigned)pci->dev,
					(unsigned)pci->func);
		device->kind = device_kind(pci->class_id);
		device->node = device_node(reader, object);
	}
	add_names(reader);
	return true;
}

static void reader_done(struct reader *reader)
{
	hwloc_topology_destroy(reader->topology);
	host_free(reader->host);
}

#define cleanup_reader cleanup(reader_done)

/* The host in the loaded topology, not settled. */
static struct host *read_topology(struct reader *reader, const char *origin)
{
	reader->host = host_new(origin);
	if (!add_nodes(reader) || !add_cpus(reader))
		return NULL;
	add_distances(reader);
	if (!add_devices(reader))
		return NULL;
	/* XML without any device may have been written without looking for some. */
	reader->host->devices_known = reader->live || reader->host->n_devices;
	return take(reader->host);
}

static struct host *settled(struct reader *reader, const char *origin)
{
	cleanup_host struct host *host = read_topology(reader, origin);

	if (!host || !host_settle(host, reader->place, reader->diag))
		return NULL;
	return take(host);
}

/* A host's XML that is to be read in a process apart. */
struct xml_work {
	const char *file;
	const struct hwloc_input *input;
};

static struct host *load_xml(const struct xml_work *work, struct diag *diag)
{
	const struct hwloc_input *input = work->input;
	cleanup_reader struct reader reader = {
		.topology = new_topology(),
		.place = { .file = work->file },
		.os_devices_are_bits = input->bits,
		.pages_known = true,
		.diag = diag,
	};

	if (hwloc_topology_set_xmlbuffer(reader.topology, input->text,
					 (int)strlen(input->text) + 1) ||
	    hwloc_topology_load(reader.topology)) {
		diag_error(diag, reader.place, NULL,
			   "hwloc refuses this topology (version %s): %s; write it anew "
			   "with lstopo --of xml",
			   input->version ? input->version : "1", strerror(errno));
		return NULL;
	}
	reader.memory_known = tells_memory(reader.topology);
	return settled(&reader, work->file);
}

/* The host, or the sentence that says why not. */
static bool print_xml(void *data, FILE *out)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = load_xml(data, &diag);

	if (host)
		host_print(host, out);
	else
		fputs(diag.count ? diag.findings[0].text : "", out);
	return host != NULL;
}

/* hwloc trusts what stands in XML: a mask that is missing makes it crash. */
struct host *host_from_hwloc_xml(const char *file, const char *text, size_t length,
				 struct diag *diag)
{
	cleanup_hwloc_input struct hwloc_input input = { .text = NULL };
	struct xml_work work = { file, &input };
	cleanup_free char *printed = NULL;

	if (!hwloc_input_xml(file, text, length, hwloc_get_api_version() >= HWLOC_3,
			     &input, diag))
		return NULL;
	if (!apart(print_xml, &work, &printed)) {
		diag_error(diag, (struct place){ .file = file }, NULL, "%s",
			   printed ? printed
				   : "hwloc does not come to an end with this topology; "
				     "write it anew with lstopo --of xml");
		return NULL;
	}
	struct host *host = host_from_yaml(file, printed, strlen(printed), diag);
	if (host)
		host->arch = take(input.arch);
	return host;
}

struct host *host_from_synthetic(const char *description, struct diag *diag)
{
	cleanup_reader struct reader reader = {
		.topology = new_topology(),
		.place = NOWHERE,
		/* hwloc invents 1 GiB a node where the string tells none. */
		.memory_known = strstr(description, "memory=") != NULL,
		.diag = diag,
	};

	if (!hwloc_input_synthetic(description, diag))
		return NULL;
	if (hwloc_topology_set_synthetic(reader.topology, description) ||
	    hwloc_topology_load(reader.topology)) {
		diag_error(diag, reader.place, NULL,
			   "'%s' is neither a file nor a synthetic topology such as "
			   "\"package:2 numa:1 l3:1 core:20 pu:2\"",
			   description);
		return NULL;
	}
	return settled(&reader, "synthetic");
}

/*
 * All CPUs that are online, also those that this process must not use: a slice that keeps
 * daemons away from the guests' CPUs says nothing about the guests.
 */
struct host *host_from_machine(struct diag *diag)
{
	cleanup_reader struct reader reader = {
		.topology = new_topology(),
		.place = NOWHERE,
		.pages_known = true,
		.live = true,
		.diag = diag,
	};

	hwloc_topology_set_flags(reader.topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_load(reader.topology)) {
		diag_error(diag, reader.place, NULL, "hwloc cannot read this machine: %s",
			   strerror(errno));
		return NULL;
	}
	reader.memory_known = tells_memory(reader.topology);
	return read_topology(&reader, "this machine");
}

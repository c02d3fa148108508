/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hosts from libvirt's capabilities XML (virsh capabilities). */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "host/reader.h"
#include "host/xml.h"

struct reader {
	const char *file;
	struct host *host;
	unsigned *l3;	     /* of each CPU number */
	bool siblings_known; /* some CPU tells its siblings; then offline ones do not */
	struct diag *diag;
};

static void reader_done(struct reader *reader)
{
	free(reader->l3);
	host_free(reader->host);
}

#define cleanup_reader cleanup(reader_done)

static bool fail(const struct reader *reader, const xmlNode *element, const char *what,
		 const char *value)
{
	diag_error(reader->diag, host_xml_place(reader->file, element), NULL,
		   "<%s>: %s '%s'", (const char *)element->name, what,
		   value ? value : "");
	return false;
}

/* Attribute NAME, or the element's text if NAME is NULL, as a number. */
static bool number(const struct reader *reader, const xmlNode *element, const char *name,
		   unsigned long long *ret_number)
{
	xmlChar *content = name ? NULL : xmlNodeGetContent(element);
	cleanup_free char *value = name ? host_xml_attribute(element, name)
					: xstrdup(content ? (const char *)content : "");

	xmlFree(content);
	if (value && text_number(value, ret_number))
		return true;
	return fail(reader, element, name ? name : "not a whole number:", value);
}

/* A CPU list in attribute NAME. */
static bool cpus(const struct reader *reader, const xmlNode *element, const char *name,
		 struct cpuset *ret_set)
{
	cleanup_free char *value = host_xml_attribute(element, name);
	const char *error = "no list of CPUs in";

	if (value && cpuset_parse(value, ret_set, &error, NULL))
		return true;
	return fail(reader, element, error, value ? value : name);
}

static bool size(const struct reader *reader, const xmlNode *element, const char *name,
		 uint64_t *ret_bytes)
{
	cleanup_free char *unit = host_xml_attribute(element, "unit");
	unsigned long long count = 0;

	if (!number(reader, element, name, &count))
		return false;
	return size_scale(count, unit, ret_bytes) ||
	       fail(reader, element, "the size is too large, or unknown the unit", unit);
}

/* The smallest size is that of normal pages. */
static bool normal_size(const struct reader *reader, const xmlNode *cell,
			uint64_t *ret_normal)
{
	*ret_normal = UINT64_MAX;
	host_xml_foreach(element, cell, "pages")
	{
		uint64_t bytes;

		if (!size(reader, element, "size", &bytes))
			return false;
		if (bytes < *ret_normal)
			*ret_normal = bytes;
	}
	return true;
}

static bool add_pages(const struct reader *reader, const xmlNode *cell,
		      struct host_node *node)
{
	uint64_t normal;

	if (!normal_size(reader, cell, &normal))
		return false;
	host_xml_foreach(element, cell, "pages")
	{
		struct host_pages pages = { .free = HOST_UNKNOWN };
		unsigned long long total = 0;

		node->pages_known = true;
		if (!size(reader, element, "size", &pages.size) ||
		    !number(reader, element, NULL, &total))
			return false;
		if (pages.size == normal)
			continue;
		pages.total = total;
		*append(node->pages, node->n_pages) = pages;
		if (!host_check_pages(node, host_xml_place(reader->file, element),
				      reader->diag))
			return false;
	}
	return true;
}

/* A CPU that is offline has a number and nothing else. */
static bool add_cpu(struct reader *reader, const xmlNode *element, unsigned node)
{
	unsigned long long id = 0, socket = 0;
	struct cpuset siblings = CPUSET_INIT;

	if (!number(reader, element, "id", &id))
		return false;
	if (id >= CPUSET_MAX)
		return fail(reader, element, "beyond what libvirt takes: id",
			    "16384 and up");
	bool online = xmlHasProp(element, (const xmlChar *)"siblings") != NULL;
	if (!online && reader->siblings_known)
		return true;
	if (online && (!cpus(reader, element, "siblings", &siblings) ||
		       !number(reader, element, "socket_id", &socket)))
		return false;
	cpuset_set(&siblings, (unsigned)id);
	const struct host_cpu cpu = {
		.number = (unsigned)id,
		.core = cpuset_next(&siblings, 0),
		.l3 = reader->l3[id],
		.package = (unsigned)socket,
		.node = (int)node,
	};
	return host_add_cpu(reader->host, cpu, host_xml_place(reader->file, element),
			    reader->diag);
}

static bool add_cell(struct reader *reader, const xmlNode *cell)
{
	const xmlNode *memory = host_xml_child(cell, "memory");
	unsigned long long id;

	if (!number(reader, cell, "id", &id))
		return false;
	struct host_node *node = host_add_node(
		reader->host, id, host_xml_place(reader->file, cell), reader->diag);
	if (!node)
		return false;
	if (memory && !size(reader, memory, NULL, &node->memory))
		return false;
	if (!add_pages(reader, cell, node))
		return false;
	host_xml_foreach(element, host_xml_child(cell, "cpus"), "cpu")
	{
		if (!add_cpu(reader, element, (unsigned)id))
			return false;
	}
	return true;
}

/* All of a cell's distances or none. */
static bool add_distances(struct reader *reader, const xmlNode *cell,
			  struct host_node *node)
{
	const struct host *host = reader->host;
	cleanup_free unsigned *row = xcalloc(host->n_nodes, sizeof(*row));
	size_t found = 0;

	host_xml_foreach(sibling, host_xml_child(cell, "distances"), "sibling")
	{
		unsigned long long id, value;

		if (!number(reader, sibling, "id", &id) ||
		    !number(reader, sibling, "value", &value))
			return false;
		const struct host_node *to = id < CPUSET_MAX
						     ? host_node(host, (unsigned)id)
						     : NULL;
		if (!to || value < 10 || value > 255)
			continue;
		found += row[to - host->nodes] == 0;
		row[to - host->nodes] = (unsigned)value;
	}
	if (found == host->n_nodes)
		node->distances = take(row);
	return true;
}

static bool add_banks(struct reader *reader, const xmlNode *host)
{
	unsigned banks = 0;

	host_xml_foreach(bank, host_xml_child(host, "cache"), "bank")
	{
		unsigned long long level;
		struct cpuset set;

		if (!number(reader, bank, "level", &level))
			return false;
		if (level != 3)
			continue;
		if (!cpus(reader, bank, "cpus", &set))
			return false;
		cpuset_foreach (cpu, &set) {
			if (reader->l3[cpu] == HOST_NO_LABEL)
				reader->l3[cpu] = banks;
		}
		banks++;
	}
	return true;
}

static bool tells_siblings(const xmlNode *cells)
{
	host_xml_foreach(cell, cells, "cell")
	{
		host_xml_foreach(cpu, host_xml_child(cell, "cpus"), "cpu")
		{
			if (xmlHasProp(cpu, (const xmlChar *)"siblings"))
				return true;
		}
	}
	return false;
}

static bool read_host(struct reader *reader, const xmlNode *root)
{
	const xmlNode *host = host_xml_child(root, "host");
	const xmlNode *cells = host_xml_child(host_xml_child(host, "topology"), "cells");
	const xmlNode *arch = host_xml_child(host_xml_child(host, "cpu"), "arch");
	size_t i = 0;

	if (!host_xml_child(cells, "cell")) {
		diag_error(reader->diag, host_xml_place(reader->file, root), NULL,
			   "these capabilities tell no topology, so no guest can be "
			   "placed by them; take those of a qemu driver");
		return false;
	}
	if (arch && arch->children && arch->children->content)
		reader->host->arch = host_name_from((char *)arch->children->content);
	reader->siblings_known = tells_siblings(cells);
	if (!add_banks(reader, host))
		return false;
	host_xml_foreach(cell, cells, "cell")
	{
		if (!add_cell(reader, cell))
			return false;
	}
	host_xml_foreach(cell, cells, "cell")
	{
		if (!add_distances(reader, cell, &reader->host->nodes[i++]))
			return false;
	}
	return host_settle(reader->host, host_xml_place(reader->file, root),
			   reader->diag);
}

struct host *host_from_capabilities(const char *file, const char *text, size_t length,
				    struct diag *diag)
{
	cleanup_reader struct reader reader = { .file = file, .diag = diag };
	xmlDoc *doc = host_xml_parse(file, text, length, "capabilities", diag);

	if (!doc)
		return NULL;
	reader.host = host_new(file);
	reader.l3 = xcalloc(CPUSET_MAX, sizeof(*reader.l3));
	memset(reader.l3, 0xff, CPUSET_MAX * sizeof(*reader.l3)); /* HOST_NO_LABEL */
	bool done = read_host(&reader, xmlDocGetRootElement(doc));
	xmlFreeDoc(doc);
	return done ? take(reader.host) : NULL;
}

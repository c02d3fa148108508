/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The YAML form of a host, read through its table of fields. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "host/host_fields.h"
#include "host/reader.h"

struct reader {
	struct host *host;
	unsigned cores; /* read so far */
	struct diag *diag;
};

static void reader_done(struct reader *reader)
{
	host_free(reader->host);
}

#define cleanup_reader cleanup(reader_done)

/* CPUs FIRST to FIRST + LENGTH - 1, one of each of LENGTH cores. */
struct run {
	unsigned first, length;
};

/* Beyond what any machine has, and far from overflow. */
enum { NUMBER_MAX = 1000000 };

/* A number at *AT, which is moved behind it. */
static bool read_number(const char **at, unsigned *ret_number)
{
	const char *start = *at;
	unsigned number = 0;

	while (**at >= '0' && **at <= '9' && number < NUMBER_MAX)
		number = number * 10 + (unsigned)(*(*at)++ - '0');
	*ret_number = number;
	return *at > start && number < NUMBER_MAX;
}

static bool read_run(const char **at, struct run *ret_run)
{
	unsigned last;

	if (!read_number(at, &ret_run->first))
		return false;
	last = ret_run->first;
	if (**at == '-') {
		++*at;
		if (!read_number(at, &last) || last < ret_run->first)
			return false;
	}
	ret_run->length = last - ret_run->first + 1;
	return true;
}

static bool bad_cores(struct reader *reader, const struct cpus_fields *fields,
		      const char *at)
{
	cleanup_free char *rest = xstrndup(at, strcspn(at, " ,"));

	diag_error(
		reader->diag, fields->cores.place, NULL,
		"cores: \"%s\" is no list of cores%s; write \"0-3\" for four cores of "
		"one CPU, \"0+4 1+5\" or \"0-1+4-5\" for two cores of two SMT siblings",
		*rest ? rest : fields->cores.text, *rest ? "" : " to its end");
	return false;
}

/* Siblings of the RUN's cores: the CPUs of one more run of the same length. */
static bool add_run(struct reader *reader, const struct cpus_fields *fields, int node,
		    struct run run)
{
	for (unsigned i = 0; i < run.length; i++) {
		const struct host_cpu cpu = {
			.number = run.first + i,
			.core = reader->cores + i,
			.l3 = given(&fields->l3) ? (unsigned)fields->l3.number
						 : HOST_NO_LABEL,
			.package = (unsigned)fields->package.number,
			.node = node,
		};
		if (!host_add_cpu(reader->host, cpu, fields->cores.place, reader->diag))
			return false;
	}
	return true;
}

/* Moves *AT over SIGN and the spaces around it, if it is there. */
static bool skip_sign(const char **at, char sign)
{
	const char *here = *at + strspn(*at, " ");

	if (*here != sign)
		return false;
	*at = here + 1 + strspn(here + 1, " ");
	return true;
}

static bool skip_separator(const char **at)
{
	if (skip_sign(at, ','))
		return true;
	size_t spaces = strspn(*at, " ");
	*at += spaces;
	return spaces > 0;
}

/* "0-7+128-135" at *AT, which is moved behind it. */
static bool read_cores(struct reader *reader, const struct cpus_fields *fields, int node,
		       const char **at)
{
	const char *start = *at;
	struct run run;
	unsigned length = 0;

	do {
		if (!read_run(at, &run))
			return bad_cores(reader, fields, start);
		if (length && length != run.length) {
			diag_error(reader->diag, fields->cores.place, NULL,
				   "cores: %u CPUs from %u on cannot be the siblings of "
				   "%u cores; there is one for each",
				   run.length, run.first, length);
			return false;
		}
		length = run.length;
		if (!add_run(reader, fields, node, run))
			return false;
	} while (skip_sign(at, '+'));
	reader->cores += length;
	return true;
}

static bool read_list(struct reader *reader, const struct cpus_fields *fields, int node)
{
	const char *at = fields->cores.text;

	for (;;) {
		if (!read_cores(reader, fields, node, &at))
			return false;
		if (!*at)
			return true;
		if (!skip_separator(&at))
			return bad_cores(reader, fields, at);
	}
}

static bool read_cpus(struct reader *reader, const struct groups *groups, int node)
{
	const struct cpus_fields *fields = groups->items;
	bool good = true;

	for (size_t i = 0; i < groups->count; i++)
		good &= read_list(reader, &fields[i], node);
	return good;
}

static uint64_t number_or_unknown(const struct value *value)
{
	return given(value) ? value->number : HOST_UNKNOWN;
}

static bool read_pages(struct reader *reader, const struct groups *groups,
		       struct host_node *node)
{
	const struct pages_fields *fields = groups->items;
	bool good = true;

	node->pages_known = groups->place.line != 0;
	for (size_t i = 0; i < groups->count; i++) {
		struct host_pages *pages = append(node->pages, node->n_pages);

		pages->size = fields[i].size.number;
		pages->total = fields[i].total.number;
		pages->free = number_or_unknown(&fields[i].free);
		good &= host_check_pages(node, fields[i].place, reader->diag);
	}
	return good;
}

/* ROW is as long as there are nodes, or the nodes are wrong already. */
static bool read_distances(struct reader *reader, const struct values *row, size_t nodes,
			   struct host_node *node)
{
	if (!row->place.line)
		return true;
	if (row->count != nodes) {
		diag_error(
			reader->diag, row->place, NULL,
			"node %u has %zu distances; one to each of %zu nodes is wanted",
			node->number, row->count, nodes);
		return false;
	}
	node->distances = xcalloc(nodes, sizeof(*node->distances));
	for (size_t i = 0; i < nodes; i++)
		node->distances[i] = (unsigned)row->items[i].number;
	return true;
}

static bool read_node(struct reader *reader, const struct node_fields *fields,
		      size_t nodes)
{
	struct host_node *node = host_add_node(reader->host, fields->node.number,
					       fields->node.place, reader->diag);
	bool good;

	if (!node)
		return false;
	node->memory = number_or_unknown(&fields->memory);
	node->free = number_or_unknown(&fields->free);
	good = read_pages(reader, &fields->hugepages, node);
	good &= read_distances(reader, &fields->distances, nodes, node);
	if (given(&fields->free) && given(&fields->memory) && node->free > node->memory) {
		diag_error(reader->diag, fields->free.place, NULL,
			   "node %u has %s free of %s", node->number, fields->free.text,
			   fields->memory.text);
		good = false;
	}
	return read_cpus(reader, &fields->cpus, (int)node->number) && good;
}

/* "0000:5e:00.0", in small letters as the kernel writes it. */
static bool is_pci(const char *text)
{
	static const char hex[] = "0123456789abcdef";
	size_t domain = strspn(text, hex);
	const char *bus = text + domain;

	return domain >= 4 && domain <= 8 && *bus == ':' && strspn(bus + 1, hex) == 2 &&
	       bus[3] == ':' && strspn(bus + 4, hex) == 2 && bus[6] == '.' &&
	       bus[7] >= '0' && bus[7] <= '7' && !bus[8];
}

static void copy_texts(const struct values *values, char ***ret_items, size_t *ret_count)
{
	for (size_t i = 0; i < values->count; i++)
		*append(*ret_items, *ret_count) = xstrdup(values->items[i].text);
}

static bool read_device(struct reader *reader, const struct device_fields *fields)
{
	struct host *host = reader->host;

	if (!is_pci(fields->pci.text)) {
		diag_error(
			reader->diag, fields->pci.place, NULL,
			"pci: \"%s\" is no PCI address; write it as in \"0000:5e:00.0\"",
			fields->pci.text);
		return false;
	}
	if (given(&fields->node) && !host_node(host, (unsigned)fields->node.number)) {
		diag_error(reader->diag, fields->node.place, NULL,
			   "device %s is on node %s, which is not described",
			   fields->pci.text, fields->node.text);
		return false;
	}
	struct host_device *device = append(host->devices, host->n_devices);
	device->pci = xstrdup(fields->pci.text);
	device->kind = given(&fields->kind) ? (enum host_device_kind)fields->kind.word
					    : HOST_DEVICE_OTHER;
	device->node = given(&fields->node) ? (int)fields->node.number : HOST_NO_NODE;
	copy_texts(&fields->names, &device->names, &device->n_names);
	copy_texts(&fields->mounts, &device->mounts, &device->n_mounts);
	return true;
}

static bool read_host(struct reader *reader, const struct host_fields *fields)
{
	const struct node_fields *nodes = fields->nodes.items;
	const struct device_fields *devices = fields->devices.items;
	struct host *host = reader->host;
	bool good = true;

	free(host->name);
	host->name = xstrdup(fields->machine.text);
	host->arch = given(&fields->arch) ? xstrdup(fields->arch.text) : NULL;
	host->libvirt = fields->libvirt.number;
	host->qemu = fields->qemu.number;
	host->isolated_known = given(&fields->isolated);
	if (fields->isolated.cpus)
		host->isolated = *fields->isolated.cpus;
	for (size_t i = 0; i < fields->nodes.count; i++)
		good &= read_node(reader, &nodes[i], fields->nodes.count);
	good &= read_cpus(reader, &fields->cpus, HOST_NO_NODE);
	host->devices_known = fields->devices.place.line != 0;
	for (size_t i = 0; i < fields->devices.count; i++)
		good &= read_device(reader, &devices[i]);
	copy_texts(&fields->other_mounts, &host->other_mounts, &host->n_other_mounts);
	return good && host_settle(host, fields->place, reader->diag);
}

struct host *host_from_yaml(const char *file, const char *text, size_t length,
			    struct diag *diag)
{
	cleanup_reader struct reader reader = { .host = host_new(file), .diag = diag };
	struct host_fields fields = { .place = NOWHERE };
	bool good = fields_parse(&host_group, file, text, length, &fields, diag) &&
		    read_host(&reader, &fields);

	fields_done(&host_group, &fields);
	return good ? take(reader.host) : NULL;
}

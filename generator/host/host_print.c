/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The YAML form of a host: a line for each L3 domain of a node, so that a machine of 256
 * CPUs fits on a screen or two. Same machine, same bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "host/host.h"
#include "policy/fields.h"

enum { COLUMNS = 100, NONE = -1 };

static const char *const kinds[] = {
	[HOST_DEVICE_OTHER] = "other",
	[HOST_DEVICE_NIC] = "nic",
	[HOST_DEVICE_NVME] = "nvme",
};

struct printer {
	const struct host *host;
	struct text out;
	size_t line;	 /* where the line begins */
	ptrdiff_t *next; /* by index of CPU: the next sibling's, or NONE */
	bool *first;	 /* by index of CPU: the lowest of its core */
};

/* One more item of a list, on the next line when it would stick out. */
static void add_item(struct printer *printer, const char *separator, const char *item)
{
	size_t column = printer->out.length - printer->line;

	text_add(&printer->out, separator);
	if (column + strlen(separator) + strlen(item) + 2 > COLUMNS) {
		while (printer->out.data[printer->out.length - 1] == ' ')
			printer->out.data[--printer->out.length] = '\0';
		text_add(&printer->out, "\n");
		printer->line = printer->out.length;
		text_add(&printer->out, "          ");
	}
	text_add(&printer->out, item);
}

static void begin_line(struct printer *printer)
{
	printer->line = printer->out.length;
}

static void quote(struct text *out, const char *text)
{
	text_add(out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			text_add(out, "\\");
		text_add_bytes(out, text, 1);
	}
	text_add(out, "\"");
}

/* TEXT as a YAML scalar that is text wherever it stands; the caller frees it. */
static char *scalar(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/_.+-@";
	struct text out = TEXT_INIT;

	if (*text && !strchr(".+-@", *text) && !text[strspn(text, plain)])
		text_add(&out, text);
	else
		quote(&out, text);
	return text_take(&out);
}

/* "key: [a, b]" behind BEFORE. */
static void print_list(struct printer *printer, const char *before, const char *key,
		       char *const *items, size_t count)
{
	cleanup_free char *opening = xasprintf("%s: [", key);

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *item = scalar(items[i]);
		cleanup_free char *first = xasprintf("%s%s", i ? "" : opening, item);

		add_item(printer, i ? ", " : before, first);
	}
	text_add(&printer->out, "]");
}

static void print_size(struct text *out, const char *key, uint64_t bytes)
{
	cleanup_free char *size = size_format(bytes);

	if (bytes != HOST_UNKNOWN)
		text_printf(out, "%s%s\n", key, size);
}

static void print_pages(struct text *out, const struct host_node *node)
{
	if (node->pages_known)
		text_printf(out, "    hugepages:%s\n", node->n_pages ? "" : " []");
	for (size_t i = 0; i < node->n_pages; i++) {
		const struct host_pages *pages = &node->pages[i];
		cleanup_free char *size = size_format(pages->size);

		text_printf(out, "      - {size: %s, total: %" PRIu64, size,
			    pages->total);
		if (pages->free != HOST_UNKNOWN)
			text_printf(out, ", free: %" PRIu64, pages->free);
		text_add(out, "}\n");
	}
}

static void print_distances(struct printer *printer, const struct host_node *node)
{
	if (!node->distances)
		return;
	begin_line(printer);
	text_add(&printer->out, "    distances: [");
	for (size_t i = 0; i < printer->host->n_nodes; i++) {
		char item[16];

		snprintf(item, sizeof(item), "%u", node->distances[i]);
		add_item(printer, i ? ", " : "", item);
	}
	text_add(&printer->out, "]\n");
}

static void link_siblings(struct printer *printer)
{
	const struct host *host = printer->host;
	cleanup_free ptrdiff_t *last = xcalloc(host->n_cores, sizeof(*last));

	for (size_t core = 0; core < host->n_cores; core++)
		last[core] = NONE;
	for (size_t i = 0; i < host->n_cpus; i++) {
		ptrdiff_t *before = &last[host->cpus[i].core];

		printer->next[i] = NONE;
		printer->first[i] = *before == NONE;
		if (*before != NONE)
			printer->next[*before] = (ptrdiff_t)i;
		*before = (ptrdiff_t)i;
	}
}

/* Whether core B is core A with LENGTH added to each of its CPUs. */
static bool continues(const struct printer *printer, ptrdiff_t a, ptrdiff_t b,
		      unsigned length)
{
	const struct host_cpu *cpus = printer->host->cpus;

	while (a != NONE && b != NONE) {
		if (cpus[b].number != cpus[a].number + length)
			return false;
		a = printer->next[a];
		b = printer->next[b];
	}
	return a == b;
}

/* "0-7+128-135": LENGTH cores from CORE on. */
static char *run_text(const struct printer *printer, ptrdiff_t core, unsigned length)
{
	struct text out = TEXT_INIT;

	for (; core != NONE; core = printer->next[core]) {
		unsigned number = printer->host->cpus[core].number;

		text_printf(&out, "%s%u", out.length ? "+" : "", number);
		if (length > 1)
			text_printf(&out, "-%u", number + length - 1);
	}
	return text_take(&out);
}

static bool same_group(const struct host_cpu *a, const struct host_cpu *b)
{
	return a->node == b->node && a->package == b->package && a->l3 == b->l3;
}

/* The next core of the group that CPU is in, from index FROM on, or NONE. */
static ptrdiff_t next_core(const struct printer *printer, const struct host_cpu *cpu,
			   size_t from)
{
	for (size_t i = from; i < printer->host->n_cpus; i++)
		if (printer->first[i] && same_group(cpu, &printer->host->cpus[i]))
			return (ptrdiff_t)i;
	return NONE;
}

static void print_cores(struct printer *printer, size_t first)
{
	const struct host_cpu *cpu = &printer->host->cpus[first];
	ptrdiff_t core = (ptrdiff_t)first;
	const char *separator = "";

	while (core != NONE) {
		unsigned length = 1;
		ptrdiff_t next = next_core(printer, cpu, (size_t)core + 1);

		while (next != NONE && continues(printer, core, next, length)) {
			length++;
			next = next_core(printer, cpu, (size_t)next + 1);
		}
		cleanup_free char *item = run_text(printer, core, length);
		add_item(printer, separator, item);
		separator = " ";
		core = next;
	}
}

/* The groups of CPUs that are on NODE, by lowest CPU. */
static void print_cpus(struct printer *printer, int node, const char *indent)
{
	const struct host *host = printer->host;
	struct cpuset done = CPUSET_INIT;
	bool any = false;

	for (size_t i = 0; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i];

		if (cpu->node != node || cpuset_has(&done, cpu->number))
			continue;
		if (!any)
			text_printf(&printer->out, "%scpus:\n", indent);
		any = true;
		begin_line(printer);
		text_printf(&printer->out, "%s  - {package: %u, ", indent, cpu->package);
		if (host->l3_known)
			text_printf(&printer->out, "l3: %u, ", cpu->l3);
		text_add(&printer->out, "cores: ");
		print_cores(printer, i);
		text_add(&printer->out, "}\n");
		for (size_t j = i; j < host->n_cpus; j++)
			if (same_group(cpu, &host->cpus[j]))
				cpuset_set(&done, host->cpus[j].number);
	}
}

static void print_node(struct printer *printer, const struct host_node *node)
{
	struct text *out = &printer->out;

	text_printf(out, "  - node: %u\n", node->number);
	print_size(out, "    memory: ", node->memory);
	print_size(out, "    free: ", node->free);
	print_pages(out, node);
	print_distances(printer, node);
	print_cpus(printer, (int)node->number, "    ");
}

static void print_device(struct printer *printer, const struct host_device *device)
{
	begin_line(printer);
	text_printf(&printer->out, "  - {pci: %s, kind: %s", device->pci,
		    kinds[device->kind]);
	if (device->node != HOST_NO_NODE)
		text_printf(&printer->out, ", node: %d", device->node);
	print_list(printer, ", ", "names", device->names, device->n_names);
	print_list(printer, ", ", "mounts", device->mounts, device->n_mounts);
	text_add(&printer->out, "}\n");
}

static void print_version(struct text *out, const char *key, uint64_t version)
{
	cleanup_free char *written = version_format(version);

	if (version)
		text_printf(out, "%s: %s\n", key, written);
}

static void print_head(struct text *out, const struct host *host)
{
	text_printf(out, "machine: %s\n", host->name);
	if (host->arch)
		text_printf(out, "arch: %s\n", host->arch);
	print_version(out, "libvirt", host->libvirt);
	print_version(out, "qemu", host->qemu);
	if (host->isolated_known) {
		cleanup_free char *isolated = cpuset_format(&host->isolated);

		text_printf(out, "isolated: %s\n", *isolated ? isolated : "none");
	}
}

void host_print(const struct host *host, FILE *stream)
{
	struct printer printer = {
		.host = host,
		.out = TEXT_INIT,
		.next = xcalloc(host->n_cpus, sizeof(*printer.next)),
		.first = xcalloc(host->n_cpus, sizeof(*printer.first)),
	};

	link_siblings(&printer);
	print_head(&printer.out, host);
	print_cpus(&printer, HOST_NO_NODE, "");
	text_add(&printer.out, "nodes:\n");
	for (size_t i = 0; i < host->n_nodes; i++)
		print_node(&printer, &host->nodes[i]);
	if (host->devices_known)
		text_printf(&printer.out, "devices:%s\n", host->n_devices ? "" : " []");
	for (size_t i = 0; i < host->n_devices; i++)
		print_device(&printer, &host->devices[i]);
	begin_line(&printer);
	print_list(&printer, "", "other_mounts", host->other_mounts,
		   host->n_other_mounts);
	if (host->n_other_mounts)
		text_add(&printer.out, "\n");
	fputs(printer.out.data, stream);
	text_done(&printer.out);
	free(printer.next);
	free(printer.first);
}

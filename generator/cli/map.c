/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine drawn for people. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/map.h"
#include "policy/fields.h"

/* Text beside the CPUs, and the most nodes whose distances fit. */
enum { MARGIN = 2, KIND_WIDTH = 5, DISTANCES_MAX = 18 };

static const char bold[] = "\033[1m", dim[] = "\033[2m", green[] = "\033[1;32m",
		  plain[] = "\033[0m";

static const char *const kinds[] = {
	[HOST_DEVICE_OTHER] = "other",
	[HOST_DEVICE_NIC] = "nic",
	[HOST_DEVICE_NVME] = "nvme",
};

struct map {
	const struct host *host;
	map_label *label;
	void *data;
	bool colour;
	FILE *stream;
	int number_width, label_width, heading_width;
	/* The lowest CPU of each core of a group, and how many siblings the largest has.
	 */
	const struct host_cpu **cores;
	size_t n_cores;
	unsigned threads;
};

static void set_colour(const struct map *map, const char *colour)
{
	if (map->colour)
		fputs(colour, map->stream);
}

static const char *label_of(const struct map *map, unsigned cpu)
{
	const char *label = map->label ? map->label(cpu, map->data) : NULL;

	return label ? label : "";
}

static bool same_group(const struct host_cpu *a, const struct host_cpu *b)
{
	return a->node == b->node && a->package == b->package && a->l3 == b->l3;
}

/* Collects the cores of the group that CPU at index FIRST begins. */
static void collect(struct map *map, size_t first)
{
	const struct host *host = map->host;
	cleanup_free unsigned *siblings = xcalloc(host->n_cores, sizeof(*siblings));

	map->n_cores = 0;
	map->threads = 0;
	for (size_t i = first; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i];

		if (!same_group(cpu, &host->cpus[first]))
			continue;
		if (siblings[cpu->core]++ == 0)
			map->cores[map->n_cores++] = cpu;
		if (siblings[cpu->core] > map->threads)
			map->threads = siblings[cpu->core];
	}
}

/* The sibling after CPU on its core, or NULL. */
static const struct host_cpu *next_sibling(const struct host *host,
					   const struct host_cpu *cpu)
{
	const struct host_cpu *end = host->cpus + host->n_cpus;
	unsigned core = cpu->core;

	while (++cpu < end)
		if (cpu->core == core)
			return cpu;
	return NULL;
}

/* PADDED: another one follows in the row. */
static void draw_cpu(const struct map *map, const struct host_cpu *cpu, bool padded)
{
	const char *label = cpu ? label_of(map, cpu->number) : "";
	int width = map->label ? map->label_width + 1 : 0;

	if (map->label && !*label)
		set_colour(map, dim);
	if (cpu)
		fprintf(map->stream, "%*u", map->number_width, cpu->number);
	else
		width += map->number_width;
	if (*label)
		set_colour(map, green);
	if (*label)
		width -= fprintf(map->stream, " %s", label);
	if (map->label)
		set_colour(map, plain);
	if (padded)
		fprintf(map->stream, "%*s", width, "");
}

/* Whether a core from index FROM to TO - 1 of the row has this sibling. */
static bool any_cpu(const struct host_cpu **row, size_t from, size_t to)
{
	while (from < to)
		if (row[from++])
			return true;
	return false;
}

/* COUNT cores from index FIRST on, siblings below each other. */
static void draw_cores(const struct map *map, const char *heading, size_t first,
		       size_t count)
{
	cleanup_free const struct host_cpu **row = xcalloc(count, sizeof(*row));

	memcpy(row, map->cores + first, count * sizeof(*row));
	for (unsigned thread = 0; thread < map->threads; thread++) {
		fprintf(map->stream, "  %-*s", map->heading_width, thread ? "" : heading);
		for (size_t i = 0; i < count && any_cpu(row, i, count); i++) {
			fputs("  ", map->stream);
			draw_cpu(map, row[i], any_cpu(row, i + 1, count));
			row[i] = row[i] ? next_sibling(map->host, row[i]) : NULL;
		}
		fputc('\n', map->stream);
	}
}

/* Rows of equal length, with a gap where siblings could be taken for a new row. */
static void draw_group(const struct map *map, const char *heading)
{
	int cell = map->number_width + MARGIN + (map->label ? map->label_width + 1 : 0);
	int room = MAP_COLUMNS - MARGIN - map->heading_width;
	size_t most = room > cell ? (size_t)(room / cell) : 1;

	assert(map->n_cores);
	size_t rows = (map->n_cores + most - 1) / most;
	size_t length = (map->n_cores + rows - 1) / rows;

	for (size_t first = 0; first < map->n_cores; first += length) {
		size_t left = map->n_cores - first;

		if (first && map->threads > 1)
			fputc('\n', map->stream);
		draw_cores(map, first ? "" : heading, first,
			   left < length ? left : length);
	}
}

/* Whether all CPUs of the node are in one package, which its own heading tells then. */
static bool one_package(const struct host *host, int node, unsigned *ret_package)
{
	bool any = false;

	for (size_t i = 0; i < host->n_cpus; i++) {
		if (host->cpus[i].node != node)
			continue;
		if (any && host->cpus[i].package != *ret_package)
			return false;
		*ret_package = host->cpus[i].package;
		any = true;
	}
	return any;
}

static char *heading_of(const struct host *host, const struct host_cpu *cpu)
{
	struct text heading = TEXT_INIT;
	unsigned package = 0;

	if (!one_package(host, cpu->node, &package))
		text_printf(&heading, "package %u", cpu->package);
	if (host->l3_known)
		text_printf(&heading, "%sL3 %u", heading.length ? " " : "", cpu->l3);
	return text_take(&heading);
}

static void draw_cpus(struct map *map, int node)
{
	const struct host *host = map->host;
	struct cpuset done = CPUSET_INIT;

	for (size_t i = 0; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i];

		if (cpu->node != node || cpuset_has(&done, cpu->number))
			continue;
		cleanup_free char *heading = heading_of(host, cpu);
		collect(map, i);
		draw_group(map, heading);
		for (size_t j = i; j < host->n_cpus; j++)
			if (same_group(cpu, &host->cpus[j]))
				cpuset_set(&done, host->cpus[j].number);
	}
}

/* A word on the line that is *COLUMN wide so far, or on the next one. */
static void draw_word(const struct map *map, const char *word, size_t *column)
{
	int indent = MARGIN + map->heading_width + MARGIN + KIND_WIDTH;

	if (*column + 1 + strlen(word) > MAP_COLUMNS) {
		fprintf(map->stream, "\n%*s", indent, "");
		*column = (size_t)indent;
	}
	*column += (size_t)fprintf(map->stream, " %s", word);
}

static void draw_device(const struct map *map, const struct host_device *device)
{
	size_t column = (size_t)fprintf(map->stream, "  %-*s  %s", map->heading_width,
					device->pci, kinds[device->kind]);
	size_t kind = MARGIN + (size_t)map->heading_width + MARGIN + KIND_WIDTH;

	if (device->n_names + device->n_mounts)
		column += (size_t)fprintf(map->stream, "%*s", (int)(kind - column), "");
	for (size_t i = 0; i < device->n_names; i++)
		draw_word(map, device->names[i], &column);
	if (device->n_mounts)
		draw_word(map, "on", &column);
	for (size_t i = 0; i < device->n_mounts; i++)
		draw_word(map, device->mounts[i], &column);
	fputc('\n', map->stream);
}

static void draw_devices(const struct map *map, int node)
{
	for (size_t i = 0; i < map->host->n_devices; i++)
		if (map->host->devices[i].node == node)
			draw_device(map, &map->host->devices[i]);
}

/* To a tenth: "63.8 GiB". */
static void draw_size(const struct map *map, const char *before, uint64_t bytes,
		      const char *behind)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	uint64_t tenths = bytes / 1024 * 10;
	size_t unit = 0;

	if (bytes == HOST_UNKNOWN)
		return;
	for (; tenths >= 10240 && unit + 1 < ARRAY_SIZE(units); unit++)
		tenths /= 1024;
	fprintf(map->stream, "%s%" PRIu64, before, tenths / 10);
	if (tenths % 10)
		fprintf(map->stream, ".%" PRIu64, tenths % 10);
	fprintf(map->stream, " %s%s", units[unit], behind);
}

static void draw_memory(const struct map *map, const struct host_node *node)
{
	draw_size(map, "   ", node->memory, "");
	draw_size(map, " (", node->free, " free)");
	for (size_t i = 0; i < node->n_pages; i++) {
		const struct host_pages *pages = &node->pages[i];

		if (!pages->total)
			continue;
		fprintf(map->stream, "   %" PRIu64 " x", pages->total);
		draw_size(map, " ", pages->size, "");
		if (pages->free != HOST_UNKNOWN)
			fprintf(map->stream, " (%" PRIu64 " free)", pages->free);
	}
	fputc('\n', map->stream);
}

static void draw_node(struct map *map, const struct host_node *node)
{
	unsigned package = 0;

	set_colour(map, bold);
	fprintf(map->stream, "\nnode %u", node->number);
	set_colour(map, plain);
	if (map->host->n_packages > 1 &&
	    one_package(map->host, (int)node->number, &package))
		fprintf(map->stream, "   package %u", package);
	draw_memory(map, node);
	draw_cpus(map, (int)node->number);
	draw_devices(map, (int)node->number);
}

/* What no node has. */
static void draw_rest(struct map *map)
{
	bool any = false;

	for (size_t i = 0; i < map->host->n_cpus; i++)
		any |= map->host->cpus[i].node == HOST_NO_NODE;
	for (size_t i = 0; i < map->host->n_devices; i++)
		any |= map->host->devices[i].node == HOST_NO_NODE;
	if (!any)
		return;
	set_colour(map, bold);
	fputs("\non no node\n", map->stream);
	set_colour(map, plain);
	draw_cpus(map, HOST_NO_NODE);
	draw_devices(map, HOST_NO_NODE);
}

static void draw_distances(const struct map *map)
{
	const struct host *host = map->host;
	bool known = host->n_nodes > 1 && host->n_nodes <= DISTANCES_MAX;

	for (size_t i = 0; i < host->n_nodes; i++)
		known &= host->nodes[i].distances != NULL;
	if (!known)
		return;
	fputs("\ndistance", map->stream);
	for (size_t i = 0; i < host->n_nodes; i++)
		fprintf(map->stream, " %4u", host->nodes[i].number);
	for (size_t i = 0; i < host->n_nodes; i++) {
		fprintf(map->stream, "\n  node %-3u", host->nodes[i].number);
		for (size_t j = 0; j < host->n_nodes; j++)
			fprintf(map->stream, "%s%4u", j ? " " : "",
				host->nodes[i].distances[j]);
	}
	fputc('\n', map->stream);
}

static void draw_head(const struct map *map)
{
	const struct host *host = map->host;
	cleanup_free char *libvirt = version_format(host->libvirt);
	cleanup_free char *qemu = version_format(host->qemu);
	cleanup_free char *isolated = cpuset_format(&host->isolated);

	set_colour(map, bold);
	fputs(host->name, map->stream);
	set_colour(map, plain);
	fprintf(map->stream, "   %zu CPUs on %u cores", host->n_cpus, host->n_cores);
	if (host->arch)
		fprintf(map->stream, ", %s", host->arch);
	if (host->libvirt)
		fprintf(map->stream, ", libvirt %s", libvirt);
	if (host->qemu)
		fprintf(map->stream, ", QEMU %s", qemu);
	if (*isolated)
		fprintf(map->stream, "\nisolated CPUs: %s", isolated);
	fputc('\n', map->stream);
}

static int longer(int width, size_t length)
{
	return (int)length > width ? (int)length : width;
}

static void measure(struct map *map)
{
	const struct host *host = map->host;
	char number[16];

	for (size_t i = 0; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i];
		cleanup_free char *heading = heading_of(host, cpu);

		snprintf(number, sizeof(number), "%u", cpu->number);
		map->number_width = longer(map->number_width, strlen(number));
		map->label_width = longer(map->label_width,
					  strlen(label_of(map, cpu->number)));
		map->heading_width = longer(map->heading_width, strlen(heading));
	}
	for (size_t i = 0; i < host->n_devices; i++)
		map->heading_width = longer(map->heading_width,
					    strlen(host->devices[i].pci));
}

void map_draw(const struct host *host, map_label *label, void *data, bool colour,
	      FILE *stream)
{
	cleanup_free const struct host_cpu **cores = xcalloc(host->n_cores,
							     sizeof(*cores));
	struct map map = {
		.host = host,
		.label = label,
		.data = data,
		.colour = colour,
		.stream = stream,
		.cores = cores,
	};

	measure(&map);
	draw_head(&map);
	for (size_t i = 0; i < host->n_nodes; i++)
		draw_node(&map, &host->nodes[i]);
	draw_rest(&map);
	draw_distances(&map);
}

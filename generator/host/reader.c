/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all readers of hosts begin and end with. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "host/reader.h"

/* Labels beyond those that readers give: a core or an L3 domain of one's own. */
#define OWN (UINT64_C(1) << 32)

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("._-+", c));
}

char *host_name_from(const char *text)
{
	char *name = xstrdup(*text ? text : "host");

	for (char *c = name; *c; c++)
		if (!in_name(*c))
			*c = '_';
	if (*name == '-' || *name == '.' || !strcasecmp(name, "null"))
		*name = '_';
	return name;
}

static char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	cleanup_free char *stem = xstrndup(base, dot && dot > base ? (size_t)(dot - base)
								   : strlen(base));

	return host_name_from(stem);
}

struct host *host_new(const char *origin)
{
	struct host *host = xcalloc(1, sizeof(*host));

	host->origin = xstrdup(origin);
	host->name = name_of_file(origin);
	return host;
}

struct host_node *host_add_node(struct host *host, unsigned long long number,
				struct place place, struct diag *diag)
{
	if (number >= CPUSET_MAX) {
		diag_error(diag, place, NULL,
			   "node %llu is beyond %d, the highest that libvirt takes",
			   number, CPUSET_MAX - 1);
		return NULL;
	}
	if (host_node(host, (unsigned)number)) {
		diag_error(diag, place, NULL, "node %llu is described twice", number);
		return NULL;
	}
	if (host->n_nodes == HOST_NODES_MAX) {
		diag_error(diag, place, NULL, "there are more than %d nodes",
			   HOST_NODES_MAX);
		return NULL;
	}
	struct host_node *node = append(host->nodes, host->n_nodes);
	node->number = (unsigned)number;
	node->memory = node->free = HOST_UNKNOWN;
	return node;
}

bool host_add_cpu(struct host *host, struct host_cpu cpu, struct place place,
		  struct diag *diag)
{
	if (cpu.number >= CPUSET_MAX) {
		diag_error(diag, place, NULL,
			   "CPU %u is beyond %d, the highest that libvirt takes",
			   cpu.number, CPUSET_MAX - 1);
		return false;
	}
	if (cpuset_has(&host->online, cpu.number)) {
		diag_error(diag, place, NULL, "CPU %u is described twice", cpu.number);
		return false;
	}
	cpuset_set(&host->online, cpu.number);
	*append(host->cpus, host->n_cpus) = cpu;
	return true;
}

/* The character at AT and its width; 0 when it is no well-formed UTF-8. */
static uint32_t character(const unsigned char *at, size_t *ret_width)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t width = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	uint32_t code = width == 1 ? *at : *at & (0x7fU >> width);

	*ret_width = width;
	if (*at >= 0xf8 || (*at & 0xc0) == 0x80)
		return 0;
	for (size_t i = 1; i < width; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fU);
	}
	return code >= least[width] ? code : 0;
}

/* No control characters, line breaks, surrogates, byte order marks. */
static bool yaml_can_hold(const char *text)
{
	size_t width;

	for (; *text; text += width) {
		uint32_t code = character((const unsigned char *)text, &width);

		if (code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
		    code == 0x2029 || (code >= 0xd800 && code < 0xe000) ||
		    code == 0xfeff || code == 0xfffe || code == 0xffff || code > 0x10ffff)
			return false;
	}
	return true;
}

void host_add_text(char ***items, size_t *count, const char *text)
{
	if (*text && strcasecmp(text, "null") && strcmp(text, "~") && yaml_can_hold(text))
		*append(*items, *count) = xstrdup(text);
}

bool host_check_pages(const struct host_node *node, struct place place, struct diag *diag)
{
	const struct host_pages *pages = &node->pages[node->n_pages - 1];
	const char *fault = NULL;

	if (pages->size & (pages->size - 1))
		fault = "is no power of two";
	if (pages->free != HOST_UNKNOWN && pages->free > pages->total)
		fault = "has more pages free than there are";
	for (size_t i = 0; i + 1 < node->n_pages; i++)
		if (node->pages[i].size == pages->size)
			fault = "is described twice";
	if (!fault)
		return true;
	diag_error(diag, place, NULL,
		   "node %u: the hugepage size of %" PRIu64 " bytes %s", node->number,
		   pages->size, fault);
	return false;
}

static int cpu_order(const void *left, const void *right)
{
	const struct host_cpu *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

static int node_order(const void *left, const void *right)
{
	const struct host_node *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* Columns of the distances follow the nodes as they were added; now their order changes.
 */
static void sort_nodes(struct host *host)
{
	size_t count = host->n_nodes;
	cleanup_free unsigned *added = xcalloc(count, sizeof(*added));
	cleanup_free unsigned *row = xcalloc(count, sizeof(*row));

	for (size_t i = 0; i < count; i++)
		added[i] = host->nodes[i].number;
	qsort(host->nodes, count, sizeof(*host->nodes), node_order);
	for (size_t i = 0; i < count; i++) {
		unsigned *distances = host->nodes[i].distances;

		if (!distances)
			continue;
		memcpy(row, distances, count * sizeof(*row));
		for (size_t j = 0; j < count; j++)
			distances[host_node(host, added[j]) - host->nodes] = row[j];
	}
}

struct label {
	uint64_t label;
	size_t cpu; /* index */
};

static int label_order(const void *left, const void *right)
{
	const struct label *a = left, *b = right;

	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* Turns the labels, one for each CPU, into numbers from 0 in the order of the lowest CPU;
 * yields how many there are. */
static unsigned number_labels(uint64_t *labels, size_t count)
{
	cleanup_free struct label *sorted = xcalloc(count, sizeof(*sorted));
	cleanup_free size_t *lowest = xcalloc(count, sizeof(*lowest));
	unsigned next = 0;

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct label){ labels[i], i };
	qsort(sorted, count, sizeof(*sorted), label_order);
	for (size_t i = 0; i < count; i++) {
		bool same = i && sorted[i].label == sorted[i - 1].label;

		lowest[sorted[i].cpu] = same ? lowest[sorted[i - 1].cpu] : sorted[i].cpu;
	}
	for (size_t i = 0; i < count; i++)
		labels[i] = lowest[i] == i ? next++ : labels[lowest[i]];
	return next;
}

static void number_everything(struct host *host)
{
	size_t count = host->n_cpus;
	cleanup_free uint64_t *cores = xcalloc(count, sizeof(*cores));
	cleanup_free uint64_t *l3s = xcalloc(count, sizeof(*l3s));
	cleanup_free uint64_t *packages = xcalloc(count, sizeof(*packages));

	host->l3_known = false;
	for (size_t i = 0; i < count; i++) {
		const struct host_cpu *cpu = &host->cpus[i];

		cores[i] = cpu->core == HOST_NO_LABEL ? OWN + cpu->number : cpu->core;
		l3s[i] = cpu->l3 == HOST_NO_LABEL ? OWN + (uint64_t)(cpu->node + 1)
						  : cpu->l3;
		packages[i] = cpu->package;
		host->l3_known |= cpu->l3 != HOST_NO_LABEL;
	}
	host->n_cores = number_labels(cores, count);
	host->n_l3 = number_labels(l3s, count);
	host->n_packages = number_labels(packages, count);
	for (size_t i = 0; i < count; i++) {
		host->cpus[i].core = (unsigned)cores[i];
		host->cpus[i].l3 = (unsigned)l3s[i];
		host->cpus[i].package = (unsigned)packages[i];
	}
}

/* A core is on one node, in one L3 domain, in one package, or it is no core. */
static bool cores_are_whole(const struct host *host, struct place place,
			    struct diag *diag)
{
	cleanup_free const struct host_cpu **first = xcalloc(host->n_cores,
							     sizeof(*first));

	for (size_t i = 0; i < host->n_cpus; i++) {
		const struct host_cpu *cpu = &host->cpus[i], *sibling = first[cpu->core];

		if (!sibling) {
			first[cpu->core] = cpu;
			continue;
		}
		const char *apart = cpu->node != sibling->node	       ? "nodes"
				    : cpu->package != sibling->package ? "packages"
				    : cpu->l3 != sibling->l3	       ? "L3 domains"
								       : NULL;
		if (apart) {
			diag_error(diag, place, NULL,
				   "CPUs %u and %u are siblings of one core, yet on "
				   "different %s",
				   sibling->number, cpu->number, apart);
			return false;
		}
	}
	return true;
}

static int string_order(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static void sort_strings(char **strings, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(strings, *count, sizeof(*strings), string_order);
	for (size_t i = 0; i < *count; i++) {
		if (kept && !strcmp(strings[kept - 1], strings[i]))
			free(strings[i]);
		else
			strings[kept++] = strings[i];
	}
	*count = kept;
}

static int page_order(const void *left, const void *right)
{
	const struct host_pages *a = left, *b = right;

	return (a->size > b->size) - (a->size < b->size);
}

static int device_order(const void *left, const void *right)
{
	const struct host_device *a = left, *b = right;

	return strcmp(a->pci, b->pci);
}

static bool sort_devices(struct host *host, struct place place, struct diag *diag)
{
	if (host->n_devices)
		qsort(host->devices, host->n_devices, sizeof(*host->devices),
		      device_order);
	for (size_t i = 0; i < host->n_devices; i++) {
		struct host_device *device = &host->devices[i];

		sort_strings(device->names, &device->n_names);
		sort_strings(device->mounts, &device->n_mounts);
		if (i && !strcmp(device->pci, device[-1].pci)) {
			diag_error(diag, place, NULL,
				   "PCI function %s is described twice", device->pci);
			return false;
		}
	}
	return true;
}

bool host_settle(struct host *host, struct place place, struct diag *diag)
{
	if (!host->n_cpus) {
		diag_error(diag, place, NULL, "this machine has no CPU");
		return false;
	}
	qsort(host->cpus, host->n_cpus, sizeof(*host->cpus), cpu_order);
	sort_nodes(host);
	number_everything(host);
	for (size_t i = 0; i < host->n_nodes; i++) {
		struct host_node *node = &host->nodes[i];

		node->cpus = (struct cpuset)CPUSET_INIT;
		for (size_t j = 0; j < host->n_cpus; j++)
			if (host->cpus[j].node == (int)node->number)
				cpuset_set(&node->cpus, host->cpus[j].number);
		if (node->n_pages)
			qsort(node->pages, node->n_pages, sizeof(*node->pages),
			      page_order);
	}
	sort_strings(host->other_mounts, &host->n_other_mounts);
	return sort_devices(host, place, diag) && cores_are_whole(host, place, diag);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading libvirt's status files. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/guest.h"
#include "guest/tag.h"
#include "machine/status.h"

/* The directory. */

static int compare_stamps(const struct stamp *a, const struct stamp *b)
{
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return a->mtime < b->mtime ? -1 : a->mtime > b->mtime;
}

static int by_stamp(const void *left, const void *right)
{
	const struct status_file *a = left, *b = right;

	return compare_stamps(&a->stamp, &b->stamp);
}

/* "NAME.xml.new" is not one yet. */
static bool is_status(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".xml");
}

static void add_file(struct status_files *files, int directory, const char *name)
{
	struct stat status;

	if (!is_status(name) ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode))
		return;
	*append(files->items, files->count) = (struct status_file){
		.name = xstrdup(name),
		.stamp = { (uint64_t)status.st_ino,
			   (uint64_t)status.st_mtim.tv_sec * 1000000000 +
				   (uint64_t)status.st_mtim.tv_nsec },
	};
}

struct status_files status_list(int directory)
{
	struct status_files files = { NULL, 0 };
	int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = again < 0 ? NULL : fdopendir(again);

	for (struct dirent *entry; stream && (entry = readdir(stream));)
		add_file(&files, directory, entry->d_name);
	if (stream)
		closedir(stream);
	else if (again >= 0)
		close(again);
	if (files.count)
		qsort(files.items, files.count, sizeof(*files.items), by_stamp);
	return files;
}

void status_files_done(struct status_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].name);
	free(files->items);
}

struct status_file *status_find(const struct status_files *files,
				const struct stamp *stamp)
{
	struct status_file key = { .stamp = *stamp };

	return files->count
		       ? bsearch(&key, files->items, files->count, sizeof(key), by_stamp)
		       : NULL;
}

/* A file: skimmed for the pieces that matter, a twentieth of it, of which a domain is
 * made and parsed. Elements outside <domain> have names like those inside. */

struct outline {
	unsigned pid;
	char *numad_nodes, *numad_cpus; /* where <numad> put an automatic placement */
	bool in_domain;
	size_t child; /* where the child of <domain> that is open begins */
	bool child_is_read;
	struct text domain; /* its tags and the children that are read here */
};

static void outline_done(struct outline *outline)
{
	free(outline->numad_nodes);
	free(outline->numad_cpus);
	text_done(&outline->domain);
}

static bool is_read(const char *text, const struct tag *tag)
{
	static const char *const names[] = { "name",	      "uuid",	 "memory",
					     "vcpu",	      "cputune", "numatune",
					     "memoryBacking", "cpu" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (tag_is_named(text, tag, names[i]))
			return true;
	return false;
}

/* The attribute of a tag as it is written, or NULL; the caller frees it. */
static char *attribute(const char *text, const struct tag *tag, const char *name)
{
	struct tag_attribute each;
	size_t at = tag_skip_name(text, tag->name, tag->end);

	while (tag_attribute_next(text, &at, tag->end, &each))
		if (each.name_end - each.name == strlen(name) &&
		    !memcmp(text + each.name, name, strlen(name)))
			return xstrndup(text + each.value, each.value_end - each.value);
	return NULL;
}

static void outline_root(struct outline *outline, const char *text, const struct tag *tag)
{
	cleanup_free char *said = attribute(text, tag, "pid");
	unsigned long long pid;

	if (said && text_number(said, &pid) && pid <= INT_MAX)
		outline->pid = (unsigned)pid;
}

/* A tag that opens at DEPTH. */
static void outline_open(struct outline *outline, const char *text, const struct tag *tag,
			 unsigned depth)
{
	if (depth == 0)
		outline_root(outline, text, tag);
	else if (depth == 1 && tag_is_named(text, tag, "domain") &&
		 tag->kind == TAG_START && !outline->in_domain) {
		outline->in_domain = true;
		text_add_bytes(&outline->domain, text + tag->start,
			       tag->end - tag->start);
	} else if (depth == 1 && tag_is_named(text, tag, "numad") &&
		   !outline->numad_nodes && !outline->numad_cpus) {
		outline->numad_nodes = attribute(text, tag, "nodeset");
		outline->numad_cpus = attribute(text, tag, "cpuset");
	} else if (depth == 2) {
		outline->child = tag->start;
		outline->child_is_read = is_read(text, tag);
	}
}

/* A tag that closes what opened at DEPTH; true at the end of the domain. */
static bool outline_close(struct outline *outline, const char *text,
			  const struct tag *tag, unsigned depth)
{
	if (!outline->in_domain || depth > 2)
		return false;
	size_t start = depth == 1 ? tag->start : outline->child;
	if (depth == 1 || outline->child_is_read)
		text_add_bytes(&outline->domain, text + start, tag->end - start);
	return depth == 1;
}

/* What QEMU can do is two thirds of a file, and flags only. */
static size_t skip_capabilities(const char *text, size_t at, size_t length)
{
	static const char end[] = "</qemuCaps>";
	const char *found = memmem(text + at, length - at, end, sizeof(end) - 1);

	return found ? (size_t)(found - text) : at;
}

/* False when it is no <domstatus> with a <domain> in it. */
static bool outline_read(struct outline *outline, const char *text, size_t length)
{
	unsigned depth = 0;
	struct tag tag;
	size_t at = 0;

	while (tag_next(text, &at, length, &tag)) {
		if (tag.kind == TAG_END && depth-- == 0)
			return false;
		if (tag.kind != TAG_END)
			outline_open(outline, text, &tag, depth);
		if (tag.kind != TAG_START && outline_close(outline, text, &tag, depth))
			return true;
		if (tag.kind == TAG_START && depth == 1 &&
		    tag_is_named(text, &tag, "qemuCaps"))
			at = skip_capabilities(text, at, length);
		if (tag.kind == TAG_START && depth++ == 0 &&
		    !tag_is_named(text, &tag, "domstatus"))
			return false;
	}
	return false;
}

/* What the guest has. */

/* Empty where TEXT is NULL or no list: libvirt wrote it, and what it means otherwise is
 * not known. */
static struct cpuset set_of(const char *list)
{
	struct cpuset set;

	return list && cpuset_parse(list, &set, NULL, NULL) ? set
							    : (struct cpuset)CPUSET_INIT;
}

/* Where a vCPU without a pin of its own runs. */
static struct cpuset floating(const struct guest *guest, const struct outline *outline)
{
	const struct element *vcpu = element_child(guest->domain, "vcpu");

	if (text_equal(element_attribute(vcpu, "placement"), "auto"))
		return set_of(outline->numad_cpus);
	return set_of(element_attribute(vcpu, "cpuset"));
}

/* The only member, or CPUSET_MAX. */
static unsigned only(const struct cpuset *set)
{
	unsigned first = cpuset_next(set, 0);

	return cpuset_next(set, first + 1) == CPUSET_MAX ? first : (unsigned)CPUSET_MAX;
}

static void claim_cpus(struct claim *claim, const struct guest *guest,
		       const struct outline *outline)
{
	const struct cpuset others = floating(guest, outline);
	struct cpuset own = CPUSET_INIT, on = CPUSET_INIT;
	bool any_other = false;

	for (unsigned vcpu = 0; vcpu < guest->vcpus; vcpu++) {
		const struct guest_pin *pin = &guest->vcpupin[vcpu];
		unsigned cpu = pin->element ? only(&pin->cpus) : (unsigned)CPUSET_MAX;

		if (cpu < CPUSET_MAX)
			cpuset_set(&own, cpu);
		else if (pin->element)
			cpuset_or(&on, &pin->cpus);
		any_other |= !pin->element;
	}
	if (any_other && only(&others) < CPUSET_MAX)
		cpuset_or(&own, &others);
	else if (any_other)
		cpuset_or(&on, &others);
	cpuset_or(&on, &own);
	cpuset_set(&on, only(&guest->emulatorpin.cpus));
	claim->cpus = cpulist_of(&own);
	claim->vcpus_on = cpulist_of(&on);
}

/* The size of the pages behind guest cell CELL, 0: normal ones. False when it is not
 * known: the host's own choice of hugepage. */
static bool page_size_of(const struct guest *guest, unsigned cell, uint64_t *ret_size)
{
	const struct element *hugepages = element_find(guest->domain,
						       "memoryBacking/hugepages");
	unsigned long long number;

	*ret_size = 0;
	if (hugepages && !element_child(hugepages, "page"))
		return false;
	element_foreach (page, hugepages, "page") {
		const char *nodeset = element_attribute(page, "nodeset");
		const char *size = element_attribute(page, "size");
		struct cpuset cells = set_of(nodeset);

		if ((nodeset && !cpuset_has(&cells, cell)) || !size ||
		    !text_number(size, &number))
			continue;
		if (!size_scale(number, element_attribute(page, "unit"), ret_size) ||
		    *ret_size % KIB != 0)
			return false;
		if (nodeset)
			break;
	}
	return true;
}

/* The host nodes of guest cell CELL. */
static struct cpuset nodes_of(const struct guest *guest, const struct outline *outline,
			      unsigned cell)
{
	const struct element *numatune = element_child(guest->domain, "numatune");
	const struct element *memory = element_child(numatune, "memory");
	unsigned long long number;

	element_foreach (memnode, numatune, "memnode") {
		const char *id = element_attribute(memnode, "cellid");

		if (id && text_number(id, &number) && number == cell)
			return set_of(element_attribute(memnode, "nodeset"));
	}
	if (text_equal(element_attribute(memory, "placement"), "auto"))
		return set_of(outline->numad_nodes);
	return set_of(element_attribute(memory, "nodeset"));
}

static void add_memory(struct claim *claim, unsigned node, uint64_t page_size,
		       uint64_t bytes)
{
	size_t i = 0;

	while (i < claim->n_memory &&
	       (claim->memory[i].node != node || claim->memory[i].page_size != page_size))
		i++;
	if (i == claim->n_memory)
		*append(claim->memory, claim->n_memory) = (struct claim_memory){
			.node = node,
			.page_size = page_size,
		};
	claim->memory[i].bytes += bytes;
}

static void claim_cell(struct claim *claim, const struct guest *guest,
		       const struct outline *outline, unsigned cell, uint64_t bytes,
		       struct cpuset *all_nodes)
{
	struct cpuset nodes = nodes_of(guest, outline, cell);
	uint64_t count = cpuset_count(&nodes), page_size, unit;

	cpuset_or(all_nodes, &nodes);
	if (!count || !page_size_of(guest, cell, &page_size))
		return;
	unit = page_size ? page_size : KIB;
	uint64_t pages = bytes / unit + (bytes % unit != 0);
	uint64_t each = pages / count + (pages % count != 0);
	cpuset_foreach (node, &nodes) {
		uint64_t part = each < pages ? each : pages;

		if (part)
			add_memory(claim, node, page_size, part * unit);
		pages -= part;
	}
}

static void claim_memory(struct claim *claim, const struct guest *guest,
			 const struct outline *outline)
{
	struct cpuset nodes = CPUSET_INIT;

	if (!guest->n_cells)
		claim_cell(claim, guest, outline, 0, guest->memory, &nodes);
	for (size_t i = 0; i < guest->n_cells; i++)
		claim_cell(claim, guest, outline, guest->cells[i].id,
			   guest->cells[i].memory, &nodes);
	claim->nodes = cpulist_of(&nodes);
}

static bool read_guest(const struct guest *guest, const struct outline *outline,
		       struct claim *claim)
{
	if (!guest->uuid)
		return false;
	*claim = (struct claim){ .name = xstrdup(guest->name), .state = CLAIM_RUNNING };
	memcpy(claim->uuid, guest->uuid, sizeof(claim->uuid));
	claim->owner.pid = outline->pid;
	claim_cpus(claim, guest, outline);
	claim_memory(claim, guest, outline);
	return true;
}

bool status_parse(const char *file, const char *text, size_t length,
		  struct claim *ret_claim, struct diag *diag)
{
	cleanup(outline_done) struct outline outline = { .pid = 0 };

	if (!outline_read(&outline, text, length)) {
		diag_error(diag, (struct place){ .file = file }, NULL,
			   "it is not a <domstatus> with a <domain> in it");
		return false;
	}
	cleanup_doc struct doc *doc = doc_parse(file, outline.domain.data,
						outline.domain.length, diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, diag) : NULL;
	if (guest && !guest->uuid)
		diag_error(diag, (struct place){ .file = file }, NULL,
			   "the domain has no <uuid>");
	return guest && read_guest(guest, &outline, ret_claim);
}

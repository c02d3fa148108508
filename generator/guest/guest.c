/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a domain XML says, read as libvirt reads it. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/guest.h"
#include "guest/value.h"

/* As libvirt writes it; it reads hyphens anywhere between pairs of digits, and space
 * around. */
static bool read_uuid(const struct reader *reader, struct guest *guest)
{
	struct value value = value_text(element_child(guest->domain, "uuid"));
	struct text out = TEXT_INIT;
	const char *at = value.text;

	if (!at)
		return true;
	at += strspn(at, " \t\r\n");
	for (size_t digits = 0; *at && digits < 32; at++) {
		if (*at == '-' && digits % 2 == 0)
			continue;
		if (!isxdigit((unsigned char)*at))
			break;
		if (digits == 8 || digits == 12 || digits == 16 || digits == 20)
			text_add(&out, "-");
		text_printf(&out, "%c", tolower((unsigned char)*at));
		digits++;
	}
	at += strspn(at, " \t\r\n");
	guest->uuid = text_take(&out);
	if (*at || strlen(guest->uuid) != 36)
		return value_wrong(reader, value, "32 hexadecimal digits go here");
	return true;
}

static void read_names(struct guest *guest)
{
	const struct element *name = element_child(guest->domain, "name");
	const struct element *type = element_find(guest->domain, "os/type");
	const struct element *metadata = element_child(guest->domain, "metadata");

	guest->name = xstrdup(name ? name->text : "");
	guest->type = element_attribute(guest->domain, "type");
	guest->arch = element_attribute(type, "arch");
	guest->machine = element_attribute(type, "machine");
	guest->policy = element_attribute(element_child_ns(metadata, GUEST_NS, "policy"),
					  "name");
}

/* <vcpus>, where given, says for each whether it is there at start. */
static bool read_vcpus(const struct reader *reader, struct guest *guest)
{
	const struct element *vcpu = element_child(guest->domain, "vcpu");
	const struct element *vcpus = element_child(guest->domain, "vcpus");
	unsigned enabled = 0;

	guest->vcpus = 1;
	if (!value_optional(reader, value_text(vcpu), 1, GUEST_VCPUS_MAX, &guest->vcpus))
		return false;
	guest->online = guest->vcpus;
	if (vcpu && !value_optional(reader, value_attribute(vcpu, "current"), 1,
				    guest->vcpus, &guest->online))
		return false;
	element_foreach (each, vcpus, "vcpu")
		enabled += !text_equal(element_attribute(each, "enabled"), "no");
	if (element_child(vcpus, "vcpu"))
		guest->online = enabled < guest->vcpus ? enabled : guest->vcpus;
	return true;
}

static bool read_topology(const struct reader *reader, struct guest *guest)
{
	const struct element *topology = element_find(guest->domain, "cpu/topology");
	const struct {
		const char *name;
		unsigned *count;
	} levels[] = {
		{ "sockets", &guest->sockets },	  { "dies", &guest->dies },
		{ "clusters", &guest->clusters }, { "cores", &guest->cores },
		{ "threads", &guest->threads },
	};

	for (size_t i = 0; topology && i < ARRAY_SIZE(levels); i++) {
		*levels[i].count = 1;
		if (!value_optional(reader, value_attribute(topology, levels[i].name), 1,
				    GUEST_VCPUS_MAX, levels[i].count))
			return false;
	}
	return true;
}

/* The cell goes where its number says; libvirt wants each number below COUNT once. */
static bool read_cell(const struct reader *reader, struct guest *guest,
		      struct element *element, unsigned index, size_t count)
{
	struct value id = value_attribute(element, "id");
	struct value cpus = value_attribute(element, "cpus");

	if (!value_optional(reader, id, 0, (unsigned)count - 1, &index))
		return false;
	struct guest_cell *cell = &guest->cells[index];
	if (cell->element)
		return value_wrong(reader, id, "another cell has this number");
	*cell = (struct guest_cell){
		.element = element,
		.id = index,
		.access = element_attribute(element, "memAccess"),
	};
	return (!cpus.text || value_cpus(reader, cpus, &cell->vcpus)) &&
	       value_size(reader, value_attribute(element, "memory"),
			  element_attribute(element, "unit"), &cell->memory);
}

static bool read_cells(const struct reader *reader, struct guest *guest)
{
	const struct element *numa = element_find(guest->domain, "cpu/numa");
	size_t count = 0;
	unsigned index = 0;

	element_foreach (cell, numa, "cell")
		count++;
	if (count > GUEST_CELLS_MAX) {
		diag_error(reader->diag, numa->place, NULL,
			   "the guest has %zu NUMA cells; at most %d are read", count,
			   GUEST_CELLS_MAX);
		return false;
	}
	guest->cells = xcalloc(count, sizeof(*guest->cells));
	guest->n_cells = count;
	element_foreach (cell, numa, "cell")
		if (!read_cell(reader, guest, cell, index++, count))
			return false;
	return true;
}

static bool add_size(const struct reader *reader, const struct element *element,
		     uint64_t *total, uint64_t bytes)
{
	if (!__builtin_add_overflow(*total, bytes, total))
		return true;
	diag_error(reader->diag, element->place, NULL,
		   "the guest's memory is more than 64 bits of bytes");
	return false;
}

/* What is plugged in as devices. */
static bool read_modules(const struct reader *reader, const struct guest *guest,
			 uint64_t *ret_bytes)
{
	const struct element *devices = element_child(guest->domain, "devices");

	*ret_bytes = 0;
	element_foreach (module, devices, "memory") {
		const struct element *size = element_find(module, "target/size");
		uint64_t bytes;

		if (!size)
			continue;
		if (!value_size(reader, value_text(size), element_attribute(size, "unit"),
				&bytes) ||
		    !add_size(reader, size, ret_bytes, bytes))
			return false;
	}
	return true;
}

/* libvirt, virDomainDefPostParseMemory: the sum of the cells, if there are any, goes over
 * <memory>, which counts the modules too. */
static bool read_memory(const struct reader *reader, struct guest *guest)
{
	const struct element *memory = element_child(guest->domain, "memory");
	uint64_t total = 0, modules, cells = 0;

	if (memory && !value_size(reader, value_text(memory),
				  element_attribute(memory, "unit"), &total))
		return false;
	for (size_t i = 0; i < guest->n_cells; i++)
		if (!add_size(reader, guest->cells[i].element, &cells,
			      guest->cells[i].memory))
			return false;
	if (!read_modules(reader, guest, &modules))
		return false;
	if (!cells && modules > total) {
		diag_error(
			reader->diag, guest->domain->place, NULL,
			"the memory devices hold more than <memory>, which counts them");
		return false;
	}
	guest->memory = cells ? cells : total - modules;
	return true;
}

static int by_id(const void *left, const void *right)
{
	const struct guest_iothread *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* libvirt gives those that <iothreads> has beyond <iothreadids> the lowest free numbers.
 */
static void number_iothreads(struct guest *guest, size_t given)
{
	cleanup_free bool *taken = xcalloc(guest->n_iothreads + 1, sizeof(*taken));
	unsigned id = 1;

	for (size_t i = 0; i < given; i++)
		if (guest->iothreads[i].id <= guest->n_iothreads)
			taken[guest->iothreads[i].id] = true;
	for (size_t i = given; i < guest->n_iothreads; i++) {
		while (taken[id])
			id++;
		guest->iothreads[i].id = id++;
	}
	qsort(guest->iothreads, guest->n_iothreads, sizeof(*guest->iothreads), by_id);
}

static bool read_iothreads(const struct reader *reader, struct guest *guest)
{
	const struct element *ids = element_child(guest->domain, "iothreadids");
	const struct element *count = element_child(guest->domain, "iothreads");
	unsigned wanted = 0, given = 0;

	if (!value_optional(reader, value_text(count), 0, GUEST_IOTHREADS_MAX, &wanted))
		return false;
	element_foreach (iothread, ids, "iothread")
		given++;
	if (given > GUEST_IOTHREADS_MAX) {
		diag_error(reader->diag, ids->place, NULL,
			   "the guest has %u I/O threads; at most %d are read", given,
			   GUEST_IOTHREADS_MAX);
		return false;
	}
	guest->n_iothreads = given > wanted ? given : wanted;
	guest->iothreads = xcalloc(guest->n_iothreads, sizeof(*guest->iothreads));
	given = 0;
	element_foreach (iothread, ids, "iothread") {
		if (!value_number(reader, value_attribute(iothread, "id"), 1, UINT_MAX,
				  &guest->iothreads[given++].id))
			return false;
	}
	number_iothreads(guest, given);
	return true;
}

static bool read_pin(const struct reader *reader, struct element *element,
		     struct guest_pin *pin)
{
	pin->element = element;
	return value_cpus(reader, value_attribute(element, "cpuset"), &pin->cpus);
}

/* Pins of vCPUs and I/O threads that do not exist are nobody's; libvirt drops the former.
 */
static bool read_pins(const struct reader *reader, struct guest *guest)
{
	const struct element *cputune = element_child(guest->domain, "cputune");
	struct element *emulatorpin = element_child(cputune, "emulatorpin");
	struct guest_iothread key = { 0 };
	unsigned vcpu = 0;

	guest->vcpupin = xcalloc(guest->vcpus, sizeof(*guest->vcpupin));
	element_foreach (pin, cputune, "vcpupin") {
		if (!value_number(reader, value_attribute(pin, "vcpu"), 0, UINT_MAX,
				  &vcpu))
			return false;
		if (vcpu < guest->vcpus && !read_pin(reader, pin, &guest->vcpupin[vcpu]))
			return false;
	}
	element_foreach (pin, cputune, "iothreadpin") {
		if (!value_number(reader, value_attribute(pin, "iothread"), 1, UINT_MAX,
				  &key.id))
			return false;
		struct guest_iothread *iothread = bsearch(
			&key, guest->iothreads, guest->n_iothreads, sizeof(key), by_id);
		if (iothread && !read_pin(reader, pin, &iothread->pin))
			return false;
	}
	return !emulatorpin || read_pin(reader, emulatorpin, &guest->emulatorpin);
}

static const char *either(const char *first, const char *second)
{
	return first ? first : second;
}

static const char *alias_of(const struct element *device)
{
	return element_attribute(element_child(device, "alias"), "name");
}

static void read_disk(struct guest *guest, struct element *element)
{
	const struct element *source = element_child(element, "source");
	const struct element *target = element_child(element, "target");

	*append(guest->disks, guest->n_disks) = (struct guest_disk){
		.element = element,
		.type = either(element_attribute(element, "type"), "file"),
		.device = either(element_attribute(element, "device"), "disk"),
		.target = element_attribute(target, "dev"),
		.bus = element_attribute(target, "bus"),
		.source = either(either(element_attribute(source, "file"),
					element_attribute(source, "dev")),
				 element_attribute(source, "path")),
		.alias = alias_of(element),
	};
}

static void read_interface(struct guest *guest, struct element *element)
{
	const struct element *source = element_child(element, "source");

	*append(guest->interfaces, guest->n_interfaces) = (struct guest_interface){
		.element = element,
		.type = element_attribute(element, "type"),
		.path = element_attribute(source, "path"),
		.mode = element_attribute(source, "mode"),
		.source = either(either(element_attribute(source, "bridge"),
					element_attribute(source, "network")),
				 element_attribute(source, "dev")),
		.alias = alias_of(element),
		.mac = element_attribute(element_child(element, "mac"), "address"),
		.model = element_attribute(element_child(element, "model"), "type"),
	};
}

static void read_devices(struct guest *guest)
{
	const struct element *devices = element_child(guest->domain, "devices");

	element_foreach (disk, devices, "disk")
		read_disk(guest, disk);
	element_foreach (interface, devices, "interface")
		read_interface(guest, interface);
}

/* Of two <cputune> or <memoryBacking> libvirt reads both, and of two <numatune> none. Its
 * schema has one, and it writes one; to add to one of two might say a thing twice. */
static bool read_once(const struct reader *reader, const struct element *domain)
{
	static const char *const names[] = { "cputune", "numatune", "memoryBacking" };
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct element *first = element_child(domain, names[i]);
		const struct element *second = first ? element_next(first, names[i])
						     : NULL;

		if (!second)
			continue;
		diag_error(reader->diag, second->place, NULL,
			   "a second <%s>, where libvirt's schema has one; put all into "
			   "the first",
			   names[i]);
		diag_note(reader->diag, first->place, "the first");
		good = false;
	}
	return good;
}

struct guest *guest_read(const struct doc *doc, struct diag *diag)
{
	cleanup_guest struct guest *guest = xcalloc(1, sizeof(*guest));
	struct reader reader = { doc, diag };

	guest->doc = doc;
	guest->domain = doc->root;
	read_names(guest);
	read_devices(guest);
	bool good = read_once(&reader, guest->domain);
	good &= read_uuid(&reader, guest);
	good &= read_topology(&reader, guest);
	good &= read_cells(&reader, guest) && read_memory(&reader, guest);
	good &= read_vcpus(&reader, guest) && read_iothreads(&reader, guest) &&
		read_pins(&reader, guest);
	return good ? take(guest) : NULL;
}

void guest_free(struct guest *guest)
{
	if (!guest)
		return;
	free(guest->name);
	free(guest->uuid);
	free(guest->cells);
	free(guest->vcpupin);
	free(guest->iothreads);
	free(guest->disks);
	free(guest->interfaces);
	free(guest);
}

void guest_free_pointer(struct guest **guest)
{
	guest_free(*guest);
}

char *guest_alias(const char *name)
{
	return xasprintf("ua-vmgen-%s", name);
}

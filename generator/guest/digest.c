/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two domain XMLs are the same guest as far as vmgen looks. */
#include "base/text.h"
#include "guest/digest.h"

static void add_byte(uint64_t *hash, unsigned char byte)
{
	*hash = (*hash ^ byte) * UINT64_C(0x100000001b3);
}

/* With its end, so that "a", "bc" is not "ab", "c"; NULL is not "". */
static void add_text(uint64_t *hash, const char *text)
{
	for (const char *at = text ? text : "\xff"; *at; at++)
		add_byte(hash, (unsigned char)*at);
	add_byte(hash, '\0');
}

static void add_number(uint64_t *hash, uint64_t number)
{
	for (unsigned i = 0; i < 8; i++)
		add_byte(hash, (unsigned char)(number >> 8 * i));
}

/* An element with all below it; space between elements does not count. */
static void add_element(uint64_t *hash, const struct element *element)
{
	cleanup_free char *text = element_text(element);

	if (!element || element->fresh)
		return;
	add_text(hash, element->name);
	for (size_t i = 0; i < element->n_attributes; i++) {
		add_text(hash, element->attributes[i].name);
		add_text(hash, element->attributes[i].value);
	}
	add_text(hash, text);
	element_foreach (child, element, NULL)
		add_element(hash, child);
	add_text(hash, NULL);
}

static void add_tuning(uint64_t *hash, const struct guest *guest)
{
	static const char *const names[] = { "vcpu",	"iothreads", "iothreadids",
					     "cputune", "numatune",  "memoryBacking" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_element(hash, element_child(guest->domain, names[i]));
}

static void add_machine(uint64_t *hash, const struct guest *guest)
{
	const unsigned shape[] = { guest->vcpus, guest->online, guest->sockets,
				   guest->dies,	 guest->cores,	guest->threads };

	add_text(hash, guest->type);
	add_text(hash, guest->arch);
	add_text(hash, guest->machine);
	for (size_t i = 0; i < ARRAY_SIZE(shape); i++)
		add_number(hash, shape[i]);
	add_number(hash, guest->memory);
	for (size_t i = 0; i < guest->n_cells; i++) {
		cleanup_free char *vcpus = cpuset_format(&guest->cells[i].vcpus);

		add_text(hash, vcpus);
		add_number(hash, guest->cells[i].memory);
		add_text(hash, guest->cells[i].access);
	}
}

static void add_devices(uint64_t *hash, const struct guest *guest)
{
	for (size_t i = 0; i < guest->n_disks; i++) {
		const struct guest_disk *disk = &guest->disks[i];

		add_text(hash, disk->type);
		add_text(hash, disk->target);
		add_text(hash, disk->bus);
		add_text(hash, disk->source);
		add_element(hash, element_child(disk->element, "driver"));
	}
	for (size_t i = 0; i < guest->n_interfaces; i++) {
		const struct guest_interface *interface = &guest->interfaces[i];

		add_text(hash, interface->type);
		add_text(hash, interface->mac);
		add_text(hash, interface->model);
		add_text(hash, interface->source);
		add_text(hash, interface->path);
		add_element(hash, element_child(interface->element, "driver"));
	}
}

uint64_t guest_digest(const struct guest *guest)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	add_text(&hash, guest->name);
	add_text(&hash, guest->uuid);
	add_text(&hash, guest->policy);
	add_machine(&hash, guest);
	add_tuning(&hash, guest);
	add_devices(&hash, guest);
	return hash;
}

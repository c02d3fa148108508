/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where among its siblings a new element goes. */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "guest/order.h"

#define ORDER_REST "" /* where all goes that the list does not name */
#define ORDER_LAST "boot", "alias", "master", "rom", "acpi", "address"

/* As libvirt's formatters in domain_conf.c, cpu_conf.c and numa_conf.c print them. */
static const char *const domain_order[] = { "name",
					    "uuid",
					    "genid",
					    "title",
					    "description",
					    "metadata",
					    "maxMemory",
					    "memory",
					    "currentMemory",
					    "blkiotune",
					    "memtune",
					    "memoryBacking",
					    "vcpu",
					    "vcpus",
					    "iothreads",
					    "iothreadids",
					    "defaultiothread",
					    "throttlegroups",
					    "cputune",
					    "numatune",
					    "resource",
					    "sysinfo",
					    "bootloader",
					    "bootloader_args",
					    "os",
					    "idmap",
					    "features",
					    "cpu",
					    "clock",
					    "on_poweroff",
					    "on_reboot",
					    "on_crash",
					    "on_lockfailure",
					    "pm",
					    "perf",
					    "devices",
					    "seclabel",
					    "keywrap",
					    "launchSecurity",
					    ORDER_REST,
					    NULL };
static const char *const cputune_order[] = { "shares",
					     "period",
					     "quota",
					     "global_period",
					     "global_quota",
					     "emulator_period",
					     "emulator_quota",
					     "iothread_period",
					     "iothread_quota",
					     "vcpupin",
					     "emulatorpin",
					     "iothreadpin",
					     "emulatorsched",
					     "vcpusched",
					     "iothreadsched",
					     "cachetune",
					     "memorytune",
					     ORDER_REST,
					     NULL };
static const char *const memory_backing_order[] = {
	"hugepages",  "nosharepages", "locked",	  "source", "access",
	"allocation", "discard",      ORDER_REST, NULL
};
static const char *const numatune_order[] = { "memory", "memnode", ORDER_REST, NULL };
static const char *const cpu_order[] = { "model", "vendor",	 "topology",
					 "cache", "maxphysaddr", "feature",
					 "numa",  ORDER_REST,	 NULL };
static const char *const devices_order[] = {
	"emulator",  "disk",	    "controller", "lease",    "filesystem", "interface",
	"smartcard", "serial",	    "parallel",	  "console",  "channel",    "input",
	"tpm",	     "graphics",    "audio",	  "sound",    "video",	    "hostdev",
	"redirdev",  "redirfilter", "hub",	  "watchdog", "memballoon", "rng",
	"nvram",     "panic",	    "shmem",	  "memory",   "iommu",	    "vsock",
	"crypto",    "pstore",	    ORDER_REST,	  NULL,
};
static const char *const disk_order[] = {
	"driver",	 "auth",      "source",		 "backingStore",
	"backenddomain", "geometry",  "blockio",	 "mirror",
	"target",	 "iotune",    "throttlefilters", "readonly",
	"shareable",	 "transient", "serial",		 "wwn",
	"vendor",	 "product",   "encryption",	 ORDER_REST,
	ORDER_LAST,	 NULL,
};
static const char *const interface_order[] = {
	"mac",		 "source",    "vlan",	  "virtualport", "bandwidth",
	"port",		 "ip",	      "route",	  "script",	 "downscript",
	"backenddomain", "target",    "guest",	  "model",	 "driver",
	"backend",	 "filterref", "teaming",  "tune",	 "link",
	"mtu",		 "coalesce",  ORDER_REST, ORDER_LAST,	 NULL,
};
static const char *const other_order[] = { ORDER_REST, ORDER_LAST, NULL };

static const struct {
	const char *parent;
	const char *const *order;
} orders[] = {
	{ "domain", domain_order },
	{ "cputune", cputune_order },
	{ "memoryBacking", memory_backing_order },
	{ "numatune", numatune_order },
	{ "cpu", cpu_order },
	{ "devices", devices_order },
	{ "disk", disk_order },
	{ "interface", interface_order },
};

/* What numbers the elements of a name. */
static const struct {
	const char *element, *attribute;
} numbers[] = {
	{ "vcpupin", "vcpu" }, { "iothreadpin", "iothread" }, { "memnode", "cellid" },
	{ "cell", "id" },      { "iothread", "id" },	      { "vcpu", "id" },
};

static const char *const *order_of(const char *parent)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (strcmp(orders[i].parent, parent) == 0)
			return orders[i].order;
	return other_order;
}

/* Elements of namespaces come after all others. */
static size_t rank(const char *const *order, const struct element *element)
{
	size_t rest = 0;

	if (element->ns || strchr(element->name, ':'))
		return SIZE_MAX;
	for (size_t i = 0; order[i]; i++) {
		if (strcmp(order[i], element->name) == 0)
			return i;
		if (!*order[i])
			rest = i;
	}
	return rest;
}

static bool same_name(const struct element *a, const struct element *b)
{
	return strcmp(a->name, b->name) == 0 && text_equal(a->ns, b->ns);
}

/* 0 for elements that have none. */
static unsigned long long number(const struct element *element)
{
	unsigned long long number = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(numbers[i].element, element->name) != 0)
			continue;
		const char *value = element_attribute(element, numbers[i].attribute);
		if (value)
			text_number(value, &number);
	}
	return number;
}

size_t order_index(const char *parent, struct element *const *siblings, size_t count,
		   const struct element *child)
{
	const char *const *order = order_of(parent);
	size_t own_rank = rank(order, child), first_same = SIZE_MAX, by_rank = 0;
	unsigned long long own_number = number(child);

	for (size_t i = count; i > 0; i--) {
		const struct element *sibling = siblings[i - 1];

		if (same_name(sibling, child)) {
			if (number(sibling) <= own_number)
				return i;
			first_same = i - 1;
		}
		if (!by_rank && rank(order, sibling) <= own_rank)
			by_rank = i;
	}
	return first_same != SIZE_MAX ? first_same : by_rank;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules on names that libvirt does not know, and therefore drops without a word: in the
 * elements that say how a guest sits on its host. The rest is the RNG schema's.
 */
#include <string.h>

#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

/* What may stand in the elements at PATH below <domain>: as of libvirt 11.3. */
static const struct known {
	const char *path;
	const char *const *children; /* NULL: not looked at */
	const char *const *attributes;
} known[] = {
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NONE ((const char *const[]){ NULL })
	{ "",
	  NAMES("name", "uuid", "genid", "title", "description", "metadata", "memory",
		"currentMemory", "maxMemory", "memoryBacking", "memtune", "blkiotune",
		"vcpu", "vcpus", "iothreads", "iothreadids", "defaultiothread", "cputune",
		"numatune", "resource", "fibrechannel", "sysinfo", "bootloader",
		"bootloader_args", "os", "features", "cpu", "clock", "on_poweroff",
		"on_reboot", "on_crash", "on_lockfailure", "pm", "perf", "idmap",
		"devices", "seclabel", "keywrap", "launchSecurity", "throttlegroups",
		"datacenterpath", "hwuuid", "vmid"),
	  NAMES("type", "id") },
	{ "vcpu", NONE, NAMES("placement", "cpuset", "current") },
	{ "iothreadids", NAMES("iothread"), NONE },
	{ "iothreadids/iothread", NAMES("poll"),
	  NAMES("id", "thread_pool_min", "thread_pool_max") },
	{ "cputune",
	  NAMES("vcpupin", "emulatorpin", "iothreadpin", "shares", "period", "quota",
		"global_period", "global_quota", "emulator_period", "emulator_quota",
		"iothread_period", "iothread_quota", "vcpusched", "iothreadsched",
		"emulatorsched", "cachetune", "memorytune"),
	  NONE },
	{ "cputune/vcpupin", NONE, NAMES("vcpu", "cpuset") },
	{ "cputune/emulatorpin", NONE, NAMES("cpuset") },
	{ "cputune/iothreadpin", NONE, NAMES("iothread", "cpuset") },
	{ "cputune/vcpusched", NONE, NAMES("vcpus", "scheduler", "priority") },
	{ "cputune/iothreadsched", NONE, NAMES("iothreads", "scheduler", "priority") },
	{ "cputune/emulatorsched", NONE, NAMES("scheduler", "priority") },
	{ "numatune", NAMES("memory", "memnode"), NONE },
	{ "numatune/memory", NONE, NAMES("mode", "nodeset", "placement") },
	{ "numatune/memnode", NONE, NAMES("cellid", "mode", "nodeset") },
	{ "memoryBacking",
	  NAMES("hugepages", "nosharepages", "locked", "source", "access", "allocation",
		"discard"),
	  NONE },
	{ "memoryBacking/hugepages", NAMES("page"), NONE },
	{ "memoryBacking/hugepages/page", NONE, NAMES("size", "unit", "nodeset") },
	{ "memoryBacking/source", NONE, NAMES("type") },
	{ "memoryBacking/access", NONE, NAMES("mode") },
	{ "memoryBacking/allocation", NONE, NAMES("mode", "threads") },
	{ "cpu/topology", NONE,
	  NAMES("sockets", "dies", "clusters", "cores", "threads") },
	{ "cpu/numa", NAMES("cell", "interconnects"), NONE },
	{ "cpu/numa/cell", NAMES("distances", "cache"),
	  NAMES("id", "cpus", "memory", "unit", "memAccess", "discard") },
	{ "devices/interface",
	  NAMES("mac", "source", "virtualport", "target", "guest", "model", "driver",
		"backend", "filterref", "tune", "link", "mtu", "coalesce", "bandwidth",
		"vlan", "port", "portForward", "boot", "rom", "address", "alias", "acpi",
		"script", "downscript", "backenddomain", "ip", "route", "teaming",
		"virtualport"),
	  NAMES("type", "managed", "trustGuestRxFilters") },
	{ "devices/interface/model", NONE, NAMES("type") },
	{ "devices/interface/driver", NAMES("host", "guest"),
	  NAMES("name", "txmode", "ioeventfd", "event_idx", "queues", "rx_queue_size",
		"tx_queue_size", "iommu", "ats", "packed", "page_per_vq", "rss",
		"rss_hash_report") },
	{ "devices/disk/driver",
	  NAMES("metadata_cache", "iothreads", "iothread", "statistics"),
	  NAMES("name", "type", "cache", "error_policy", "rerror_policy", "io",
		"ioeventfd", "event_idx", "copy_on_read", "discard", "discard_no_unref",
		"iothread", "detect_zeroes", "queues", "queue_size", "iommu", "ats",
		"packed", "page_per_vq") },
#undef NAMES
#undef NONE
};

static bool listed(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Another element of the table that has it: where it may have been meant to stand. */
static const char *home_of(const char *name, bool attribute)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (listed(attribute ? known[i].attributes : known[i].children, name))
			return *known[i].path ? known[i].path : "domain";
	return NULL;
}

/* "; did you mean ..." or nothing; the caller frees it. */
static char *hint(const char *name, const char *const *names, bool attribute)
{
	const char *near = text_nearest(name, names);
	const char *home = home_of(name, attribute);

	if (near)
		return xasprintf("did you mean %s?", near);
	if (home)
		return xasprintf("it belongs to <%s>", home);
	return xstrdup("remove it");
}

/* So many of one element are reported; what follows is hardly a slip of the pen. */
enum { REPORTS_MAX = 100 };

struct visit {
	const struct rule_input *input;
	const struct rule_run *run;
	const struct known *row;
};

static void visit_children(const struct element *element, void *context)
{
	const struct visit *visit = context;
	unsigned reports = 0;

	element_foreach (child, element, NULL) {
		if (child->ns || listed(visit->row->children, child->name))
			continue;
		if (reports++ == REPORTS_MAX)
			break;
		cleanup_free char *what = hint(child->name, visit->row->children, false);

		rule_report(
			visit->run, child->place,
			"libvirt knows no <%s> in <%s> and drops it without a word; %s",
			child->name, element->name, what);
	}
}

static void visit_attributes(const struct element *element, void *context)
{
	const struct visit *visit = context;
	unsigned reports = 0;

	for (size_t i = 0; i < element->n_attributes; i++) {
		const char *name = element->attributes[i].name;

		if (strchr(name, ':') || text_starts(name, "xmlns") ||
		    listed(visit->row->attributes, name))
			continue;
		if (reports++ == REPORTS_MAX)
			break;
		cleanup_free char *what = hint(name, visit->row->attributes, true);

		rule_report(
			visit->run, read_place(visit->input->guest, element, name),
			"libvirt knows no attribute %s of <%s> and drops it without a "
			"word; %s",
			name, element->name, what);
	}
}

static void each_known(const struct rule_input *input, const struct rule_run *run,
		       void (*visit)(const struct element *element, void *context))
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct visit to = { input, run, &known[i] };

		read_each(input->guest->domain, known[i].path, visit, &to);
	}
}

static void unknown_element(const struct rule_input *input, const struct rule_run *run)
{
	each_known(input, run, visit_children);
}

static void unknown_attribute(const struct rule_input *input, const struct rule_run *run)
{
	each_known(input, run, visit_attributes);
}

const struct rule rules_elements[] = {
	{ "unknown-element", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, unknown_element,
	  "an element that libvirt does not know, and drops",
	  "libvirt reads what it knows and forgets the rest, unless it is told to "
	  "validate (virsh define --validate). The elements that place a guest on its "
	  "host are looked at here (domain, vcpu, iothreadids, cputune, numatune, "
	  "memoryBacking, guest cells, interfaces, drivers of disks); virt-xml-validate "
	  "looks at all. Names as of libvirt 11.3. Source: libvirt 9.0.0, tried." },
	{ "unknown-attribute", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, unknown_attribute,
	  "an attribute that libvirt does not know, and drops",
	  "As unknown-element. Often the attribute is right and the element is not: "
	  "rx_queue_size belongs to <driver>, not to <model>. Source: seapath ansible "
	  "pull request 971." },
	{ .id = NULL },
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on what the target's libvirt and QEMU do not have yet. */
#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

#define V(major, minor, release) ((major)*UINT64_C(1000000) + (minor)*1000 + (release))

/* Elements, attributes and values by the release that has them first: the release notes
 * of libvirt and QEMU. 0: older than we ask. */
static const struct feature {
	const char *path;      /* below <domain> */
	const char *attribute; /* NULL: the element itself */
	const char *value;     /* only this one, or NULL */
	uint64_t libvirt, qemu;
} features[] = {
	{ "iothreadids", NULL, NULL, V(1, 2, 15), 0 },
	{ "iothreadids/iothread", "thread_pool_min", NULL, V(8, 5, 0), V(7, 1, 0) },
	{ "iothreadids/iothread", "thread_pool_max", NULL, V(8, 5, 0), V(7, 1, 0) },
	{ "iothreadids/iothread/poll", NULL, NULL, V(9, 4, 0), 0 },
	{ "cputune/vcpusched", NULL, NULL, V(1, 2, 13), 0 },
	{ "cputune/iothreadsched", NULL, NULL, V(1, 2, 13), 0 },
	{ "cputune/emulatorsched", NULL, NULL, V(5, 3, 0), 0 },
	{ "numatune/memory", "mode", "restrictive", V(7, 3, 0), 0 },
	{ "numatune/memnode", "mode", "restrictive", V(7, 3, 0), 0 },
	{ "memoryBacking/source", "type", "memfd", V(4, 10, 0), V(2, 12, 0) },
	{ "memoryBacking/allocation", "threads", NULL, V(8, 2, 0), 0 },
	{ "cpu/topology", "clusters", NULL, V(10, 1, 0), V(7, 1, 0) },
	{ "devices/interface", "type", "vhostuser", V(1, 2, 7), 0 },
	{ "devices/interface/source/reconnect", NULL, NULL, V(4, 1, 0), 0 },
	{ "devices/interface/driver", "rx_queue_size", NULL, V(2, 3, 0), V(2, 7, 0) },
	{ "devices/interface/driver", "tx_queue_size", NULL, V(3, 7, 0), V(2, 10, 0) },
	{ "devices/interface/driver", "iommu", NULL, V(3, 5, 0), 0 },
	{ "devices/interface/driver", "ats", NULL, V(3, 5, 0), 0 },
	{ "devices/interface/driver", "packed", NULL, V(6, 3, 0), V(4, 2, 0) },
	{ "devices/interface/driver", "page_per_vq", NULL, V(7, 9, 0), V(2, 8, 0) },
	{ "devices/interface/driver", "rss", NULL, V(8, 3, 0), 0 },
	{ "devices/interface/driver", "rss_hash_report", NULL, V(8, 3, 0), 0 },
	{ "devices/disk", "type", "nvme", V(6, 0, 0), 0 },
	{ "devices/disk", "type", "vhostuser", V(7, 1, 0), 0 },
	{ "devices/disk", "type", "vhostvdpa", V(9, 8, 0), 0 },
	{ "devices/disk/driver", "discard", NULL, V(1, 0, 6), 0 },
	{ "devices/disk/driver", "detect_zeroes", NULL, V(2, 0, 0), 0 },
	{ "devices/disk/driver", "io", "io_uring", V(6, 3, 0), V(5, 0, 0) },
	{ "devices/disk/driver", "queues", NULL, V(3, 9, 0), 0 },
	{ "devices/disk/driver", "queue_size", NULL, V(7, 8, 0), 0 },
	{ "devices/disk/driver", "packed", NULL, V(6, 3, 0), V(4, 2, 0) },
	{ "devices/disk/driver", "page_per_vq", NULL, V(7, 9, 0), V(2, 8, 0) },
	{ "devices/disk/driver", "discard_no_unref", NULL, V(9, 5, 0), V(8, 1, 0) },
	{ "devices/disk/driver/metadata_cache", NULL, NULL, V(7, 0, 0), 0 },
	{ "devices/disk/driver/iothreads", NULL, NULL, V(10, 0, 0), V(9, 0, 0) },
	{ "devices/controller/driver/iothreads", NULL, NULL, V(11, 2, 0), V(10, 0, 0) },
};

struct visit {
	const struct rule_input *input;
	const struct rule_run *run;
	const struct feature *feature;
	bool qemu; /* else libvirt */
};

/* "type='memfd' of <source>", "<poll>"; the caller frees it. */
static char *describe(const struct feature *feature, const struct element *element)
{
	if (feature->value)
		return xasprintf("%s='%s' of <%s>", feature->attribute, feature->value,
				 element->name);
	if (feature->attribute)
		return xasprintf("attribute %s of <%s>", feature->attribute,
				 element->name);
	return xasprintf("<%s>", element->name);
}

static void found(const struct element *element, void *context)
{
	const struct visit *visit = context;
	const struct feature *feature = visit->feature;
	const char *value = feature->attribute
				    ? element_attribute(element, feature->attribute)
				    : "";

	if (!value || (feature->value && !text_equal(value, feature->value)))
		return;
	cleanup_free char *what = describe(feature, element);
	cleanup_free char *want = version_format(visit->qemu ? feature->qemu
							     : feature->libvirt);
	cleanup_free char *have = version_format(visit->qemu ? visit->input->qemu
							     : visit->input->libvirt);
	struct place place = feature->attribute ? read_place(visit->input->guest, element,
							     feature->attribute)
						: element->place;

	if (visit->qemu)
		rule_report(visit->run, place,
			    "%s needs QEMU %s and the target has %s, so the start fails "
			    "unless its vendor has backported it; remove it",
			    what, want, have);
	else
		rule_report(visit->run, place,
			    "%s needs libvirt %s and the target has %s, which drops it "
			    "without a word; remove it, or use a newer libvirt",
			    what, want, have);
}

static void check(const struct rule_input *input, const struct rule_run *run, bool qemu)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		struct visit visit = { input, run, &features[i], qemu };

		if (qemu ? input->qemu < features[i].qemu
			 : input->libvirt < features[i].libvirt)
			read_each(input->guest->domain, features[i].path, found, &visit);
	}
}

static void libvirt(const struct rule_input *input, const struct rule_run *run)
{
	check(input, run, false);
}

static void qemu(const struct rule_input *input, const struct rule_run *run)
{
	check(input, run, true);
}

const struct rule rules_versions[] = {
	{ "version-libvirt", DIAG_ERROR, RULE_GUEST, NEEDS_LIBVIRT, libvirt,
	  "what the target's libvirt does not know, and drops",
	  "libvirt forgets what it does not know unless it is told to validate: "
	  "<driver><iothreads> before 10.0.0 and <iothread><poll> before 9.4.0 vanish "
	  "when the domain is defined. Values that it does not know it refuses. The "
	  "target's version is that of the policy, the host policy or the host. Source: "
	  "libvirt 9.0.0, tried; its release notes." },
	{ "version-qemu", DIAG_WARNING, RULE_GUEST, NEEDS_QEMU, qemu,
	  "what the target's QEMU does not have",
	  "libvirt asks QEMU what it can do and fails the start: \"IOThread mapping for "
	  "disk ... is not available with this QEMU binary\". A warning only, since "
	  "vendors backport (RHEL 9.4's QEMU 8.2 has the mapping of 9.0). Source: "
	  "libvirt, qemu_validate.c; QEMU's release notes." },
	{ .id = NULL },
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A host policy from its text. */
#include <string.h>

#include "policy/host_policy.h"
#include "policy/policy.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define AT(member) .offset = offsetof(struct host_policy, member)
#define IN_VSWITCH(member)                                       \
	.offset = offsetof(struct host_policy, vswitch.member) - \
		  offsetof(struct host_policy, vswitch)

static const char *const others_words[] = {
	[OTHERS_SHARED] = "shared",
	[OTHERS_IGNORE] = "ignore",
	[OTHERS_REFUSE] = "refuse",
	NULL,
};
static const char *const packing_words[] = {
	[PACKING_SPREAD] = "spread",
	[PACKING_PACK] = "pack",
	NULL,
};
static const char *const vswitch_words[] = {
	[VSWITCH_OVS] = "ovs",
	[VSWITCH_DPDK] = "dpdk",
	NULL,
};

static const char *const vfio_words[] = {
	[VFIO_IOMMU] = "iommu",
	[VFIO_NOIOMMU] = "noiommu",
	NULL,
};

/* Rows are set by hand: clang-format would give each designator a line. */
/* clang-format off */

static const struct field vswitch_fields[] = {
	{ .key = "kind", .words = vswitch_words, IN_VSWITCH(kind), .required = true,
	  .example = "ovs",
	  .doc = "What serves the vhost-user sockets: Open vSwitch with DPDK, or another "
		 "DPDK program." },
	{ .key = "version", .type = SCALAR_VERSION, IN_VSWITCH(version),
	  .example = "3.1.0",
	  .doc = "Its version; what it can do depends on that. Not given: not checked." },
	{ .key = "pmd_cpus", .type = SCALAR_CPUS, IN_VSWITCH(pmd_cpus), .example = "2,22",
	  .doc = "CPUs of its polling threads (pmd-cpu-mask, -l); no guest gets these, "
		 "and those with vhostuser interfaces go to their node when they can. Not "
		 "given: not known." },
	{ .key = "port", .words = WORDS("dpdkvhostuser", "dpdkvhostuserclient"),
	  IN_VSWITCH(port), .example = "dpdkvhostuserclient",
	  .doc = "The kind of its ports: with dpdkvhostuserclient the guest is the "
		 "socket's server, with dpdkvhostuser its client. Not given: not "
		 "checked." },
	{ .key = "max_queues", .type = SCALAR_COUNT, .min = 1, .max = 1024,
	  IN_VSWITCH(max_queues), .example = "8",
	  .doc = "Queue pairs that a port takes; a guest that asks for more hangs in its "
		 "start. Not given: not checked." },
	{ .key = "dpdk", .type = SCALAR_VERSION, IN_VSWITCH(dpdk), .example = "19.11.4",
	  .doc = "The DPDK that Open vSwitch is built on (ovs-vswitchd --version): with "
		 "19.11.3 it has no zero-copy. Not given: not checked." },
	{ .key = "nics", .shape = SHAPE_LIST, .type = SCALAR_TEXT, IN_VSWITCH(nics),
	  .example = "0000:3b:00.0",
	  .doc = "PCI addresses of the NICs that it drives, whose node is good for its "
		 "guests; where zero-copy is wanted the hook looks how they are bound. "
		 "Not given: not known." },
	{ .key = "vfio", .words = vfio_words, IN_VSWITCH(vfio), .example = "noiommu",
	  .doc = "How its NICs are bound to vfio-pci, if they are: with an IOMMU there "
		 "is no zero-copy. Not given: not checked." },
	{ .key = "iommu", .type = SCALAR_BOOL, IN_VSWITCH(iommu), .example = "no",
	  .doc = "Whether its ports translate addresses for guests with a vIOMMU (Open "
		 "vSwitch's vhost-iommu-support, testpmd's iommu-support=1); there is "
		 "no zero-copy then. Not given: not known." },
	{ .key = "postcopy", .type = SCALAR_BOOL, IN_VSWITCH(postcopy), .example = "no",
	  .doc = "Whether its ports let guests migrate by postcopy (Open vSwitch's "
		 "vhost-postcopy-support, testpmd's postcopy-support=1); there is no "
		 "zero-copy then. Not given: not known." },
	{ .key = NULL },
};

static const struct group vswitch_group = {
	.name = "vswitch",
	.size = sizeof(((struct host_policy *)NULL)->vswitch),
	.fields = vswitch_fields,
	.doc = "The switch at the other end of vhost-user sockets. Not given: not known.",
};

static const struct field drive_fields[] = {
	{ .key = "device", .type = SCALAR_TEXT, .offset = offsetof(struct drive, device),
	  .required = true, .example = "nvme0n1",
	  .doc = "Its PCI address or the name of its block device." },
	{ .key = "read_iops", .type = SCALAR_COUNT, .min = 1, .max = 1000000000,
	  .offset = offsetof(struct drive, read_iops), .required = true,
	  .example = "600000",
	  .doc = "Read operations a second that it can do, from its data sheet or better "
		 "measured." },
	{ .key = NULL },
};

static const struct group drive_group = {
	.name = "drive",
	.size = sizeof(struct drive),
	.fields = drive_fields,
	.doc = "A drive and what it can do.",
};

static const struct field host_policy_fields[] = {
	{ .key = "host", .type = SCALAR_NAME, AT(name), .required = true,
	  .example = "kvm1",
	  .doc = "A name for the host, or for the class of hosts that this is for." },
	{ .key = "libvirt", .type = SCALAR_VERSION, AT(libvirt), .example = "9.0.0",
	  .doc = "The libvirt that runs there. Not given: what the host description "
		 "says." },
	{ .key = "qemu", .type = SCALAR_VERSION, AT(qemu), .example = "7.2.0",
	  .doc = "The QEMU that runs there. Not given: what the host description says." },
	{ .key = "reserved_cpus", .type = SCALAR_CPUS, AT(reserved_cpus), .example = "0",
	  .doc = "CPUs that are the host's own and no guest's. Not given: none." },
	{ .key = "housekeeping_cpus", .type = SCALAR_CPUS, AT(housekeeping_cpus),
	  .example = "4-6",
	  .doc = "CPUs for emulator and I/O threads. Not given: none." },
	{ .key = "dedicated_cpus", .type = SCALAR_CPUS, AT(dedicated_cpus),
	  .example = "1-3,7-19",
	  .doc = "CPUs that are given to single vCPUs. Not given: all that the other "
		 "keys do not name." },
	{ .key = "shared_cpus", .type = SCALAR_CPUS, AT(shared_cpus), .example = "20-23",
	  .doc = "CPUs over which the vCPUs of shared guests run. Not given: none." },
	{ .key = "others", .words = others_words, AT(others), .example = "ignore",
	  .doc = "What becomes of guests without a policy. shared: they run on the "
		 "shared CPUs; ignore: they are left alone; refuse: they do not start. "
		 "Not given: ignore." },
	{ .key = "vswitch", .shape = SHAPE_GROUP, AT(vswitch), .group = &vswitch_group },
	{ .key = "drives", .shape = SHAPE_GROUPS, AT(drives), .group = &drive_group,
	  .doc = "Drives and what they can do, for what policies expect. Not given: not "
		 "checked." },
	{ .key = "packing", .words = packing_words, AT(packing), .example = "spread",
	  .doc = "Between places that are equally good for a guest: spread takes the "
		 "emptiest node, pack the fullest. Not given: spread." },
	{ .key = "policies", .shape = SHAPE_LIST, .type = SCALAR_NAME, AT(policies),
	  .example = "storage-iops",
	  .doc = "Policies that a guest's metadata may choose; an empty list allows "
		 "none. Not given: all." },
	{ .key = "enforce_at_most", .words = enforce_words, AT(enforce_at_most),
	  .example = "report",
	  .doc = "The strongest enforce that policies get here, for a careful roll-out: "
		 "with report the hook only logs. Not given: what each policy says." },
	{ .key = NULL },
};

/* clang-format on */

const struct group host_policy_group = {
	.name = "host policy",
	.size = sizeof(struct host_policy),
	.fields = host_policy_fields,
	.doc = "What the owner of a host set aside, and what guests may choose. CPU "
	       "lists are as libvirt writes them: 1-3,7-19,^9.",
};

struct host_policy *host_policy_parse(const char *file, const char *text, size_t length,
				      struct diag *diag)
{
	struct host_policy *policy = xcalloc(1, sizeof(*policy));

	policy->file = xstrdup(file);
	if (fields_parse(&host_policy_group, policy->file, text, length, policy, diag))
		return policy;
	host_policy_free(policy);
	return NULL;
}

void host_policy_free(struct host_policy *policy)
{
	if (!policy)
		return;
	fields_done(&host_policy_group, policy);
	free(policy->file);
	free(policy);
}

const char *host_policy_peer(const struct host_policy *policy)
{
	const struct value *kind = policy ? &policy->vswitch.kind : NULL;

	if (!kind || !given(kind))
		return "the switch";
	return kind->word == VSWITCH_OVS
		       ? "Open vSwitch (a port of type dpdkvhostuserclient)"
		       : "the DPDK switch (a vhost port with client=1)";
}

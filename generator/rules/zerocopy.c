/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on vhost zero-copy, which existed in some versions of some backends only. */
#include "base/size.h"
#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

enum { BURST = 32, PACKET_MIN = 512, OVS_TXD = 128, OVS_TXD_LARGE = 512 };

/* The versions that have dequeue zero-copy: from first up to, not including, gone. */
static const struct {
	const char *name;
	uint64_t first, gone;
	const char *have, *today;
} backends[] = {
	[BACKEND_DPDK] = { "DPDK", 16011000, 20011000, "16.11 to 20.08",
			   "asynchronous copies by a DMA device (rte_vhost_async, from "
			   "20.08), which only its example vhost-switch uses" },
	[BACKEND_OVS] = { "Open vSwitch", 2010000, 2015000, "2.10 to 2.14",
			  "plain copies by the poll mode driver" },
};

static void each_interface(const struct rule_input *input, const struct rule_run *run,
			   void (*visit)(const struct rule_input *input,
					 const struct rule_run *run,
					 const struct policy_interface *interface))
{
	const struct policy_interface *interfaces = input->policy->interfaces.items;

	for (size_t i = 0; i < input->policy->interfaces.count; i++)
		if (interfaces[i].zero_copy.place.line)
			visit(input, run, &interfaces[i]);
}

static bool ovs(const struct policy_interface *interface)
{
	return given(&interface->zero_copy.backend) &&
	       interface->zero_copy.backend.word == BACKEND_OVS;
}

static bool dpdk(const struct policy_interface *interface)
{
	return given(&interface->zero_copy.backend) &&
	       interface->zero_copy.backend.word == BACKEND_DPDK;
}

/* Not given: client. */
static bool server(const struct policy_interface *interface)
{
	return given(&interface->source.mode) &&
	       interface->source.mode.word == SOCKET_SERVER;
}

static void visit_version(const struct rule_input *input, const struct rule_run *run,
			  const struct policy_interface *interface)
{
	const struct value *version = &interface->zero_copy.version;
	const struct value *backend = &interface->zero_copy.backend;

	(void)input;
	if (!given(version) || !given(backend) || backend->word < 0 ||
	    backend->word >= (int)ARRAY_SIZE(backends))
		return;
	__typeof__(&backends[0]) row = &backends[backend->word];

	if (version->number >= row->first && version->number < row->gone)
		return;
	rule_report(run, version->place,
		    "%s %s has no zero-copy (%s had it), so packets would be copied; "
		    "today it has %s: remove zero_copy, or run a version that has it",
		    row->name, version->text, row->have, row->today);
}

static void version(const struct rule_input *input, const struct rule_run *run)
{
	each_interface(input, run, visit_version);
}

/* The DPDK inside Open vSwitch, as the policy or the host policy says. */
static const struct value *dpdk_of(const struct rule_input *input,
				   const struct policy_interface *interface)
{
	const struct value *said = &interface->zero_copy.dpdk;

	return given(said) || !input->host_policy ? said
						  : &input->host_policy->vswitch.dpdk;
}

/* DPDK 19.11.3 took zero-copy from clients of the socket, 19.11.4 gave it back. */
enum { DPDK_BROKEN = 19011003, DPDK_NO_CLIENT = 20005000 };

static void visit_client(const struct rule_input *input, const struct rule_run *run,
			 const struct policy_interface *interface)
{
	const struct value *release = &interface->zero_copy.version;
	const struct value *inside = dpdk_of(input, interface);

	if (ovs(interface) && given(inside) && inside->number == DPDK_BROKEN)
		rule_report(run, inside->place,
			    "Open vSwitch built on DPDK %s has no zero-copy: it is "
			    "always the client of the socket, which this release "
			    "refuses; build it on 19.11.4 or newer",
			    inside->text);
	if (ovs(interface) && !server(interface))
		rule_report(run, interface->source.place,
			    "Open vSwitch has zero-copy only on dpdkvhostuserclient "
			    "ports, to which the guest is the server; say mode: server");
	if (dpdk(interface) && server(interface) && given(release) &&
	    (release->number >= DPDK_NO_CLIENT || release->number == DPDK_BROKEN))
		rule_report(
			run, interface->source.mode.place,
			"DPDK %s refuses zero-copy where it is the client of the socket; "
			"say mode: client",
			release->text);
}

static void client(const struct rule_input *input, const struct rule_run *run)
{
	each_interface(input, run, visit_client);
}

static void visit_packet(const struct rule_input *input, const struct rule_run *run,
			 const struct policy_interface *interface)
{
	const struct value *size = &interface->zero_copy.packet_size;

	(void)input;
	if (given(size) && size->number < PACKET_MIN)
		rule_report(
			run, size->place,
			"zero-copy costs more than it saves with packets of %s bytes (it "
			"pays from %d up, and 64-byte packets lose up to 15 %%); remove "
			"zero_copy",
			size->text, PACKET_MIN);
}

static void packet(const struct rule_input *input, const struct rule_run *run)
{
	each_interface(input, run, visit_packet);
}

static void visit_pages(const struct rule_input *input, const struct rule_run *run,
			const struct policy_interface *interface)
{
	const struct value *pages = &input->policy->memoryBacking.hugepages;

	if (!given(pages))
		rule_report(run, interface->zero_copy.place,
			    "zero-copy without hugepages: every buffer that crosses a "
			    "page is copied after all; add memoryBacking: {hugepages: 1 "
			    "GiB}");
	else if (pages->number < GIB)
		rule_report(run, pages->place,
			    "zero-copy looks each buffer's page up in a table, which is "
			    "short only with pages of 1 GiB; say hugepages: 1 GiB");
}

static void pages(const struct rule_input *input, const struct rule_run *run)
{
	each_interface(input, run, visit_pages);
}

static void ring_dpdk(const struct rule_run *run,
		      const struct policy_interface *interface)
{
	const struct value *txd = &interface->zero_copy.nic_txd;
	const struct value *ring = &interface->tx_queue_size;
	const struct value *burst = &interface->zero_copy.nic_burst;

	if (given(ring) && ring->number != txd->number)
		rule_report(run, ring->place,
			    "tx_queue_size %s beside a NIC ring of %s: descriptors held "
			    "by the larger one starve the other; make them equal",
			    ring->text, txd->text);
	if (given(burst) && (burst->number < BURST || burst->number >= txd->number))
		rule_report(
			run, burst->place,
			"the NIC's free threshold is nic_txd - nic_burst, and together "
			"with its RS threshold of %d must fit the ring of %s; say "
			"nic_burst: %d",
			BURST, txd->text, BURST);
}

static void ring_ovs(const struct rule_run *run, const struct policy_interface *interface)
{
	const struct value *txd = &interface->zero_copy.nic_txd;
	const struct value *ring = &interface->tx_queue_size;

	if (txd->number <= OVS_TXD ||
	    (txd->number <= OVS_TXD_LARGE && given(ring) && ring->number == 1024))
		return;
	rule_report(run, txd->place,
		    "Open vSwitch cannot set the NIC's free threshold, so the ring "
		    "itself must be small or the guest starves; say nic_txd: %d "
		    "(n_txq_desc)",
		    OVS_TXD);
}

static void visit_ring(const struct rule_input *input, const struct rule_run *run,
		       const struct policy_interface *interface)
{
	(void)input;
	if (!given(&interface->zero_copy.nic_txd))
		return;
	if (dpdk(interface))
		ring_dpdk(run, interface);
	else if (ovs(interface))
		ring_ovs(run, interface);
}

static void ring(const struct rule_input *input, const struct rule_run *run)
{
	each_interface(input, run, visit_ring);
}

static void shared(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *access = &input->policy->memoryBacking.access;

	if (given(access) && text_equal(access->text, "private") &&
	    input->policy->interfaces.count)
		rule_report(
			run, access->place,
			"vhost-user interfaces need shared memory, without it no data "
			"flows; say access: shared");
}

static void iommu(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy_interface *interfaces = input->policy->interfaces.items;
	bool wanted = false;

	for (size_t i = 0; i < input->policy->interfaces.count; i++)
		wanted = wanted || interfaces[i].zero_copy.place.line;
	for (size_t i = 0; wanted && i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		const struct element *driver = element_child(interface->element,
							     "driver");

		if (text_equal(interface->type, "vhostuser") &&
		    (read_is(driver, "iommu", "on") || read_is(driver, "ats", "on")))
			rule_report(
				run, read_place(input->guest, driver, "iommu"),
				"the policy wants zero-copy, which DPDK refuses together "
				"with the IOMMU; remove iommu and ats");
	}
}

static void legacy(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];

		if (text_equal(interface->type, "vhostuser") &&
		    text_equal(interface->model, "virtio-transitional"))
			rule_report(
				run, interface->element->place,
				"a transitional device may be driven as legacy virtio, "
				"without VIRTIO_F_VERSION_1: 12.9 Mpps where 13.9 are "
				"there; say model 'virtio-non-transitional' or 'virtio'");
	}
}

const struct rule rules_zerocopy[] = {
	{ "zero-copy-version", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, version,
	  "zero-copy with a backend that does not have it",
	  "Dequeue zero-copy was in DPDK from 16.11 to 20.08 and in Open vSwitch from "
	  "2.10 to 2.14, always off by default, and was removed from both as unreliable. "
	  "Debian 12 has 22.11 and 3.1. No libvirt attribute turns it on: it is the "
	  "backend's. Today's way is a DMA device (DPDK's examples/vhost --dmas), or "
	  "none. Source: DPDK b0a985d1f3, cacf8267cc and release_20_11.rst; Open vSwitch "
	  "10087cba9, 86f624e48." },
	{ "zero-copy-client", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, client,
	  "zero-copy with the wrong end of the socket",
	  "Open vSwitch has dq-zero-copy only on dpdkvhostuserclient ports, where QEMU "
	  "is the server. DPDK from 20.05 (and 19.11.3, which breaks Open vSwitch 2.13 "
	  "and 2.14; 19.11.4 took it back) refuses it as a client: \"zero copy is "
	  "incompatible with vhost client mode\". Source: DPDK 715070ea10, 22fa1bcbcb, "
	  "2819f71376." },
	{ "zero-copy-packet", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, packet,
	  "zero-copy with small packets is slower than copying",
	  "Pinning and looking up a page costs more than copying a small packet: +50 % "
	  "at 1500 bytes, up to -15 % at 64, the turning point at 512. Source: DPDK "
	  "b0a985d1f3 and prog_guide/vhost_lib (20.08); vhost zero-copy practice." },
	{ "zero-copy-pages", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, pages,
	  "zero-copy without hugepages of 1 GiB",
	  "The table from guest to host addresses has an entry for each contiguous piece "
	  "and is searched for every packet (linearly before 20.05); a buffer that "
	  "crosses a piece is copied. Source: DPDK, prog_guide/vhost_lib (20.08)." },
	{ "zero-copy-ring", DIAG_WARNING, RULE_POLICY, NEEDS_NOTHING, ring,
	  "rings and thresholds with which zero-copy starves",
	  "A descriptor of the guest is free again only when the NIC has sent the packet "
	  "and the driver has cleaned its ring. DPDK: the guest starves if nic_txd - "
	  "tx_queue_size is above the free threshold, so make both rings equal, and the "
	  "threshold nic_txd - burst (1024 - 32 = 992, the most that i40e takes). Open "
	  "vSwitch cannot set the threshold, so n_txq_desc must be small: 128, or up to "
	  "512 with tx_queue_size 1024. Source: DPDK a24e7032f7; Open vSwitch, "
	  "vhost-user guide 2.14; vhost zero-copy practice." },
	{ "policy-shared", DIAG_ERROR, RULE_POLICY, NEEDS_NOTHING, shared,
	  "vhost-user interfaces on private memory",
	  "The switch maps the guest's memory; private memory gives it a copy of its own "
	  "that nobody writes to. Leave access out (it becomes shared) or say shared. "
	  "See shm-required." },
	{ "zero-copy-iommu", DIAG_ERROR, RULE_GUEST, NEEDS_POLICY, iommu,
	  "zero-copy together with an IOMMU for the device",
	  "DPDK: \"enabling dequeue zero copy and IOMMU features simultaneously is not "
	  "supported\" (from 19.11; before that it does not work). A NIC bound to "
	  "vfio-pci with an IOMMU does not work either, as guest pages have no mapping "
	  "there; use no-IOMMU mode. Source: DPDK c49197ff29, e3075e969e." },
	{ "vhost-transitional", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, legacy,
	  "a transitional virtio device on vhost-user",
	  "Without VIRTIO_F_VERSION_1 or VIRTIO_F_ANY_LAYOUT (DPDK from 18.02) each "
	  "packet needs a descriptor more for its header: 12.9 Mpps against 13.9. "
	  "Source: vhost zero-copy practice; DPDK 5a8bb6e902." },
	{ .id = NULL },
};

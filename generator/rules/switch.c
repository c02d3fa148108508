/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on zero-copy and the switch that the host has. */
#include "base/text.h"
#include "rules/rules.h"

/* The first interface that zero-copy is asked for, or NULL. */
static const struct policy_interface *zero_copied(const struct policy *policy)
{
	const struct policy_interface *interfaces = policy->interfaces.items;

	for (size_t i = 0; i < policy->interfaces.count; i++)
		if (interfaces[i].zero_copy.place.line)
			return &interfaces[i];
	return NULL;
}

static void match(const struct rule_input *input, const struct rule_run *run)
{
	const struct policy_interface *interfaces = input->policy->interfaces.items;
	const struct value *kind = &input->host_policy->vswitch.kind;

	for (size_t i = 0; given(kind) && i < input->policy->interfaces.count; i++) {
		const struct value *backend = &interfaces[i].zero_copy.backend;
		bool ovs = kind->word == VSWITCH_OVS;

		if (!given(backend) || (backend->word == BACKEND_OVS) == ovs)
			continue;
		rule_report(run, backend->place,
			    "zero-copy of backend %s, and the host's switch is %s, which "
			    "gets no such command; say backend: %s, or remove zero_copy",
			    backend->text, kind->text, kind->text);
		rule_note(run, kind->place, "kind is %s", kind->text);
	}
}

/* FAULT: what the switch has been given that rules zero-copy out. */
static void exclude(const struct rule_input *input, const struct rule_run *run,
		    const struct value *fault, bool is_fault, const char *what)
{
	const struct policy_interface *interface = zero_copied(input->policy);

	if (!interface || !given(fault) || !is_fault)
		return;
	rule_report(run, interface->zero_copy.place, "%s", what);
	rule_note(run, fault->place, "the host's switch is said to be so here");
}

static void vfio(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *vfio = &input->host_policy->vswitch.vfio;

	exclude(input, run, vfio, vfio->word == VFIO_IOMMU,
		"zero-copy and NICs bound to vfio-pci with an IOMMU, where guest pages "
		"have no mapping: nothing is sent; bind them in no-IOMMU mode, or remove "
		"zero_copy");
}

static void translation(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *iommu = &input->host_policy->vswitch.iommu;

	exclude(input, run, iommu, iommu->number != 0,
		"zero-copy and a switch that translates for a vIOMMU: DPDK refuses the "
		"port; turn the switch's IOMMU support off, or remove zero_copy");
}

static void postcopy(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *postcopy = &input->host_policy->vswitch.postcopy;

	exclude(input, run, postcopy, postcopy->number != 0,
		"zero-copy and postcopy, which DPDK silently drops beside it, so such a "
		"migration fails; turn the switch's postcopy support off, or remove "
		"zero_copy");
}

const struct rule rules_switch[] = {
	{ "zero-copy-switch", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY, match,
	  "zero-copy for another switch than the host has",
	  "The companion's commands are for the backend that zero_copy names; a switch "
	  "of another kind never sees them, and packets are copied in silence." },
	{ "zero-copy-vfio", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY, vfio,
	  "zero-copy with a NIC on vfio-pci with an IOMMU",
	  "\"cannot work with vfio-pci in iommu mode\": the NIC would read guest memory "
	  "that is not mapped for it. At a start the hook reads of the vswitch's nics "
	  "how they are bound. Source: DPDK, prog_guide/vhost_lib (20.08), e3075e969e; "
	  "vhost zero-copy practice." },
	{ "zero-copy-translation", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY,
	  translation, "zero-copy with a switch that translates for a vIOMMU",
	  "\"enabling dequeue zero copy and IOMMU features simultaneously is not "
	  "supported\". See zero-copy-iommu. Source: DPDK c49197ff29." },
	{ "zero-copy-postcopy", DIAG_ERROR, RULE_POLICY, NEEDS_HOST_POLICY, postcopy,
	  "zero-copy with a switch that is to allow postcopy",
	  "DPDK clears the postcopy feature of a port with dequeue zero-copy; Open "
	  "vSwitch's guide names the two as incompatible. Source: DPDK 20.08, socket.c; "
	  "Open vSwitch 2.14, vhost-user guide." },
	{ .id = NULL },
};

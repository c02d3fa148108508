/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts for the switch: testpmd's command line, Open vSwitch's ports. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "edits/companion.h"

/* Source: DPDK, vhost zero-copy practice; Open vSwitch 2.14, vhost-user guide. */
enum { BURST = 32, OVS_TXD = 128, DPDK_NEW_NAMES = 20011000 };

const char *const companion_suffixes[] = {
	[COMPANION_TESTPMD] = ".testpmd.sh",
	[COMPANION_OVS] = ".ovs-vsctl.sh",
};

/* An interface as its switch sees it. */
struct port {
	const struct policy_interface *interface;
	uint64_t version; /* 0: unknown */
	uint64_t queues;
	char *name, *path;
	bool listens; /* the switch does, and the guest is the client */
};

/* Those of one kind of switch. */
struct ports {
	struct port *items;
	size_t count;
};

static void ports_done(struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		free(ports->items[i].name);
		free(ports->items[i].path);
	}
	free(ports->items);
}

static bool is_zero_copy(const struct port *port)
{
	return port->interface->zero_copy.place.line;
}

/* The first that zero_copy is asked for, or NULL. */
static const struct port *first_zero_copy(const struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++)
		if (is_zero_copy(&ports->items[i]))
			return &ports->items[i];
	return NULL;
}

char *companion_name(const char *name)
{
	struct text text = TEXT_INIT;

	for (const char *at = name; *at; at++) {
		unsigned char byte = (unsigned char)*at;
		const char *also = at == name ? "_" : "._-";

		if (byte < 128 && (isalnum(byte) || strchr(also, byte)))
			text_add_bytes(&text, at, 1);
		else
			text_printf(&text, "%%%02X", (unsigned)byte);
	}
	return text_take(&text);
}

/* A word of the shell, whatever is in it. */
static void add_quoted(struct text *text, const char *word)
{
	text_add(text, "'");
	for (; *word; word++)
		if (*word == '\'')
			text_add(text, "'\\''");
		else
			text_add_bytes(text, word, 1);
	text_add(text, "'");
}

/* A string as ovs-vsctl reads values: JSON's. The caller frees it. */
static char *ovs_string(const char *string)
{
	struct text text = TEXT_INIT;

	text_add(&text, "\"");
	for (; *string; string++)
		if (*string == '"' || *string == '\\')
			text_printf(&text, "\\%c", *string);
		else if ((unsigned char)*string < ' ')
			text_printf(&text, "\\u%04x", (unsigned)*string);
		else
			text_add_bytes(&text, string, 1);
	text_add(&text, "\"");
	return text_take(&text);
}

/* What serves the interface: its zero_copy says so, or the host policy does. */
static bool served_by(const struct plan *plan, struct port *port,
		      enum companion *ret_kind)
{
	const struct zero_copy *zero_copy = &port->interface->zero_copy;
	const struct value *version = &zero_copy->version;

	if (given(&zero_copy->backend)) {
		*ret_kind = zero_copy->backend.word == BACKEND_OVS ? COMPANION_OVS
								   : COMPANION_TESTPMD;
	} else if (plan->host_policy && given(&plan->host_policy->vswitch.kind)) {
		*ret_kind = plan->host_policy->vswitch.kind.word == VSWITCH_OVS
				    ? COMPANION_OVS
				    : COMPANION_TESTPMD;
		version = &plan->host_policy->vswitch.version;
	} else {
		return false;
	}
	port->version = given(version) ? version->number : 0;
	return true;
}

static void add_port(struct ports *by_kind, const struct plan *plan,
		     const struct policy_interface *interface, struct diag *diag)
{
	struct port port = { .interface = interface };
	enum companion kind;

	if (!served_by(plan, &port, &kind)) {
		diag_warning(diag, interface->place, "companion",
			     "nothing says what serves interface %s, so no commands are "
			     "written for it; give the host policy's vswitch a kind",
			     interface->name.text);
		return;
	}
	cleanup_free char *name = xasprintf("%s-%s", plan->guest->name,
					    interface->name.text);

	port.name = companion_name(name);
	port.path = policy_expand(interface->source.path.text, plan->guest->name,
				  interface->name.text);
	port.listens = !given(&interface->source.mode) ||
		       interface->source.mode.word == SOCKET_CLIENT;
	port.queues = interfaces_queues(plan, interface);
	if (kind == COMPANION_TESTPMD && strpbrk(port.path, ",=[]()\"'"))
		diag_error(
			diag, interface->source.path.place, "companion",
			"the socket's path %s cannot be written in DPDK's --vdev, where "
			", = [ ] ( ) and quotes part arguments",
			port.path);
	*append(by_kind[kind].items, by_kind[kind].count) = port;
}

static const struct cpuset *pmd_cpus(const struct plan *plan)
{
	const struct host_policy *host = plan->host_policy;

	return host && given(&host->vswitch.pmd_cpus) ? host->vswitch.pmd_cpus.cpus
						      : NULL;
}

/* As a mask in hexadecimal, which is how Open vSwitch takes CPUs. */
static void add_mask(struct text *text, const struct cpuset *cpus)
{
	unsigned last = 0;

	cpuset_foreach (cpu, cpus)
		last = cpu;
	text_add(text, "0x");
	for (unsigned digit = last / 4 + 1; digit-- > 0;)
		text_printf(text, "%x",
			    (unsigned)(cpus->words[digit / 16] >> (digit % 16 * 4)) &
				    0xfU);
}

static void begin(struct text *text, const struct plan *plan, const char *what)
{
	cleanup_free char *guest = companion_name(plan->guest->name);

	text_printf(text,
		    "#!/bin/sh\n"
		    "# %s for guest %s, by vmgen.\n",
		    what, guest);
}

static void add_ovs_port(struct text *text, const struct port *port)
{
	const char *base = strrchr(port->path, '/');
	const char *name = port->listens ? (base ? base + 1 : port->path) : port->name;
	cleanup_free char *path = ovs_string(port->path);
	cleanup_free char *option = xasprintf("options:vhost-server-path=%s", path);

	text_add(text,
		 port->listens
			 ? "\n# The guest is the client: the port's name is the "
			   "socket's, in the switch's own directory.\n"
			 : "\n# The guest is the server, and its start waits until the "
			   "switch connects.\n");
	if (is_zero_copy(port))
		text_add(text, "# dq-zero-copy counts only if set no later than the "
			       "path: one command.\n");
	text_add(text, "ovs-vsctl --may-exist add-port \"$bridge\" ");
	add_quoted(text, name);
	text_add(text, " -- set Interface ");
	add_quoted(text, name);
	if (port->listens) {
		text_add(text, " type=dpdkvhostuser\n");
		return;
	}
	text_add(text, " type=dpdkvhostuserclient");
	if (is_zero_copy(port))
		text_add(text, " options:dq-zero-copy=true");
	text_add(text, " ");
	add_quoted(text, option);
	text_add(text, "\n");
}

/* The NIC's ring, which bounds how many of the guest's buffers can be out. */
static void add_ovs_nic(struct text *text, const struct port *port)
{
	const struct value *txd = &port->interface->zero_copy.nic_txd;

	text_printf(
		text,
		"\n# The NIC holds the guest's buffers until its ring is cleaned, and "
		"the switch cannot\n"
		"# set the free threshold: a small ring instead. NIC is the port of "
		"type dpdk.\n"
		"[ -z \"${NIC:-}\" ] || ovs-vsctl set Interface \"$NIC\" "
		"options:n_txq_desc=%" PRIu64 "\n",
		given(txd) ? txd->number : OVS_TXD);
}

static char *make_ovs(const struct plan *plan, const struct ports *ports)
{
	struct text text = TEXT_INIT;
	const struct port *zero_copied = NULL;

	begin(&text, plan, "Open vSwitch's ports");
	text_add(&text,
		 "# usage: [NIC=PORT] sh FILE [BRIDGE]; again does nothing more\n"
		 "set -eu\nbridge=${1:-br0}\n\n"
		 "# vhost-user ports exist only in the user-space data path.\n"
		 "ovs-vsctl --may-exist add-br \"$bridge\" -- set Bridge \"$bridge\" "
		 "datapath_type=netdev\n");
	if (pmd_cpus(plan)) {
		text_add(&text,
			 "\n# The host policy's pmd_cpus, which no guest is given. "
			 "A port is polled on its guest's node\n"
			 "# if one of them is there.\n"
			 "ovs-vsctl set Open_vSwitch . other_config:pmd-cpu-mask=");
		add_mask(&text, pmd_cpus(plan));
		text_add(&text, "\n");
	}
	for (size_t i = 0; i < ports->count; i++) {
		add_ovs_port(&text, &ports->items[i]);
		if (is_zero_copy(&ports->items[i]))
			zero_copied = &ports->items[i];
	}
	if (zero_copied)
		add_ovs_nic(&text, zero_copied);
	return text_take(&text);
}

static void add_vdevs(struct text *text, const struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct port *port = &ports->items[i];
		cleanup_free char *vdev = xasprintf(
			"net_vhost%zu,iface=%s,queues=%" PRIu64 "%s%s", i, port->path,
			port->queues, port->listens ? "" : ",client=1",
			is_zero_copy(port) ? ",dequeue-zero-copy=1" : "");

		text_add(text, " \\\n\t--vdev ");
		add_quoted(text, vdev);
	}
}

/* Its queues and rings are the same for all ports: the fewest queues, since more than a
 * port has end it, and the first interface's rings. */
static void add_testpmd_rings(struct text *text, const struct ports *ports)
{
	const struct port *zero_copied = first_zero_copy(ports);
	const struct port *first = zero_copied ? zero_copied : ports->items;
	uint64_t queues = UINT64_MAX;

	for (size_t i = 0; i < ports->count; i++)
		queues = size_least(queues, ports->items[i].queues);
	const struct zero_copy *zero_copy = &first->interface->zero_copy;
	const struct value *ring = given(&zero_copy->nic_txd)
					   ? &zero_copy->nic_txd
					   : &first->interface->tx_queue_size;
	uint64_t burst = given(&zero_copy->nic_burst) ? zero_copy->nic_burst.number
						      : BURST;

	text_printf(text, " \\\n\t--rxq=%" PRIu64 " --txq=%" PRIu64, queues, queues);
	if (given(ring))
		text_printf(text, " \\\n\t--rxd=%" PRIu64 " --txd=%" PRIu64, ring->number,
			    ring->number);
	if (zero_copy->place.line && given(ring) && ring->number > burst)
		text_printf(text, " --txfreet=%" PRIu64 " --burst=%" PRIu64,
			    ring->number - burst, burst);
}

/* Its rings are in its source: it takes no sizes. */
static void add_vhost_switch(struct text *text, const struct ports *ports)
{
	text_add(text, "if [ \"${1:-}\" = vhost-switch ]; then # DPDK's example instead\n"
		       "\tshift\n"
		       "\texec \"${VHOST_SWITCH:-vhost-switch}\" \"$@\" -- -p "
		       "\"${PORTMASK:-0x1}\" --dequeue-zero-copy");
	bool client = false;
	for (size_t i = 0; i < ports->count; i++) {
		text_add(text, " \\\n\t\t--socket-file ");
		add_quoted(text, ports->items[i].path);
		client = client || !ports->items[i].listens;
	}
	text_add(text, client ? " --client\nfi\n" : "\nfi\n");
}

static char *make_testpmd(const struct plan *plan, const struct ports *ports)
{
	struct text text = TEXT_INIT;
	const struct cpuset *cpus = pmd_cpus(plan);
	uint64_t version = ports->items[ports->count - 1].version;
	bool zero_copy = first_zero_copy(ports) != NULL;

	begin(&text, plan, "DPDK's testpmd");
	text_add(&text,
		 "# usage: sh FILE [EAL ARGUMENT...], such as -a and the NIC's "
		 "address; TESTPMD_OPTIONS has more\n"
		 "# options of testpmd's own\n#\n"
		 "# queues: as the guest has; more than the switch offers hang its "
		 "start\n");
	if (zero_copy)
		text_add(&text,
			 "# dequeue-zero-copy: the NIC sends from the guest's "
			 "memory (not with vfio-pci and an IOMMU)\n"
			 "# --txd: the NIC's ring is as large as the guest's, else "
			 "one starves the other\n"
			 "# --txfreet: ring less burst, the most that drivers take, "
			 "so that buffers come back early\n");
	else
		text_add(&text,
			 "# Packets are copied: testpmd has no zero-copy from 20.11 "
			 "on, and none was asked for.\n");
	text_add(&text, "set -eu\n");
	if (zero_copy)
		add_vhost_switch(&text, ports);
	text_printf(&text, "exec \"${TESTPMD:-%s}\"",
		    version && version < DPDK_NEW_NAMES ? "testpmd" : "dpdk-testpmd");
	if (cpus && cpuset_count(cpus) > 1) { /* the first one only commands */
		cleanup_free char *list = cpuset_format(cpus);

		text_printf(&text, " -l %s", list);
	}
	add_vdevs(&text, ports);
	text_add(&text, " \\\n\t\"$@\" -- --auto-start");
	if (cpus && cpuset_count(cpus) > 1)
		text_printf(&text, " --nb-cores=%u", cpuset_count(cpus) - 1);
	add_testpmd_rings(&text, ports);
	text_add(&text, " \\\n\t${TESTPMD_OPTIONS:-}\n");
	return text_take(&text);
}

static char *(*const makers[])(const struct plan *plan, const struct ports *ports) = {
	[COMPANION_TESTPMD] = make_testpmd,
	[COMPANION_OVS] = make_ovs,
};

void companion_make(const struct plan *plan, char *ret_scripts[COMPANIONS],
		    struct diag *diag)
{
	const struct policy_interface *interfaces = plan->policy->interfaces.items;
	struct ports by_kind[COMPANIONS] = { { NULL, 0 } };

	for (size_t i = 0; i < plan->policy->interfaces.count; i++)
		add_port(by_kind, plan, &interfaces[i], diag);
	for (size_t i = 0; i < COMPANIONS; i++) {
		ret_scripts[i] = by_kind[i].count ? makers[i](plan, &by_kind[i]) : NULL;
		ports_done(&by_kind[i]);
	}
}

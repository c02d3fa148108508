/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on vhost-user interfaces and their sockets. */
#include <string.h>

#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

/* sun_path of struct sockaddr_un, with its NUL; see unix(7). */
enum { SOCKET_PATH_MAX = 108 };

/* A vhost-user socket that the guest uses, of an interface or a disk. */
struct socket {
	const struct element *source;
	const char *path;
	bool server, disk;
};

static struct socket *sockets_of(const struct guest *guest, size_t *ret_count)
{
	struct socket *sockets = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < guest->n_interfaces; i++) {
		struct element *source = element_child(guest->interfaces[i].element,
						       "source");

		if (text_equal(guest->interfaces[i].type, "vhostuser") && source)
			*append(sockets, *ret_count) = (struct socket){
				source, element_attribute(source, "path"),
				read_is(source, "mode", "server"), false
			};
	}
	for (size_t i = 0; i < guest->n_disks; i++) {
		struct element *source = element_child(guest->disks[i].element, "source");

		if (text_equal(guest->disks[i].type, "vhostuser") && source)
			*append(sockets, *ret_count) = (struct socket){
				source, element_attribute(source, "path"), false, true
			};
	}
	return sockets;
}

static void path(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		struct place place = read_place(input->guest, sockets[i].source, "path");

		if (!sockets[i].path)
			continue;
		if (sockets[i].path[0] != '/')
			rule_report(
				run, place,
				"the socket's path \"%s\" is not absolute, and libvirt's "
				"schema refuses it",
				sockets[i].path);
		else if (strlen(sockets[i].path) >= SOCKET_PATH_MAX)
			rule_report(run, place,
				    "the socket's path is %zu bytes long and the start "
				    "fails; at most %d fit",
				    strlen(sockets[i].path), SOCKET_PATH_MAX - 1);
	}
}

static int socket_order(const void *left, const void *right)
{
	const struct socket *a = left, *b = right;
	int order = strcmp(a->path ? a->path : "", b->path ? b->path : "");

	if (order)
		return order;
	return a->source->start < b->source->start ? -1 : 1;
}

static void repeated(const struct rule_input *input, const struct rule_run *run,
		     bool server)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	if (count)
		qsort(sockets, count, sizeof(*sockets), socket_order);
	for (size_t i = 1; i < count; i++) {
		const struct socket *first = &sockets[i - 1], *second = &sockets[i];

		if (!first->path || !text_equal(first->path, second->path) ||
		    (first->server || second->server) != server)
			continue;
		rule_report(
			run, read_place(input->guest, second->source, "path"),
			server ? "two ends on one socket that the guest itself makes, "
				 "and the start fails; give each a path of its own"
			       : "two devices connect to one socket, which most backends "
				 "serve once; give each a path of its own");
		rule_note(run, read_place(input->guest, first->source, "path"),
			  "the other one");
	}
}

static void path_server(const struct rule_input *input, const struct rule_run *run)
{
	repeated(input, run, true);
}

static void path_shared(const struct rule_input *input, const struct rule_run *run)
{
	repeated(input, run, false);
}

static void mode_missing(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	if (input->libvirt >= 11001000)
		return;
	for (size_t i = 0; i < count; i++)
		if (!sockets[i].disk && !element_attribute(sockets[i].source, "mode"))
			rule_report(run, sockets[i].source->place,
				    "no mode, which libvirt before 11.1.0 refuses; say "
				    "mode='client' if the switch makes the socket, "
				    "'server' if QEMU does");
}

static void reconnect(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	for (size_t i = 0; i < count; i++) {
		struct element *element = element_child(sockets[i].source, "reconnect");

		if (!read_is(element, "enabled", "yes"))
			continue;
		if (sockets[i].server)
			rule_report(run, element->place,
				    "<reconnect> with mode='server', which libvirt "
				    "refuses: a server waits for its peer; remove it");
		else if (!element_attribute(element, "timeout"))
			rule_report(
				run, element->place,
				"<reconnect> without a timeout, which libvirt refuses; "
				"add timeout='10' (seconds)");
	}
}

static void reconnect_missing(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	for (size_t i = 0; i < count; i++)
		if (!sockets[i].server &&
		    !read_is(element_child(sockets[i].source, "reconnect"), "enabled",
			     "yes"))
			rule_report(
				run, sockets[i].source->place,
				"a client without <reconnect>: when the backend restarts "
				"the device is dead until the guest restarts; add "
				"<reconnect enabled='yes' timeout='10'/>");
}

static bool vhostuser(const struct guest_interface *interface)
{
	return text_equal(interface->type, "vhostuser");
}

static void port_mode(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *port = &input->host_policy->vswitch.port;

	for (size_t i = 0; given(port) && i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		bool client = strcmp(port->text, "dpdkvhostuserclient") == 0;
		const char *want = client ? "server" : "client";

		if (!vhostuser(interface) || !interface->mode ||
		    strcmp(interface->mode, want) == 0)
			continue;
		rule_report(run,
			    read_place(input->guest,
				       element_child(interface->element, "source"),
				       "mode"),
			    "mode '%s', and the switch's ports are %s: both ends %s; say "
			    "mode='%s'",
			    interface->mode, port->text,
			    client ? "connect and neither listens"
				   : "listen and neither connects",
			    want);
		rule_note(run, port->place, "port is %s", port->text);
	}
}

static void ignored(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		const struct element *driver = element_child(interface->element,
							     "driver");
		const struct element *bandwidth = element_child(interface->element,
								"bandwidth");

		if (!vhostuser(interface))
			continue;
		if (element_attribute(driver, "name"))
			rule_report(run, read_place(input->guest, driver, "name"),
				    "driver name '%s' has no effect on a vhost-user "
				    "interface; remove it",
				    element_attribute(driver, "name"));
		if (bandwidth)
			rule_report(
				run, bandwidth->place,
				"<bandwidth> has no effect on a vhost-user interface; "
				"limit the port in the switch");
	}
}

static void mtu(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		const struct element *element = element_child(interface->element, "mtu");

		if (vhostuser(interface) && element &&
		    !element_find(interface->element, "target"))
			rule_report(
				run, element->place,
				"<mtu> on a vhost-user interface whose socket is not an "
				"Open vSwitch port fails the start (\"Cannot set "
				"interface MTU on '(null)'\"); set it in the guest, or "
				"name <target dev>");
	}
}

static void waits(const struct rule_input *input, const struct rule_run *run)
{
	size_t count;
	cleanup_free struct socket *sockets = sockets_of(input->guest, &count);

	for (size_t i = 0; i < count; i++)
		if (sockets[i].server && sockets[i].path)
			rule_report(
				run, read_place(input->guest, sockets[i].source, "mode"),
				"each start waits, without a limit, until %s "
				"connects to %s",
				host_policy_peer(input->host_policy), sockets[i].path);
}

static void iommu(const struct rule_input *input, const struct rule_run *run)
{
	const struct value *said = input->host_policy ? &input->host_policy->vswitch.iommu
						      : NULL;

	if (said && given(said) && said->number)
		return;
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];
		const struct element *driver = element_child(interface->element,
							     "driver");

		if (vhostuser(interface) && read_is(driver, "iommu", "on"))
			rule_report(run, read_place(input->guest, driver, "iommu"),
				    "iommu='on' needs a backend that translates (Open "
				    "vSwitch: vhost-iommu-support=true), else the start "
				    "fails; it also rules out zero-copy. If yours does, "
				    "say iommu: yes in the host policy's vswitch");
	}
}

static void model(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < input->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &input->guest->interfaces[i];

		if (!vhostuser(interface))
			continue;
		if (interface->model && !text_starts(interface->model, "virtio"))
			rule_report(
				run, interface->element->place,
				"model '%s' on a vhost-user interface, which only virtio "
				"can be; say <model type='virtio'/>",
				interface->model);
		else if (!interface->model && input->libvirt && input->libvirt < 11001000)
			rule_report(
				run, interface->element->place,
				"a vhost-user interface without a model, which libvirt "
				"before 11.1.0 refuses; add <model type='virtio'/>");
	}
}

const struct rule rules_vhostuser[] = {
	{ "vhost-path", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, path,
	  "a vhost-user socket's path that is relative or too long",
	  "A socket's path has room for 107 bytes: \"UNIX socket path '...' is too "
	  "long\". libvirt's schema takes absolute paths only. Source: unix(7); libvirt "
	  "9.0.0, tried." },
	{ "vhost-path-server", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, path_server,
	  "two devices on a socket that the guest itself makes",
	  "QEMU cannot bind one path twice, and a client of its own server waits for "
	  "itself. Give each device a path of its own. Source: libvirt 9.0.0, tried." },
	{ "vhost-path-shared", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, path_shared,
	  "two devices connect to the same vhost-user socket",
	  "libvirt starts it. A port of a switch serves one device, so traffic goes to "
	  "the one that connected last. Source: libvirt 9.0.0, tried." },
	{ "vhost-mode", DIAG_ERROR, RULE_GUEST, NEEDS_LIBVIRT, mode_missing,
	  "a vhost-user interface that does not say client or server",
	  "Before 11.1.0 libvirt says \"Missing required attribute 'mode'\". client: the "
	  "switch makes the socket (Open vSwitch's dpdkvhostuser, testpmd, VPP); server: "
	  "QEMU makes it and the start waits for the switch (dpdkvhostuserclient). "
	  "Source: libvirt 9.0.0, tried, and the notes on 11.1.0." },
	{ "vhost-waits", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, waits,
	  "a guest that is the socket's server waits for the switch",
	  "QEMU writes \"waiting for connection on: disconnected:unix:...\" to its log "
	  "and virsh start does not return until something connects, be it for ever. "
	  "That is how Open vSwitch's dpdkvhostuserclient works, so it is no error: see "
	  "to it that the port is there before the guest (vmgen --companion writes its "
	  "command). The hook names the socket in the log. Source: libvirt 9.0.0, "
	  "tried." },
	{ "vhost-reconnect", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, reconnect,
	  "reconnect on a server, or without a timeout",
	  "libvirt refuses both. Only a client reconnects. Source: libvirt 9.0.0, tried; "
	  "formatdomain, element reconnect (4.1.0)." },
	{ "vhost-reconnect-missing", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING,
	  reconnect_missing, "a client that does not come back when the backend restarts",
	  "After a restart of the switch a client without <reconnect> stays dead until "
	  "the guest restarts. With it, note that a start hangs while the socket is "
	  "missing (without, it fails with a message). mode='server' with Open vSwitch's "
	  "dpdkvhostuserclient comes back from both sides. Source: VPP issue 1032, "
	  "cloud-hypervisor issue 2593, Red Hat OpenStack Platform 10's NFV guide; "
	  "tried." },
	{ "vhost-port-mode", DIAG_ERROR, RULE_GUEST, NEEDS_HOST_POLICY, port_mode,
	  "guest and switch are both client or both server",
	  "Open vSwitch's dpdkvhostuserclient connects, so the guest must be the server "
	  "(the start then blocks until the switch has connected); dpdkvhostuser "
	  "listens, so the guest must be the client. Two clients fail, two servers wait "
	  "for ever. Source: Open vSwitch, topics/dpdk/vhost-user; ovs_perf issue 30, "
	  "ovs-issues 200." },
	{ "vhost-ignored", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, ignored,
	  "driver name and bandwidth have no effect on vhost-user",
	  "There is no kernel or QEMU data path that they could apply to: libvirt "
	  "ignores the name and says \"setting bandwidth on interfaces of type "
	  "'vhostuser' is not implemented yet\" in its log. Limit the port in the switch "
	  "(ingress_policing_rate). Source: libvirt 9.0.0, tried." },
	{ "vhost-mtu", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, mtu,
	  "an MTU on a vhost-user interface fails the start without an OVS port",
	  "libvirt sets it on the Open vSwitch interface that owns the socket, and fails "
	  "with \"Cannot set interface MTU on '(null)'\" if there is none. Set "
	  "mtu_request on the port and the MTU in the guest. Source: libvirt 9.0.0, "
	  "tried." },
	{ "vhost-iommu", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, iommu,
	  "iommu='on' on vhost-user needs a backend that supports it",
	  "Without VIRTIO_F_ACCESS_PLATFORM in the backend: \"iommu_platform=true is not "
	  "supported by the device\". Open vSwitch needs "
	  "other_config:vhost-iommu-support and a restart; DPDK forbids it together with "
	  "zero-copy and async copies. Leave it off unless the guest's driver needs it. "
	  "Source: DPDK 20.08, socket.c; QEMU, virtio-bus.c." },
	{ "vhost-model", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, model,
	  "a vhost-user interface that is not virtio",
	  "libvirt refuses it: \"vhostuser requires the virtio-net* frontend\"; without "
	  "a model it does so before 11.1.0. Source: libvirt's source, domain_conf.c; "
	  "notes on 11.1.0." },
	{ .id = NULL },
};

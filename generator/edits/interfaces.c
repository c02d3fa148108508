/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vhost-user interfaces: made where the guest lacks them, else brought up to the policy.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/size.h"
#include "base/text.h"
#include "edits/edits.h"

/* QEMU: 2 * queues + 1 virtqueues of at most 1024. */
enum { QUEUES_MAX = 511 };

static const struct guest_interface *interface_of(const struct guest *guest,
						  const char *alias, const char *path)
{
	for (size_t i = 0; i < guest->n_interfaces; i++)
		if (text_equal(guest->interfaces[i].alias, alias))
			return &guest->interfaces[i];
	for (size_t i = 0; i < guest->n_interfaces; i++)
		if (text_equal(guest->interfaces[i].type, "vhostuser") &&
		    text_equal(guest->interfaces[i].path, path))
			return &guest->interfaces[i];
	return NULL;
}

/* "auto" is as many as vCPUs, the back end's limit and QEMU allow; 0: not given. */
static uint64_t queues_wanted(const struct plan *plan,
			      const struct policy_interface *interface)
{
	uint64_t queues = plan->guest->vcpus;

	if (!given(&interface->queues))
		return 0;
	if (interface->queues.word < 0)
		return interface->queues.number;
	if (plan->host_policy && given(&plan->host_policy->vswitch.max_queues))
		queues = size_least(queues, plan->host_policy->vswitch.max_queues.number);
	return size_least(queues, QUEUES_MAX);
}

/* The attribute; NULL: not given. */
static char *queues_of(const struct plan *plan, const struct policy_interface *interface)
{
	uint64_t queues = queues_wanted(plan, interface);

	return queues ? xasprintf("%" PRIu64, queues) : NULL;
}

uint64_t interfaces_queues(const struct plan *plan,
			   const struct policy_interface *interface)
{
	cleanup_free char *alias = guest_alias(interface->name.text);
	cleanup_free char *path = policy_expand(interface->source.path.text,
						plan->guest->name, interface->name.text);
	const struct guest_interface *has = interface_of(plan->guest, alias, path);
	const char *queues = element_attribute(
		element_child(has ? has->element : NULL, "driver"), "queues");
	uint64_t wanted = queues_wanted(plan, interface);
	unsigned long long number;

	return wanted ? wanted : queues && text_number(queues, &number) ? number : 1;
}

/* One queue is what no attribute says, and libvirt drops an attribute that says it. */
static bool queues_implied(const struct guest_interface *has, const char *queues)
{
	const struct element *driver = element_child(has ? has->element : NULL, "driver");

	return text_equal(queues, "1") && !element_attribute(driver, "queues");
}

/* What the policy asks of <driver>; ends with a NULL name. */
enum { DRIVER_WANTS = 3 };

static void driver_wants(const struct policy_interface *interface,
			 const struct guest_interface *has, const char *queues,
			 struct want ret[static DRIVER_WANTS + 1])
{
	size_t n = 0;

	if (queues && !queues_implied(has, queues))
		ret[n++] = (struct want){ "queues", queues, SAME_NUMBER };
	if (given(&interface->rx_queue_size))
		ret[n++] = (struct want){ "rx_queue_size", interface->rx_queue_size.text,
					  SAME_NUMBER };
	if (given(&interface->tx_queue_size))
		ret[n++] = (struct want){ "tx_queue_size", interface->tx_queue_size.text,
					  SAME_NUMBER };
	ret[n] = (struct want){ NULL, NULL, SAME_TEXT };
}

static const char *mode_of(const struct policy_interface *interface)
{
	return given(&interface->source.mode) ? interface->source.mode.text : "client";
}

static const char *on_off(const struct value *flag)
{
	return flag->number ? "on" : "off";
}

static struct element *new_reconnect(const struct policy_interface *interface)
{
	struct element *reconnect = element_new("reconnect");

	element_set(reconnect, "enabled", "yes");
	element_set(reconnect, "timeout", interface->reconnect.text);
	return reconnect;
}

static struct element *new_source(const struct policy_interface *interface,
				  const char *path)
{
	struct element *source = element_new("source");

	element_set(source, "type", "unix");
	element_set(source, "path", path);
	element_set(source, "mode", mode_of(interface));
	if (given(&interface->reconnect))
		element_add(source, new_reconnect(interface));
	return source;
}

static struct element *new_host(const struct policy_interface *interface)
{
	struct element *host = element_new("host");

	element_set(host, "mrg_rxbuf", on_off(&interface->mrg_rxbuf));
	return host;
}

/* NULL: nothing is asked of it. */
static struct element *new_driver(const struct policy_interface *interface,
				  const struct want *wants)
{
	struct element *driver;

	if (!wants->name && !given(&interface->mrg_rxbuf))
		return NULL;
	driver = element_new("driver");
	for (; wants->name; wants++)
		element_set(driver, wants->name, wants->value);
	if (given(&interface->mrg_rxbuf))
		element_add(driver, new_host(interface));
	return driver;
}

static void add_interface(struct edits *edits, const struct plan *plan,
			  const struct policy_interface *interface, const char *alias,
			  const char *path, const struct want *wants)
{
	struct element *element = element_new("interface");
	struct element *driver = new_driver(interface, wants);
	cleanup_free char *why = xasprintf(
		"interface %s: the switch reaches the guest's memory through a "
		"vhost-user socket",
		interface->name.text);

	element_set(element, "type", "vhostuser");
	element_add(element, new_source(interface, path));
	element_set(element_add(element, element_new("model")), "type", "virtio");
	if (driver)
		element_add(element, driver);
	element_set(element_add(element, element_new("alias")), "name", alias);
	edits_child(edits, element_child(plan->guest->domain, "devices"), element,
		    (struct reason){ interface->place, why });
}

/* libvirt refuses a server that reconnects. */
static void tune_reconnect(struct edits *edits, const struct policy_interface *interface,
			   struct element *source, struct reason reason)
{
	struct element *reconnect = element_child(source, "reconnect");
	const struct want wants[] = {
		{ "enabled", "yes", SAME_TEXT },
		{ "timeout", interface->reconnect.text, SAME_NUMBER },
		{ NULL, NULL, SAME_TEXT },
	};

	if (given(&interface->reconnect))
		edits_want(edits, source, reconnect, "reconnect", wants, reason);
	else if (reconnect && text_equal(mode_of(interface), "server"))
		edits_remove(edits, reconnect, reason);
}

static void tune_source(struct edits *edits, const struct policy_interface *interface,
			const struct guest_interface *has, const char *path,
			struct reason reason)
{
	struct element *source = element_child(has->element, "source");
	const struct want wants[] = {
		{ "path", path, SAME_TEXT },
		{ "mode", mode_of(interface), SAME_TEXT },
		{ NULL, NULL, SAME_TEXT },
	};

	if (!source) {
		edits_child(edits, has->element, new_source(interface, path), reason);
		return;
	}
	edits_want(edits, has->element, source, "source", wants, reason);
	tune_reconnect(edits, interface, source, reason);
}

static void tune_driver(struct edits *edits, const struct policy_interface *interface,
			const struct guest_interface *has, const struct want *wants,
			struct reason reason)
{
	struct element *driver = element_child(has->element, "driver");
	const struct want host[] = {
		{ "mrg_rxbuf", on_off(&interface->mrg_rxbuf), SAME_TEXT },
		{ NULL, NULL, SAME_TEXT },
	};

	if (driver) {
		edits_want(edits, has->element, driver, "driver", wants, reason);
		if (given(&interface->mrg_rxbuf))
			edits_want(edits, driver, element_child(driver, "host"), "host",
				   host, reason);
	} else if ((driver = new_driver(interface, wants))) {
		edits_child(edits, has->element, driver, reason);
	}
}

static void tune_interface(struct edits *edits, const struct policy_interface *interface,
			   const struct guest_interface *has, const char *path,
			   const struct want *wants)
{
	struct reason reason = { interface->place, "as the policy tunes this interface" };

	tune_source(edits, interface, has, path, reason);
	tune_driver(edits, interface, has, wants, reason);
}

void edits_interfaces(struct edits *edits, const struct plan *plan)
{
	const struct policy_interface *interfaces = plan->policy->interfaces.items;

	for (size_t i = 0; i < plan->policy->interfaces.count; i++) {
		cleanup_free char *alias = guest_alias(interfaces[i].name.text);
		cleanup_free char *path = policy_expand(interfaces[i].source.path.text,
							plan->guest->name,
							interfaces[i].name.text);
		cleanup_free char *queues = queues_of(plan, &interfaces[i]);
		const struct guest_interface *has = interface_of(plan->guest, alias,
								 path);
		struct want wants[DRIVER_WANTS + 1];

		driver_wants(&interfaces[i], has, queues, wants);
		if (has)
			tune_interface(edits, &interfaces[i], has, path, wants);
		else if (!plan->fixed)
			add_interface(edits, plan, &interfaces[i], alias, path, wants);
	}
}

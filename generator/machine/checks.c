/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must be so on this machine the moment a guest starts. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/records.h"
#include "machine/checks.h"
#include "machine/slice.h"
#include "machine/sockets.h"
#include "machine/sysfs.h"
#include "provision.h"

static void check_listener(const char *path, const char *whose, struct diag *diag)
{
	if (!sockets_listening(path))
		diag_error(
			diag, NOWHERE, "vhost-socket",
			"nothing listens on %s, where the guest is the client; start the "
			"%s first",
			path, whose);
}

static void check_directory(const char *path, struct diag *diag)
{
	cleanup_free char *directory = xstrdup(path);
	char *slash = strrchr(directory, '/');
	struct stat status;

	if (slash)
		*slash = '\0';
	if (stat(directory, &status) || !S_ISDIR(status.st_mode))
		diag_error(diag, NOWHERE, "vhost-socket",
			   "the directory of %s, which the guest makes, is not there",
			   path);
}

static void check_sockets(const struct guest *guest, struct diag *diag)
{
	for (size_t i = 0; i < guest->n_interfaces; i++) {
		const struct guest_interface *interface = &guest->interfaces[i];

		if (!text_equal(interface->type, "vhostuser") || !interface->path)
			continue;
		if (text_equal(interface->mode, "server"))
			check_directory(interface->path, diag);
		else
			check_listener(interface->path, "switch's port", diag);
	}
	for (size_t i = 0; i < guest->n_disks; i++) {
		const struct element *source = element_child(guest->disks[i].element,
							     "source");
		const char *path = element_attribute(source, "path");

		if (text_equal(guest->disks[i].type, "vhostuser") && path)
			check_listener(path, "disk's back end", diag);
	}
}

/* Faults that libvirt starts in silence: the guest hangs, or, of the last one, hears
 * nothing. compile() lets pass what the guest came with; here that must not be. A guest
 * that must not be refused for what it is comes up with the last one. */
static void check_faults(const struct start *start, struct diag *diag)
{
	static const char *const rules[] = { "vhost-queues", "vhost-port-mode",
					     "shm-required" };
	size_t count = diag->count, n_rules = ARRAY_SIZE(rules) - start_is_lenient(start);

	for (size_t i = 0; i < count; i++) {
		const struct finding found = diag->findings[i];

		for (size_t j = 0; j < n_rules; j++)
			if (found.level == DIAG_WARNING &&
			    text_equal(found.rule, rules[j]))
				diag_error(diag, NOWHERE, rules[j], "%s", found.text);
	}
}

void checks_note_waits(const struct start *start, struct diag *diag)
{
	for (size_t i = 0; i < start->guest->n_interfaces; i++) {
		const struct guest_interface *interface = &start->guest->interfaces[i];

		if (text_equal(interface->type, "vhostuser") && interface->path &&
		    text_equal(interface->mode, "server"))
			diag_warning(diag, NOWHERE, "vhost-waits",
				     "the start waits until %s connects to %s",
				     host_policy_peer(start->store.host_policy),
				     interface->path);
	}
}

static bool wants_zero_copy(const struct policy *policy)
{
	const struct policy_interface *interfaces = policy->interfaces.items;

	for (size_t i = 0; i < policy->interfaces.count; i++)
		if (interfaces[i].zero_copy.place.line)
			return true;
	return false;
}

/* On vfio-pci, and not in no-IOMMU mode, in which the kernel names the group. */
static bool behind_iommu(const char *pci)
{
	cleanup_free char *link = xasprintf("/sys/bus/pci/devices/%s/driver", pci);
	cleanup_free char *group = sysfs_text("/sys/bus/pci/devices/%s/iommu_group/name",
					      pci);
	char driver[256] = "";

	if (readlink(link, driver, sizeof(driver) - 1) < 0 ||
	    !text_equal(strrchr(driver, '/'), "/vfio-pci"))
		return false;
	return !text_equal(group, "vfio-noiommu");
}

static void check_nics(const struct start *start, struct diag *diag)
{
	const struct host_policy *owner = start->store.host_policy;

	if (!owner || !wants_zero_copy(start->policy))
		return;
	for (size_t i = 0; i < owner->vswitch.nics.count; i++) {
		const struct value *nic = &owner->vswitch.nics.items[i];

		if (!strchr(nic->text, '/') && behind_iommu(nic->text))
			diag_error(diag, nic->place, "zero-copy-vfio",
				   "the switch's NIC %s is on vfio-pci with an IOMMU, "
				   "where zero-copy sends nothing; bind it in no-IOMMU "
				   "mode",
				   nic->text);
	}
}

static void add_list(struct cpuset *cpus, const struct value *pin)
{
	if (given(pin) && pin->cpus)
		cpuset_or(cpus, pin->cpus);
}

static void check_cpus(const struct start *start, const struct claim *claim,
		       struct diag *diag)
{
	struct cpuset pins = cpulist_set(&claim->vcpus_on), offline, outside, cpus;

	add_list(&pins, &start->policy->cputune.emulatorpin);
	add_list(&pins, &start->policy->cputune.iothreadpin);
	offline = outside = pins;

	if (sysfs_cpus(&cpus, "/sys/devices/system/cpu/online")) {
		cpuset_andnot(&offline, &cpus);
		cleanup_free char *list = cpuset_format(&offline);
		if (*list)
			diag_error(diag, NOWHERE, "pin-offline", "CPU %s is offline",
				   list);
	}
	if (slice_cpus(&cpus, "")) {
		cpuset_andnot(&outside, &cpus);
		cleanup_free char *list = cpuset_format(&outside);
		cleanup_free char *allowed = cpuset_format(&cpus);
		if (*list)
			diag_error(diag, NOWHERE, "pin-slice",
				   "machine.slice may not use CPU %s, only %s; libvirt "
				   "could "
				   "not write the pin",
				   list, allowed);
	}
}

/* Pages that guests which have not started yet will take. */
static uint64_t awaited(const struct start *start, const struct claim_memory *wanted)
{
	const struct claims *claims = start->ledger.claims;
	uint64_t pages = 0;

	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->items[i];

		if (claim->state == CLAIM_RUNNING || claim->state == CLAIM_FAILED ||
		    text_equal(claim->uuid, start->guest->uuid))
			continue;
		for (size_t j = 0; j < claim->n_memory; j++)
			if (claim->memory[j].node == wanted->node &&
			    claim->memory[j].page_size == wanted->page_size)
				pages += claim->memory[j].bytes / wanted->page_size;
	}
	return pages;
}

static void check_pages(const struct start *start, const struct claim_memory *wanted,
			struct diag *diag)
{
	uint64_t free, need, others;

	if (!wanted->page_size ||
	    !sysfs_number(&free,
			  "/sys/devices/system/node/node%u/hugepages/"
			  "hugepages-%" PRIu64 "kB/free_hugepages",
			  wanted->node, wanted->page_size / KIB))
		return;
	need = wanted->bytes / wanted->page_size;
	others = awaited(start, wanted);
	if (free >= need + others)
		return;
	cleanup_free char *size = size_format(wanted->page_size);
	diag_error(diag, NOWHERE, "hugepages-free",
		   "%" PRIu64 " hugepages of %s are needed on node %u, %" PRIu64
		   " are free, of which %" PRIu64 " are for guests that are starting",
		   need, size, wanted->node, free, others);
}

/* Of "/dev/hugepages hugetlbfs rw,pagesize=2M": fields of proc(5)'s mounts. */
static bool is_hugetlbfs(const char *line, uint64_t page_size)
{
	const char *option = strstr(line, "pagesize=");
	cleanup_free char *size = NULL;
	const char *ignored;
	uint64_t bytes;

	if (!strstr(line, " hugetlbfs ") || !option)
		return false;
	option += strlen("pagesize=");
	size = xstrndup(option, strcspn(option, ", "));
	return size_parse(size, &bytes, &ignored) && bytes == page_size;
}

static bool hugetlbfs_mounted(uint64_t page_size)
{
	cleanup_free char *mounts = sysfs_text("/proc/self/mounts");
	char *rest = mounts;

	for (const char *line; (line = strsep(&rest, "\n"));)
		if (is_hugetlbfs(line, page_size))
			return true;
	return !mounts;
}

/* Without the mount libvirt would put the guest on whatever is in its place. */
static void check_mount(const struct guest *guest, uint64_t page_size, struct diag *diag)
{
	const struct element *backing = element_child(guest->domain, "memoryBacking");
	const struct element *source = element_child(backing, "source");

	if (!page_size || !element_child(backing, "hugepages") ||
	    text_equal(element_attribute(source, "type"), "memfd") ||
	    hugetlbfs_mounted(page_size))
		return;
	cleanup_free char *size = size_format(page_size);
	diag_error(diag, NOWHERE, "hugepages-mount",
		   "no hugetlbfs with pages of %s is mounted, so the guest would get no "
		   "hugepages; mount one and restart libvirt's daemon",
		   size);
}

static const struct guest_disk *disk_of(const struct guest *guest,
					const struct element *record)
{
	cleanup_free char *alias = guest_alias(element_attribute(record, "name"));
	const char *file = element_attribute(record, "file");

	for (size_t i = 0; i < guest->n_disks; i++)
		if (text_equal(guest->disks[i].alias, alias) ||
		    (file && text_equal(guest->disks[i].source, file)))
			return &guest->disks[i];
	return NULL;
}

/* A disk that was made must be there: nobody makes another, blank one in its place. One
 * that cannot be reached is libvirt's to tell. */
static void check_disks(const struct guest *guest, struct diag *diag)
{
	for (const struct element *record = records_first(guest); record;
	     record = records_next(record)) {
		const char *name = element_attribute(record, "name");
		const struct guest_disk *disk = name ? disk_of(guest, record) : NULL;

		if (disk && disk->source && disk->source[0] == '/' &&
		    access(disk->source, F_OK) != 0 &&
		    (errno == ENOENT || errno == ENOTDIR))
			provision_say_lost(name, disk->source, guest->name, NOWHERE,
					   diag);
	}
}

bool checks_pass(const struct start *start, struct diag *diag)
{
	size_t errors = diag->errors;
	const struct claim *claim = start->outcome.claim.name
					    ? &start->outcome.claim
					    : claims_find(start->ledger.claims,
							  start->guest->uuid);

	check_faults(start, diag);
	if (start->verdict == VERDICT_PASS || start->verdict == VERDICT_PASS_LIVE)
		check_sockets(start->guest, diag); /* else it is not this that starts */
	check_nics(start, diag);
	check_disks(start->guest, diag);
	if (claim)
		check_cpus(start, claim, diag);
	for (size_t i = 0; claim && i < claim->n_memory; i++) {
		check_pages(start, &claim->memory[i], diag);
		check_mount(start->guest, claim->memory[i].page_size, diag);
	}
	return diag->errors == errors;
}

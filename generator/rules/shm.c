/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on memory that vhost-user and virtiofs share with another process. */
#include <string.h>

#include "base/text.h"
#include "rules/read.h"
#include "rules/rules.h"

static struct element *backing(const struct guest *guest)
{
	return element_find(guest->domain, "memoryBacking");
}

static bool backing_shared(const struct guest *guest)
{
	return read_is(element_child(backing(guest), "access"), "mode", "shared");
}

static bool cell_shared(const struct guest *guest, const struct guest_cell *cell)
{
	return cell->access ? strcmp(cell->access, "shared") == 0 : backing_shared(guest);
}

/* The first cell that is not shared, or NULL. */
static const struct guest_cell *private_cell(const struct guest *guest)
{
	for (size_t i = 0; i < guest->n_cells; i++)
		if (!cell_shared(guest, &guest->cells[i]))
			return &guest->cells[i];
	return NULL;
}

/* The default RAM that QEMU 5.0 gave its machine types is what <access> then shares; the
 * machine "none" has no RAM. */
static bool default_ram(const struct rule_input *input)
{
	return (!input->qemu || input->qemu >= 5000000) &&
	       !text_equal(input->guest->machine, "none");
}

static void need_shared(const struct rule_input *input, const struct rule_run *run,
			struct place place, const char *what)
{
	const struct guest *guest = input->guest;
	const struct guest_cell *cell = private_cell(guest);

	if (cell) {
		rule_report(
			run, place,
			"%s needs shared memory, but cell %u is private, so the other "
			"side cannot read it; give all cells memAccess='shared'",
			what, cell->id);
		rule_note(run, read_place(guest, cell->element, "memAccess"),
			  "the private cell");
	} else if (!guest->n_cells && !backing_shared(guest)) {
		rule_report(run, place,
			    "%s needs shared memory, without it no data flows (libvirt "
			    "11.2.0 refuses the start); add <access mode='shared'/> and "
			    "hugepages or <source type='memfd'/> to <memoryBacking>",
			    what);
	} else if (!guest->n_cells && !default_ram(input)) {
		rule_report(run, place,
			    "%s needs shared memory, which this machine type has only in "
			    "guest NUMA cells; add a <cell> with memAccess='shared'",
			    what);
	}
}

static void shared(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;

	for (size_t i = 0; i < guest->n_interfaces; i++)
		if (text_equal(guest->interfaces[i].type, "vhostuser"))
			need_shared(input, run, guest->interfaces[i].element->place,
				    "a vhost-user interface");
	for (size_t i = 0; i < guest->n_disks; i++)
		if (text_equal(guest->disks[i].type, "vhostuser"))
			need_shared(input, run, guest->disks[i].element->place,
				    "a vhost-user disk");
	element_foreach (fs, element_find(guest->domain, "devices"), "filesystem")
		if (read_is(element_child(fs, "driver"), "type", "virtiofs"))
			need_shared(input, run, fs->place, "virtiofs");
}

static void on_disk(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *which = element_child(backing(guest), "access");
	bool any = backing_shared(guest);

	for (size_t i = 0; i < guest->n_cells && !any; i++) {
		any = cell_shared(guest, &guest->cells[i]);
		which = guest->cells[i].element;
	}
	if (!any || element_child(backing(guest), "hugepages") ||
	    read_is(element_child(backing(guest), "source"), "type", "memfd"))
		return;
	rule_report(run, which->place,
		    "shared memory with neither hugepages nor memfd is a file in "
		    "/var/lib/libvirt/qemu/ram, so guest memory is written to disk; add "
		    "<source type='memfd'/> or hugepages");
}

const struct rule rules_shm[] = {
	{ "shm-required", DIAG_ERROR, RULE_GUEST, NEEDS_NOTHING, shared,
	  "vhost-user or virtiofs without shared memory: it starts, and no data flows",
	  "The other process maps the guest's memory. It is shared if each cell has "
	  "memAccess='shared' (or none, and <memoryBacking> has <access "
	  "mode='shared'/>); in a guest without cells if <memoryBacking> says so. One "
	  "private cell is enough to break it. libvirt before 11.2.0 starts such a guest "
	  "with at most a warning (and warns of right ones with memfd); from 11.2.0 it "
	  "refuses, as it always did for vhost-user disks and virtiofs. Source: libvirt, "
	  "qemuValidateDomainDefVhostUserRequireSharedMemory; tried; kata-containers "
	  "runtime issue 2187, bess issue 846, cloud-hypervisor issue 848, ovs-issues "
	  "200." },
	{ "shm-disk", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, on_disk,
	  "shared memory that is a file on disk",
	  "With neither hugepages nor <source type='memfd'/> libvirt backs shared memory "
	  "by a file below /var/lib/libvirt/qemu/ram, normally on a disk: it works, and "
	  "the host writes guest memory back all the time. Add memfd (libvirt 4.10.0) or "
	  "hugepages. Source: libvirt 9.0.0, tried." },
	{ .id = NULL },
};

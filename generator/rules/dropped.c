/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules on what libvirt knows, and yet drops or overrides without a word. */
#include "base/size.h"
#include "rules/read.h"
#include "rules/rules.h"

/* Of each of these libvirt reads the first. */
static const struct single {
	const char *path;
	const char *const *children;
} singles[] = {
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
	{ "", NAMES("memory", "currentMemory", "vcpu", "iothreads", "cpu") },
	{ "cpu", NAMES("topology", "numa") },
	{ "memoryBacking", NAMES("source", "access", "allocation") },
	{ "numatune", NAMES("memory") },
	{ "devices/disk", NAMES("driver", "source", "target") },
	{ "devices/interface", NAMES("driver", "source", "model", "mac") },
#undef NAMES
};

struct visit {
	const struct rule_run *run;
	const struct single *row;
};

static void visit_single(const struct element *element, void *context)
{
	const struct visit *visit = context;

	for (const char *const *name = visit->row->children; *name; name++) {
		const struct element *first = element_child(element, *name);
		const struct element *second = NULL;

		element_foreach (child, element, *name)
			if (!second && child != first)
				second = child;
		if (!second)
			continue;
		rule_report(
			visit->run, second->place,
			"a second <%s> in <%s>, which libvirt drops without a word; put "
			"what it says into the first",
			*name, element->name);
		rule_note(visit->run, first->place, "the first, which is read");
	}
}

static void twice(const struct rule_input *input, const struct rule_run *run)
{
	for (size_t i = 0; i < ARRAY_SIZE(singles); i++) {
		struct visit visit = { run, &singles[i] };

		read_each(input->guest->domain, singles[i].path, visit_single, &visit);
	}
}

static void check_auto(const struct rule_input *input, const struct rule_run *run,
		       const char *path, const char *attribute)
{
	const struct element *element = element_find(input->guest->domain, path);

	if (!element || !read_is(element, "placement", "auto") ||
	    !element_attribute(element, attribute))
		return;
	rule_report(
		run, read_place(input->guest, element, attribute),
		"with placement='auto' libvirt drops %s without a word and takes what "
		"numad says; write placement='static', or remove %s",
		attribute, attribute);
}

static void placement_auto(const struct rule_input *input, const struct rule_run *run)
{
	check_auto(input, run, "vcpu", "cpuset");
	check_auto(input, run, "numatune/memory", "nodeset");
}

/* Where cells make <memory> less, numa-cells-memory says so; DIMMs and the like come on
 * top of it. */
static void current(const struct rule_input *input, const struct rule_run *run)
{
	const struct guest *guest = input->guest;
	const struct element *memory = element_child(guest->domain, "currentMemory");
	uint64_t said = read_content_size(element_child(guest->domain, "memory"));
	uint64_t bytes = read_content_size(memory);
	uint64_t most = said > guest->memory ? said : guest->memory;

	if (bytes <= most || element_find(guest->domain, "devices/memory"))
		return;
	cleanup_free char *got = size_format(most), *want = size_format(bytes);

	rule_report(
		run, memory->place,
		"<currentMemory> asks for %s, and libvirt lowers it to the guest's %s "
		"without a word; raise <memory>, or leave <currentMemory> out",
		want, got);
}

static void iothread_count(const struct rule_input *input, const struct rule_run *run)
{
	const struct element *domain = input->guest->domain;
	const struct element *iothreads = element_child(domain, "iothreads");
	const struct element *ids = element_child(domain, "iothreadids");
	unsigned long long number, listed = 0;

	if (!iothreads || !ids || !read_content(iothreads, &number))
		return;
	element_foreach (iothread, ids, "iothread")
		listed++;
	if (listed > number)
		rule_report(
			run, iothreads->place,
			"<iothreadids> lists %llu I/O threads, and libvirt makes so many "
			"whatever <iothreads> says; make them agree",
			listed);
}

const struct rule rules_dropped[] = {
	{ "element-twice", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, twice,
	  "an element that libvirt reads once, given twice",
	  "libvirt reads the first and forgets the other, unless it is told to validate "
	  "(virsh define --validate); which one an editor or a script meant nobody "
	  "knows. Looked at are memory, vCPUs, I/O threads, the CPU's topology and "
	  "cells, memory backing and binding, and what disks and interfaces are made "
	  "of. Source: libvirt 9.0.0, tried." },
	{ "auto-dropped", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, placement_auto,
	  "CPUs or nodes beside placement='auto', which drops them",
	  "numad's advice takes the place of <vcpu>'s cpuset and of <numatune>'s "
	  "nodeset, and the next dump of the domain no longer has them. Say "
	  "placement='static' where the sets are meant. See numa-auto. Source: libvirt "
	  "9.0.0, tried; formatdomain, element vcpu." },
	{ "memory-current", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, current,
	  "more current memory than the guest has",
	  "A balloon takes memory from the guest and gives it back; it gives none that "
	  "<memory> does not have, so libvirt writes <memory>'s figure into "
	  "<currentMemory>. Often the units differ: both are KiB where none is given. "
	  "Source: libvirt 9.0.0, tried." },
	{ "iothread-count", DIAG_WARNING, RULE_GUEST, NEEDS_NOTHING, iothread_count,
	  "fewer I/O threads than are listed",
	  "libvirt makes a thread for each <iothread> of <iothreadids>, and raises "
	  "<iothreads> to their number; where that is higher it makes up ids for the "
	  "rest. Source: libvirt 9.0.0, tried." },
	{ .id = NULL },
};

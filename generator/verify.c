/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a running guest sits where it should. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/value.h"
#include "verify.h"

void seen_done(struct seen *seen)
{
	for (size_t i = 0; i < seen->n_threads; i++)
		free(seen->threads[i].name);
	for (size_t i = 0; i < seen->n_memory; i++)
		free(seen->memory[i].pages);
	free(seen->threads);
	free(seen->memory);
}

void verdict_done(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->count; i++) {
		free(verdict->items[i].what);
		free(verdict->items[i].wanted);
		free(verdict->items[i].got);
	}
	free(verdict->items);
}

/* Takes the strings. */
static void judge(struct verdict *verdict, char *what, char *wanted, char *got, bool good)
{
	*append(verdict->items, verdict->count) = (struct seat){ what, wanted, got,
								 good };
	verdict->wrong += !good;
}

static bool parse_cpus(const char *text, struct cpuset *ret)
{
	return text && cpuset_parse(text, ret, NULL, NULL);
}

/* Where the XML wants a thread; false when it does not say. */
static bool wish(const struct guest *guest, const struct guest_pin *pin,
		 struct cpuset *ret)
{
	const struct element *vcpu = element_child(guest->domain, "vcpu");

	if (!pin->element)
		return parse_cpus(element_attribute(vcpu, "cpuset"), ret);
	*ret = pin->cpus;
	return true;
}

/* " fifo 1", or "" for a thread that no real-time scheduler was asked for. */
static char *scheduler_wanted(const struct guest *guest, unsigned vcpu)
{
	const struct element *cputune = element_child(guest->domain, "cputune");
	struct cpuset vcpus;

	element_foreach (sched, cputune, "vcpusched") {
		const char *name = element_attribute(sched, "scheduler");
		const char *priority = element_attribute(sched, "priority");

		if (name && parse_cpus(element_attribute(sched, "vcpus"), &vcpus) &&
		    cpuset_has(&vcpus, vcpu))
			return xasprintf(" %s %s", name, priority ? priority : "0");
	}
	return xstrdup("");
}

static char *scheduler_got(const struct seen_thread *thread, bool asked)
{
	return asked ? xasprintf(" %s %u", thread->scheduler, thread->priority)
		     : xstrdup("");
}

/* THREAD against CPUS; ALL: it must have all of them, else it may have fewer. */
static void judge_thread(struct verdict *verdict, const struct seen_thread *thread,
			 const char *what, const struct cpuset *cpus, bool all,
			 const char *scheduler)
{
	cleanup_free char *wanted = cpuset_format(cpus);
	cleanup_free char *got = cpuset_format(&thread->cpus);
	cleanup_free char *cgroup = cpuset_format(&thread->cgroup);
	cleanup_free char *has = scheduler_got(thread, *scheduler != '\0');
	bool seated = all ? cpuset_equal(&thread->cpus, cpus)
			  : cpuset_subset(&thread->cpus, cpus);
	bool fenced = !seated && !cpuset_empty(&thread->cgroup) &&
		      !cpuset_subset(cpus, &thread->cgroup);

	judge(verdict, xstrdup(what), xasprintf("%s%s", wanted, scheduler),
	      xasprintf("%s%s%s%s%s", got, has, fenced ? " (its cgroup allows only " : "",
			fenced ? cgroup : "", fenced ? ")" : ""),
	      seated && text_equal(has, scheduler));
}

/* NAME is all of it, or ends in a slash and what follows may be anything: KVM or TCG. */
static const struct seen_thread *thread_named(const struct seen *seen, const char *name)
{
	bool prefix = name[strlen(name) - 1] == '/';

	for (size_t i = 0; i < seen->n_threads; i++)
		if (prefix ? text_starts(seen->threads[i].name, name)
			   : text_equal(seen->threads[i].name, name))
			return &seen->threads[i];
	return NULL;
}

static void judge_vcpu(struct verdict *verdict, const struct guest *guest,
		       const struct seen *seen, unsigned vcpu)
{
	cleanup_free char *name = xasprintf("CPU %u/", vcpu);
	const struct seen_thread *thread = thread_named(seen, name);
	cleanup_free char *scheduler = scheduler_wanted(guest, vcpu);
	struct cpuset cpus;

	if (!wish(guest, &guest->vcpupin[vcpu], &cpus))
		return;
	if (thread)
		judge_thread(verdict, thread, thread->name, &cpus, true, scheduler);
	else if (vcpu < guest->online) /* else one that may yet be plugged in */
		judge(verdict, xasprintf("CPU %u", vcpu), cpuset_format(&cpus),
		      xstrdup("no thread of its own"), false);
}

static void judge_iothread(struct verdict *verdict, const struct guest *guest,
			   const struct seen *seen, const struct guest_iothread *iothread)
{
	cleanup_free char *name = xasprintf("IO iothread%u", iothread->id);
	const struct seen_thread *thread = thread_named(seen, name);
	struct cpuset cpus;

	if (!wish(guest, &iothread->pin, &cpus))
		return;
	if (thread)
		judge_thread(verdict, thread, name, &cpus, true, "");
	else
		judge(verdict, xstrdup(name), cpuset_format(&cpus),
		      xstrdup("no such thread"), false);
}

/* QEMU's other threads run where the one that made them runs: the emulator, or an I/O
 * thread. vhost workers move the guest's packets, so they are always told of; thread
 * contexts
 * ("TC ...") only clear memory before the guest starts, on the nodes that it is on. */
static void judge_helpers(struct verdict *verdict, const struct guest *guest,
			  const struct seen *seen, const struct cpuset *emulator)
{
	struct cpuset allowed = *emulator;

	for (size_t i = 0; i < guest->n_iothreads; i++) {
		struct cpuset cpus;

		if (!wish(guest, &guest->iothreads[i].pin, &cpus))
			return;
		cpuset_or(&allowed, &cpus);
	}
	for (size_t i = 1; i < seen->n_threads; i++) {
		const struct seen_thread *thread = &seen->threads[i];
		bool vhost = text_starts(thread->name, "vhost-");

		if (text_starts(thread->name, "CPU ") ||
		    text_starts(thread->name, "IO iothread") ||
		    text_starts(thread->name, "TC "))
			continue;
		if (vhost || !cpuset_subset(&thread->cpus, &allowed))
			judge_thread(verdict, thread, thread->name,
				     vhost ? emulator : &allowed, false, "");
	}
}

static void judge_emulator(struct verdict *verdict, const struct guest *guest,
			   const struct seen *seen)
{
	struct cpuset cpus;

	if (!seen->n_threads || !wish(guest, &guest->emulatorpin, &cpus))
		return;
	judge_thread(verdict, &seen->threads[0], "emulator", &cpus, true, "");
	judge_helpers(verdict, guest, seen, &cpus);
}

/* What the XML wants of a piece of the guest's memory. */
struct memory_wish {
	char *what;
	uint64_t bytes;
	uint64_t page_size; /* 0: it does not say */
	bool bound;
	bool may_stray; /* preferred: pages elsewhere are not wrong */
	struct cpuset nodes;
};

static bool read_nodes(const struct element *element, struct memory_wish *wish)
{
	if (!parse_cpus(element_attribute(element, "nodeset"), &wish->nodes))
		return false;
	wish->may_stray = text_equal(element_attribute(element, "mode"), "preferred");
	return true;
}

static const struct element *memnode_of(const struct guest *guest, unsigned cell)
{
	const struct element *numatune = element_child(guest->domain, "numatune");

	element_foreach (memnode, numatune, "memnode") {
		unsigned long long id;
		const char *text = element_attribute(memnode, "cellid");

		if (text && text_number(text, &id) && id == cell)
			return memnode;
	}
	return NULL;
}

/* The page size for CELL: of the <page> that names it, else of the one that names none.
 */
static uint64_t page_size(const struct guest *guest, unsigned cell)
{
	const struct element *hugepages = element_find(guest->domain,
						       "memoryBacking/hugepages");
	cleanup_diag struct diag quiet = DIAG_INIT;
	struct reader reader = { guest->doc, &quiet };
	uint64_t size = 0, found = 0;
	struct cpuset cells;

	element_foreach (page, hugepages, "page") {
		const char *nodeset = element_attribute(page, "nodeset");

		if (!value_size(&reader, value_attribute(page, "size"),
				element_attribute(page, "unit"), &size))
			continue;
		if (!nodeset && !found)
			found = size;
		if (parse_cpus(nodeset, &cells) && cpuset_has(&cells, cell))
			return size;
	}
	return found;
}

static bool fits(const struct seen_memory *memory, const struct memory_wish *wish)
{
	uint64_t known = memory->page_size ? memory->page_size : wish->page_size;
	uint64_t page = known ? known : 1;

	return memory->bytes == (wish->bytes + page - 1) / page * page;
}

static struct cpuset nodes_of(const struct seen_memory *memory)
{
	struct cpuset nodes = CPUSET_INIT;

	for (size_t i = 0; i < memory->n_pages; i++)
		if (memory->pages[i].count)
			cpuset_set(&nodes, memory->pages[i].node);
	return nodes;
}

static bool at_home(const struct seen_memory *memory, const struct memory_wish *wish)
{
	struct cpuset nodes = nodes_of(memory);

	if (wish->page_size && memory->page_size && memory->page_size != wish->page_size)
		return false;
	if (!wish->bound || wish->may_stray)
		return true;
	return cpuset_subset(cpuset_empty(&nodes) ? &memory->bound : &nodes,
			     &wish->nodes);
}

/* "node 1, pages of 1 GiB" */
static char *place_text(const struct cpuset *nodes, uint64_t page)
{
	cleanup_free char *list = cpuset_format(nodes);
	cleanup_free char *size = page ? size_format(page) : NULL;

	return xasprintf("%s%s%s%s%s", *list ? "node " : "", list,
			 *list && size ? ", " : "", size ? "pages of " : "",
			 size ? size : "");
}

static char *got_text(const struct seen_memory *memory, const struct memory_wish *wish)
{
	struct cpuset nodes = nodes_of(memory);
	bool untouched = cpuset_empty(&nodes);
	cleanup_free char *where = place_text(untouched ? &memory->bound : &nodes,
					      wish->page_size ? memory->page_size : 0);
	cleanup_text struct text text = TEXT_INIT;

	text_printf(&text, "%s%s", where, untouched ? ", not touched yet" : "");
	if (!untouched && cpuset_count(&nodes) > 1)
		for (size_t i = 0; i < memory->n_pages; i++)
			text_printf(&text, "%s%" PRIu64 " on %u", i ? ", " : ": ",
				    memory->pages[i].count, memory->pages[i].node);
	return text_take(&text);
}

/* What CELL, or the guest, wants; WHAT is taken. */
static struct memory_wish wish_of(const struct guest *guest, unsigned cell,
				  uint64_t bytes, char *what)
{
	struct memory_wish wish = { .what = what, .bytes = bytes };

	wish.page_size = page_size(guest, cell);
	wish.bound = read_nodes(memnode_of(guest, cell), &wish) ||
		     read_nodes(element_find(guest->domain, "numatune/memory"), &wish);
	return wish;
}

/* The wishes, and which mapping is judged by which. */
struct pieces {
	struct memory_wish *wishes;
	const struct seen_memory **has;
	size_t count;
};

static void pieces_done(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		free(pieces->wishes[i].what);
	free(pieces->wishes);
	free(pieces->has);
}

static void pieces_init(struct pieces *pieces, const struct guest *guest)
{
	if (!guest->n_cells)
		*append(pieces->wishes, pieces->count) = wish_of(guest, 0, guest->memory,
								 xstrdup("memory"));
	for (size_t i = 0; i < guest->n_cells; i++) {
		const struct guest_cell *cell = &guest->cells[i];

		*append(pieces->wishes, pieces->count) = wish_of(
			guest, cell->id, cell->memory,
			xasprintf("memory of cell %u", cell->id));
	}
	pieces->has = xcalloc(pieces->count, sizeof(const struct seen_memory *));
}

static bool is_taken(const struct pieces *pieces, const struct seen_memory *memory)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->has[i] == memory)
			return true;
	return false;
}

/* Gives each piece a mapping of its size that nobody has; RIGHT: only one that is as it
 * should be. */
static void deal(struct pieces *pieces, const struct seen *seen, bool right)
{
	for (size_t i = 0; i < pieces->count; i++)
		for (size_t j = 0; !pieces->has[i] && j < seen->n_memory; j++) {
			const struct seen_memory *memory = &seen->memory[j];

			if (fits(memory, &pieces->wishes[i]) &&
			    !is_taken(pieces, memory) &&
			    (!right || at_home(memory, &pieces->wishes[i])))
				pieces->has[i] = memory;
		}
}

static void judge_memory(struct verdict *verdict, const struct guest *guest,
			 const struct seen *seen)
{
	cleanup(pieces_done) struct pieces pieces = { NULL, NULL, 0 };

	/* cells of one size cannot be told apart: the wrong ones are those left over */
	pieces_init(&pieces, guest);
	deal(&pieces, seen, true);
	deal(&pieces, seen, false);
	for (size_t i = 0; i < pieces.count; i++) {
		const struct memory_wish *wish = &pieces.wishes[i];
		const struct seen_memory *has = pieces.has[i];
		cleanup_free char *size = size_format(wish->bytes);

		if (wish->bound || wish->page_size)
			judge(verdict, xasprintf("%s, %s", wish->what, size),
			      place_text(&wish->nodes, wish->page_size),
			      has ? got_text(has, wish)
				  : xstrdup("no mapping of that size"),
			      has && at_home(has, wish));
	}
}

struct verdict verify(const struct guest *wanted, const struct seen *seen)
{
	struct verdict verdict = { NULL, 0, 0 };

	for (unsigned i = 0; i < wanted->vcpus; i++)
		judge_vcpu(&verdict, wanted, seen, i);
	judge_emulator(&verdict, wanted, seen);
	for (size_t i = 0; i < wanted->n_iothreads; i++)
		judge_iothread(&verdict, wanted, seen, &wanted->iothreads[i]);
	if (seen->memory_known)
		judge_memory(&verdict, wanted, seen);
	return verdict;
}

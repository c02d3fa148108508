/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wanted of a guest beside what is seen: one thing wrong, and just that is told.
 */
#include "base/size.h"
#include "base/text.h"
#include "tap.h"
#include "verify.h"

static const char domain[] =
	"<domain type='kvm'><name>db1</name><memory unit='GiB'>8</memory>"
	"<memoryBacking><hugepages><page size='2' unit='MiB'/>"
	"<page size='1' unit='GiB' nodeset='1'/></hugepages></memoryBacking>"
	"<vcpu current='2'>3</vcpu><iothreads>2</iothreads>"
	"<iothreadids><iothread id='1'/><iothread id='10'/></iothreadids>"
	"<cputune>"
	"<vcpupin vcpu='0' cpuset='4'/><vcpupin vcpu='1' cpuset='5'/>"
	"<vcpupin vcpu='2' cpuset='6'/><emulatorpin cpuset='0-1'/>"
	"<iothreadpin iothread='1' cpuset='2'/><iothreadpin iothread='10' cpuset='3'/>"
	"<vcpusched vcpus='1' scheduler='fifo' priority='1'/>"
	"</cputune>"
	"<numatune><memory mode='strict' nodeset='0-1'/>"
	"<memnode cellid='0' mode='strict' nodeset='0'/>"
	"<memnode cellid='1' mode='preferred' nodeset='1'/></numatune>"
	"<cpu><numa><cell id='0' cpus='0-1' memory='4' unit='GiB'/>"
	"<cell id='1' cpus='2' memory='4' unit='GiB'/></numa></cpu></domain>";

static struct cpuset cpus(const char *list)
{
	struct cpuset set = CPUSET_INIT;

	if (*list)
		cpuset_parse(list, &set, NULL, NULL);
	return set;
}

enum { PROCESS, IO10, IO1, VCPU0, VCPU1, CONTEXT, HELPER, VHOST, THREADS };

static void thread(struct seen *seen, const char *name, const char *list)
{
	unsigned tid = 100 + (unsigned)seen->n_threads;

	*append(seen->threads, seen->n_threads) = (struct seen_thread){
		.tid = tid,
		.name = xstrdup(name),
		.cpus = cpus(list),
		.scheduler = "other",
	};
}

static void mapping(struct seen *seen, uint64_t bytes, uint64_t page, unsigned node)
{
	struct seen_memory *memory = append(seen->memory, seen->n_memory);

	*memory = (struct seen_memory){ .bytes = bytes, .page_size = page };
	cpuset_set(&memory->bound, node);
	*append(memory->pages, memory->n_pages) = (struct seen_pages){ node, 7 };
}

static struct seen right(void)
{
	struct seen seen = { .pid = 100, .memory_known = true };

	thread(&seen, "qemu-system-x86", "0-1");
	thread(&seen, "IO iothread10", "3");
	thread(&seen, "IO iothread1", "2");
	thread(&seen, "CPU 0/KVM", "4");
	thread(&seen, "CPU 1/KVM", "5");
	thread(&seen, "TC tc-ram0", "0-7");
	thread(&seen, "worker", "3");
	thread(&seen, "vhost-100", "0");
	seen.threads[VCPU1].scheduler = "fifo";
	seen.threads[VCPU1].priority = 1;
	mapping(&seen, 64 * MIB, 4 * KIB, 1);
	mapping(&seen, 4 * GIB, GIB, 1);
	mapping(&seen, 4 * GIB, 2 * MIB, 0);
	return seen;
}

/* The wrong ones, a line each. */
static char *wrong(const struct guest *guest, const struct seen *seen, size_t *ret_count)
{
	cleanup_verdict struct verdict verdict = verify(guest, seen);
	struct text text = TEXT_INIT;

	*ret_count = verdict.count;
	for (size_t i = 0; i < verdict.count; i++)
		if (!verdict.items[i].good)
			text_printf(&text, "%s%s: %s: %s", text.length ? "\n" : "",
				    verdict.items[i].what, verdict.items[i].wanted,
				    verdict.items[i].got);
	return text_take(&text);
}

static void move(struct seen *seen, unsigned which, const char *list)
{
	seen->threads[which].cpus = cpus(list);
}

static void rename_thread(struct seen *seen, unsigned which, const char *name)
{
	free(seen->threads[which].name);
	seen->threads[which].name = xstrdup(name);
}

static void stray(struct seen_memory *memory, unsigned node)
{
	*append(memory->pages, memory->n_pages) = (struct seen_pages){ node, 1 };
}

static void untouched(struct seen_memory *memory, const char *bound)
{
	memory->n_pages = 0;
	memory->bound = cpus(bound);
}

/* CHANGE makes one thing wrong with what is seen, and EXPECTED is what is told. */
#define WRONG(guest, expected, why, change)                              \
	do {                                                             \
		cleanup_seen struct seen seen = right();                 \
		struct seen_memory *huge = &seen.memory[1];              \
		struct seen_memory *strict = &seen.memory[2];            \
		size_t count;                                            \
		(void)huge;                                              \
		(void)strict;                                            \
		change;                                                  \
		cleanup_free char *told = wrong((guest), &seen, &count); \
		is(told, (expected), "%s", (why));                       \
	} while (0)

static void threads(const struct guest *guest)
{
	WRONG(guest, "CPU 1/KVM: 5 fifo 1: 4 fifo 1", "a vCPU elsewhere",
	      move(&seen, VCPU1, "4"));
	WRONG(guest, "CPU 0/KVM: 4: 4-5", "a vCPU that may run on more",
	      move(&seen, VCPU0, "4-5"));
	WRONG(guest, "emulator: 0-1: 1", "an emulator that may run on less",
	      move(&seen, PROCESS, "1"));
	WRONG(guest, "IO iothread10: 3: 2", "the I/O thread 10, not 1",
	      move(&seen, IO10, "2"));
	WRONG(guest, "IO iothread1: 2: no such thread", "an I/O thread that is missing",
	      rename_thread(&seen, IO1, "gone"));
	WRONG(guest, "vhost-100: 0-1: 4", "a vhost worker on a vCPU",
	      move(&seen, VHOST, "4"));
	WRONG(guest, "worker: 0-3: 4", "a helper on a vCPU", move(&seen, HELPER, "4"));
	WRONG(guest, "CPU 0: 4: no thread of its own", "one thread for all vCPUs",
	      rename_thread(&seen, VCPU0, "CPU 00/TCG"));
	WRONG(guest, "CPU 1/KVM: 5 fifo 1: 5 other 0", "a scheduler that was lost",
	      seen.threads[VCPU1].scheduler = "other";
	      seen.threads[VCPU1].priority = 0);
	WRONG(guest, "CPU 1/KVM: 5 fifo 1: 5 fifo 2", "another priority",
	      seen.threads[VCPU1].priority = 2);
	WRONG(guest, "CPU 0/KVM: 4: 3 (its cgroup allows only 0-3)",
	      "a cgroup that keeps it away", move(&seen, VCPU0, "3");
	      seen.threads[VCPU0].cgroup = cpus("0-3"));
}

static void memory(const struct guest *guest)
{
	WRONG(guest,
	      "memory of cell 0, 4 GiB: node 0, pages of 2 MiB: node 0-1, pages of 2 "
	      "MiB: "
	      "7 on 0, 1 on 1",
	      "pages on another node", stray(strict, 1));
	WRONG(guest, "", "preferred pages may stray", stray(huge, 0));
	WRONG(guest,
	      "memory of cell 0, 4 GiB: node 0, pages of 2 MiB: node 0, pages of 4 KiB",
	      "normal pages", strict->page_size = 4 * KIB);
	WRONG(guest,
	      "memory of cell 0, 4 GiB: node 0, pages of 2 MiB: node 0-1, pages of 2 "
	      "MiB, "
	      "not touched yet",
	      "free to come from elsewhere", untouched(strict, "0-1"));
	WRONG(guest, "", "not touched, but bound", untouched(strict, "0"));
	WRONG(guest,
	      "memory of cell 0, 4 GiB: node 0, pages of 2 MiB: no mapping of that size",
	      "no memory of that size", strict->bytes = GIB);
	WRONG(guest, "", "memory that may not be looked at", strict->bytes = GIB;
	      seen.memory_known = false);
}

/* Nothing is wanted of a guest whose XML says nothing. */
static void silent(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	static const char xml[] =
		"<domain type='kvm'><name>a</name><memory>4194304</memory>"
		"<vcpu>2</vcpu></domain>";
	cleanup_doc struct doc *doc = doc_parse("a", xml, strlen(xml), &diag);
	cleanup_guest struct guest *guest = guest_read(doc, &diag);
	cleanup_seen struct seen seen = right();
	size_t count;
	cleanup_free char *told = wrong(guest, &seen, &count);

	ok(count == 0, "what the XML leaves open is not judged");
}

int main(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_doc struct doc *doc = doc_parse("db1", domain, strlen(domain), &diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, &diag) : NULL;

	if (!ok(guest != NULL, "the guest is read"))
		return tap_done();
	cleanup_seen struct seen seen = right();
	size_t count;
	cleanup_free char *told = wrong(guest, &seen, &count);
	is(told, "", "all is right");
	ok(count == 8, "2 vCPUs, emulator, 2 I/O threads, vhost, 2 cells are judged");
	threads(guest);
	memory(guest);
	silent();
	return tap_done();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a running guest sits where it should: what is wanted of each thread and of its
 * memory beside what the kernel says. Pure; machine/observe.h looks.
 */
#ifndef VMGEN_VERIFY_H
#define VMGEN_VERIFY_H

#include "base/cpuset.h"
#include "base/diag.h"
#include "guest/guest.h"

/* A thread of QEMU, or a kernel thread that works for it (vhost before Linux 6.4). */
struct seen_thread {
	unsigned tid;
	char *name;	       /* as QEMU names it: "CPU 0/KVM", "IO iothread1" */
	struct cpuset cpus;    /* where it may run */
	struct cpuset cgroup;  /* where its cgroup lets threads run; empty: unknown */
	const char *scheduler; /* "other", "fifo", "rr", "batch", "idle" */
	unsigned priority;     /* of fifo and rr */
};

/* Pages of a mapping on a node. */
struct seen_pages {
	unsigned node;
	uint64_t count;
};

/* A mapping large enough to be memory of the guest. */
struct seen_memory {
	uint64_t bytes;
	uint64_t page_size;  /* of the kernel's pages behind it, bytes */
	struct cpuset bound; /* nodes that its pages may come from */
	struct seen_pages *pages;
	size_t n_pages;
};

struct seen {
	unsigned pid;
	struct seen_thread *threads; /* by number; the first is the process itself */
	size_t n_threads;
	bool memory_known; /* false: this user may not look */
	struct seen_memory *memory;
	size_t n_memory;
};

#define SEEN_INIT        \
	{                \
		.pid = 0 \
	}
#define cleanup_seen cleanup(seen_done)

void seen_done(struct seen *seen);

/* One line of the answer. */
struct seat {
	char *what;   /* "CPU 0/KVM", "memory of cell 0" */
	char *wanted; /* "7", "node 1, pages of 1 GiB" */
	char *got;
	bool good;
};

struct verdict {
	struct seat *items;
	size_t count, wrong;
};

#define cleanup_verdict cleanup(verdict_done)

/* WANTED as its XML says: each vCPU, the emulator, each I/O thread, vhost workers, each
 * cell's memory; helper threads only where they are wrong. What the XML leaves open is
 * not judged. */
struct verdict verify(const struct guest *wanted, const struct seen *seen);
void verdict_done(struct verdict *verdict);

#endif

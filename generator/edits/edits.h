/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Edits: what brings a domain XML to its policy, each with its reason.
 *
 * The modules of this folder compare what the plan wants with what the document has, and
 * record an edit only where they differ; meaning counts, not spelling ("1-3" is "1,2,3",
 * 1048576 KiB is 1 GiB).
 */
#ifndef VMGEN_EDITS_H
#define VMGEN_EDITS_H

#include "base/diag.h"
#include "edits/reach.h"
#include "guest/guest.h"
#include "guest/splice.h"
#include "host/host.h"
#include "placement/place.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

/* The versions that the guest must run on; 0: unknown, nothing is refused. */
struct target {
	uint64_t libvirt, qemu;
	struct place libvirt_place, qemu_place; /* what said so */
};

struct edit {
	struct change change;
	char *path; /* "cputune/vcpupin[@vcpu='3']@cpuset": for people */
	char *old;  /* NULL: was not there */
	char *new;  /* NULL: goes; for a child its XML on one line */
	const struct reach_entry *reach;
	char *why;	    /* one line */
	struct place place; /* in the policy */
};

struct edits {
	struct edit *items;
	size_t count;
	struct target target;
	struct diag *diag; /* borrowed: version gates report here */
};

#define EDITS_INIT                                                      \
	{                                                               \
		NULL, 0, { 0, 0, { NULL, 0, 0 }, { NULL, 0, 0 } }, NULL \
	}
#define cleanup_edits cleanup(edits_done)

void edits_done(struct edits *edits);

/* What all the modules of this folder work from; all borrowed. */
struct plan {
	const struct policy *policy;
	const struct host *host;
	const struct host_policy *host_policy; /* or NULL */
	struct doc *doc;
	const struct guest *guest;
	const struct placement *placement;
	struct cpuset emulator, iothreads; /* where those threads run */
	struct cpuset memory_nodes;	   /* where the memory is; placement's nodes */
	unsigned threads;     /* vCPUs of a guest core: placement's threads */
	const char *node_why; /* why these host nodes, one line */
	bool fixed;	      /* nothing that needs a fresh start is added */
	bool made;    /* the guest was made from a template: its topology is ours too */
	bool records; /* its data disks are made here, and recorded in its metadata */
};

/* Why an edit is made; both are copied. */
struct reason {
	struct place place;
	const char *why;
};

/* How two spellings are compared. */
enum same { SAME_TEXT, SAME_CPUS, SAME_NUMBER };

/* Each does nothing when the document already says so. VALUE NULL takes the attribute
 * away. ELEMENT may be fresh (doc_need). */
void edits_attribute(struct edits *edits, struct element *element, const char *name,
		     const char *value, enum same same, struct reason reason);
void edits_content(struct edits *edits, struct element *element, const char *value,
		   enum same same, struct reason reason);
/* Adds CHILD (fresh, ownership taken) below PARENT, whatever is there. */
void edits_child(struct edits *edits, struct element *parent, struct element *child,
		 struct reason reason);
void edits_remove(struct edits *edits, struct element *element, struct reason reason);

/* An attribute that an element should have. */
struct want {
	const char *name;
	const char *value;
	enum same same;
};

/* ELEMENT, a child NAME of PARENT, has these attributes; it is added if ELEMENT is NULL.
 * WANTS ends with a NULL name; a NULL value wants no such attribute. */
void edits_want(struct edits *edits, struct element *parent, struct element *element,
		const char *name, const struct want *wants, struct reason reason);

/* The id of the guest's NTH I/O thread (from 1) once it has as many as the policy wants;
 * 0 when there are not so many. */
unsigned edits_iothread(const struct plan *plan, uint64_t nth);

/* The queue pairs that the guest's interface has once it is as the policy wants. */
uint64_t interfaces_queues(const struct plan *plan,
			   const struct policy_interface *interface);

/* One module each: cputune.c numatune.c memory.c disks.c records.c interfaces.c
 * topology.c */
void edits_cputune(struct edits *edits, const struct plan *plan);
void edits_numatune(struct edits *edits, const struct plan *plan);
void edits_memory(struct edits *edits, const struct plan *plan);
void edits_disks(struct edits *edits, const struct plan *plan);
void edits_records(struct edits *edits, const struct plan *plan);
void edits_interfaces(struct edits *edits, const struct plan *plan);
void edits_topology(struct edits *edits, const struct plan *plan);

/* The document with the edits made whose reach is at most REACH; the caller frees it. */
char *edits_perform(const struct edits *edits, const struct doc *doc, enum reach reach);

#endif

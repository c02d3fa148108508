/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules: what libvirt accepts and the machine then punishes. A rule is data: id,
 * severity, scope, what it needs to know, one function, one paragraph of documentation.
 */
#ifndef VMGEN_RULES_H
#define VMGEN_RULES_H

#include "base/diag.h"
#include "guest/guest.h"
#include "host/host.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

enum rule_scope {
	RULE_POLICY,	  /* one policy by itself */
	RULE_HOST_POLICY, /* a host policy by itself */
	RULE_GUEST,	  /* a domain XML */
	RULE_SET,	  /* policies that live side by side in one directory */
};

/* What must be known besides the scope's own file; else the rule is silent and listed
 * once as not checked. From NEEDS_PAGES to NEEDS_ISOLATED: what not every form of host
 * description tells. */
enum rule_needs {
	NEEDS_NOTHING = 0,
	NEEDS_HOST = 1,
	NEEDS_HOST_POLICY = 2,
	NEEDS_POLICY = 4,  /* the policy that a guest is under */
	NEEDS_LIBVIRT = 8, /* the version that the guest must run on */
	NEEDS_QEMU = 16,
	NEEDS_PAGES = 32, /* hugepage pools by node */
	NEEDS_FREE_PAGES = 64,
	NEEDS_MEMORY = 128, /* of each node */
	NEEDS_FREE_MEMORY = 256,
	NEEDS_DEVICES = 512,
	NEEDS_ISOLATED = 1024, /* isolcpus= */
	NEEDS_SERVED = 2048,   /* the policies that the host policy lists */
};
enum { NEEDS_KINDS = 12 };

/* For people, by bit: "a host (--host)". */
extern const char *const rule_needs_words[NEEDS_KINDS];

/* What is kept of a guest for comparing it with others. */
struct rule_guest {
	char *name;	     /* borrowed here */
	struct place place;  /* of its pins */
	struct cpuset alone; /* CPUs that a vCPU is pinned to and may not leave */
};

/* All borrowed; what is not known is NULL or 0. */
struct rule_input {
	const struct policy *policy;
	const struct host_policy *host_policy;
	const struct host *host;
	const struct guest *guest;
	const struct policy *const *policies; /* of a set */
	size_t n_policies;
	const struct rule_guest *guests; /* of a set */
	size_t n_guests;
	uint64_t libvirt, qemu; /* target versions; 0: unknown */
};

struct rule_run; /* the rule at work: what rule_report() needs */

struct rule {
	const char *id;	       /* "pin-overlap" */
	enum diag_level level; /* warning or error, unless -W or -E move it */
	enum rule_scope scope;
	unsigned needs;
	void (*check)(const struct rule_input *input, const struct rule_run *run);
	const char *summary; /* one line, for the list */
	const char
		*doc; /* a paragraph: what happens, what to write instead, the source */
};

/* For checks: the finding goes out under the rule's id and level. */
void rule_report(const struct rule_run *run, struct place place, const char *format, ...)
	printf_like(3, 4);
void rule_note(const struct rule_run *run, struct place place, const char *format, ...)
	printf_like(3, 4);

/* One table a topic, each ending with a NULL id; rules_topics ends with NULL. */
extern const struct rule rules_pins[];
extern const struct rule rules_helpers[];
extern const struct rule rules_cores[];
extern const struct rule rules_sched[];
extern const struct rule rules_numa[];
extern const struct rule rules_locality[];
extern const struct rule rules_devices[];
extern const struct rule rules_shm[];
extern const struct rule rules_hugepages[];
extern const struct rule rules_vhostuser[];
extern const struct rule rules_interfaces[];
extern const struct rule rules_zerocopy[];
extern const struct rule rules_switch[];
extern const struct rule rules_disks[];
extern const struct rule rules_elements[];
extern const struct rule rules_dropped[];
extern const struct rule rules_versions[];
extern const struct rule rules_policy[];
extern const struct rule rules_policy_devices[];
extern const struct rule rules_policy_disks[];
extern const struct rule rules_policy_host[];
extern const struct rule rules_host_policy[];
extern const struct rule rules_set[];
extern const struct rule *const rules_topics[];

/* NULL when there is none. */
const struct rule *rule_find(const char *id);
/* As rule_find(), with a report that names the nearest. */
const struct rule *rule_get(const char *id, struct diag *diag);

/* The NEEDS_ that INPUT does not meet; 0: the rule can be checked. */
unsigned rule_lacks(const struct rule *rule, const struct rule_input *input);

/* What RULE_SET rules need of GUEST, which must outlive it. */
struct rule_guest rule_guest(const struct guest *guest);

/* What -W ID, -E ID and -W no-ID made of the levels. NULL stands for none moved. */
struct levels {
	struct {
		const struct rule *rule;
		bool off;
		enum diag_level level;
	} * items;
	size_t count;
};

/* WHAT is an id or "no-" and an id: at DIAG_WARNING that turns the rule off, at
 * DIAG_ERROR it makes it a warning. The last one counts. False and a report when there is
 * no such rule. */
bool levels_move(struct levels *levels, enum diag_level level, const char *what,
		 struct diag *diag);
void levels_done(struct levels *levels);

/* Runs all rules of SCOPE. Rules that lack knowledge are added to *skipped (an array of
 * rules, each once; may be NULL), which the caller frees. */
void rules_run(enum rule_scope scope, const struct rule_input *input,
	       const struct levels *levels, const struct rule ***skipped,
	       size_t *n_skipped, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the readers of hosts share: they add what they find in any order, with whatever
 * labels their form has for cores, L3 domains and packages, and settle it at the end.
 */
#ifndef VMGEN_HOST_READER_H
#define VMGEN_HOST_READER_H

#include <limits.h>

#include "host/host.h"

/* As a CPU's l3: it has none. As its core: it is a core of its own. */
#define HOST_NO_LABEL UINT_MAX

/* Linux's MAX_NUMNODES at its largest; more devices than any machine has. */
enum { HOST_NODES_MAX = 1024, HOST_DEVICES_MAX = 8192 };

/* An empty host whose name is made of ORIGIN's last path component. */
struct host *host_new(const char *origin);

/* TEXT with all that a machine's name must not hold replaced; the caller frees it. */
char *host_name_from(const char *text);

/* Adds node NUMBER, all else about it unknown. NULL and a report when it is there already
 * or beyond what can be. The pointer is good until the next one is added. */
struct host_node *host_add_node(struct host *host, unsigned long long number,
				struct place place, struct diag *diag);

/* Adds CPU, whose node must have been added. False and a report when a CPU of that number
 * is there already or the number is beyond what can be. */
bool host_add_cpu(struct host *host, struct host_cpu cpu, struct place place,
		  struct diag *diag);

/* Adds a copy of TEXT to a device's names or mounts, unless it holds what YAML cannot. */
void host_add_text(char ***items, size_t *count, const char *text);

/* False and a report when the pool that NODE got last cannot be. */
bool host_check_pages(const struct host_node *node, struct place place,
		      struct diag *diag);

/* Sorts everything, numbers cores, L3 domains and packages, derives what is derived.
 * False and a report when no guest could be put on such a machine. */
bool host_settle(struct host *host, struct place place, struct diag *diag);

/* This machine as hwloc sees it, all CPUs that are online, not settled yet: machine/ adds
 * what hwloc does not tell. */
struct host *host_from_machine(struct diag *diag);

#endif

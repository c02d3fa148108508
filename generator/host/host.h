/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine as data: what placement and rules need to know of it.
 *
 * It is read from the YAML that `vmgen host` prints, hwloc XML, libvirt capabilities XML,
 * a synthetic string in hwloc's syntax, or the machine itself. What a form does not tell
 * is unknown, never zero: rules that need it stay silent and say so once.
 */
#ifndef VMGEN_HOST_H
#define VMGEN_HOST_H

#include <stdint.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/diag.h"

#define HOST_UNKNOWN UINT64_MAX
enum { HOST_NO_NODE = -1 };

/* A CPU (PU in hwloc's words); cores, caches and packages are numbered by us, densely
 * from 0, in the order of their lowest CPU. */
struct host_cpu {
	unsigned number; /* as the kernel numbers it */
	unsigned core;	 /* CPUs of the same core are SMT siblings */
	unsigned l3;	 /* L3 cache domain; where there is none, the node's */
	unsigned package;
	int node; /* number of its node, HOST_NO_NODE when the form does not tell */
};

/* A pool of pages of one size on one node. */
struct host_pages {
	uint64_t size;	/* bytes; never the normal page size */
	uint64_t total; /* pages */
	uint64_t free;	/* pages, or HOST_UNKNOWN */
};

struct host_node {
	unsigned number;	  /* as the kernel numbers it; may be sparse */
	struct cpuset cpus;	  /* online ones; empty: a memory-only node */
	uint64_t memory;	  /* bytes, hugepages included, or HOST_UNKNOWN */
	uint64_t free;		  /* bytes, or HOST_UNKNOWN */
	struct host_pages *pages; /* by size, ascending */
	size_t n_pages;
	bool pages_known;    /* false: n_pages is 0 because the form does not tell */
	unsigned *distances; /* to nodes[i], in their order; 10 is local. NULL: unknown */
};

enum host_device_kind { HOST_DEVICE_OTHER, HOST_DEVICE_NIC, HOST_DEVICE_NVME };

struct host_device {
	char *pci; /* "0000:5e:00.0" */
	enum host_device_kind kind;
	char **names; /* eth0, nvme0n1: what the kernel calls it; may be none */
	size_t n_names;
	char **mounts; /* directories where its file systems are mounted; may be none */
	size_t n_mounts;
	int node; /* HOST_NO_NODE: the firmware does not say */
};

struct host {
	char *name;		/* of the machine; letters, digits and "._-+" */
	char *origin;		/* file, string or "this machine": for messages */
	char *arch;		/* as in libvirt, "x86_64"; NULL: unknown */
	uint64_t libvirt, qemu; /* version_parse(); 0: unknown */
	struct host_cpu *cpus;	/* online ones, by number */
	size_t n_cpus;
	struct cpuset online;	/* = the numbers of cpus */
	struct cpuset isolated; /* isolcpus= */
	bool isolated_known;
	bool l3_known;		 /* false: no L3 is told of, each node is one domain */
	struct host_node *nodes; /* by number */
	size_t n_nodes;
	struct host_device *devices; /* by PCI address */
	size_t n_devices;
	bool devices_known;  /* false: the form does not tell of devices */
	char **other_mounts; /* directories where what is mounted is on none of them */
	size_t n_other_mounts;
	unsigned n_cores, n_l3, n_packages;
};

#define cleanup_host cleanup(host_free_pointer)

void host_free(struct host *host);
void host_free_pointer(struct host **host);

/* NULL when there is none. */
const struct host_cpu *host_cpu(const struct host *host, unsigned number);
const struct host_node *host_node(const struct host *host, unsigned number);
const struct host_device *host_device(const struct host *host, const char *pci_or_name);

/* All CPUs of the core that CPU is on, itself included; empty when there is no such CPU.
 */
struct cpuset host_siblings(const struct host *host, unsigned cpu);

/* Distance between two nodes as the firmware's SLIT gives it; 10 to itself, 20 to others
 * where it is unknown (ACPI's defaults). */
unsigned host_distance(const struct host *host, unsigned from, unsigned to);

/* Whether PATH is DIRECTORY or below it; both absolute. */
bool host_path_is_below(const char *path, const char *directory);

/* Nodes of the devices that PATH is on, by the mounts; empty when that is unknown. */
struct cpuset host_nodes_of_path(const struct host *host, const char *path);

/*
 * The readers. Each takes TEXT (NUL-terminated, LENGTH bytes) and what to call it in
 * messages; NULL and a report when it is not a machine that guests could be put on.
 */
struct host *host_from_yaml(const char *file, const char *text, size_t length,
			    struct diag *diag);
struct host *host_from_hwloc_xml(const char *file, const char *text, size_t length,
				 struct diag *diag);
struct host *host_from_capabilities(const char *file, const char *text, size_t length,
				    struct diag *diag);
struct host *host_from_synthetic(const char *description, struct diag *diag);

/* The form is told by its first bytes (<capabilities, <topology, <?xml, else YAML). */
struct host *host_from_text(const char *file, const char *text, size_t length,
			    struct diag *diag);

/* The YAML form; reading it back gives the same host, byte for byte the same print. */
void host_print(const struct host *host, FILE *stream);

#endif

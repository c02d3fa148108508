/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a domain XML asks for and says about itself, as data. Strings and elements are
 * borrowed from the document, which must outlive the guest.
 */
#ifndef VMGEN_GUEST_H
#define VMGEN_GUEST_H

#include <stdint.h>

#include "base/cpuset.h"
#include "guest/doc.h"

/* Of <vmgen:policy name="..."> in the guest's metadata. libvirt keeps one top-level
 * element for each namespace there. */
#define GUEST_NS "urn:vmgen:domain:1"

enum { GUEST_VCPUS_MAX = 8192, GUEST_CELLS_MAX = 1024, GUEST_IOTHREADS_MAX = 8192 };

struct guest_cell {
	struct element *element;
	unsigned id;
	struct cpuset vcpus;
	uint64_t memory;    /* bytes */
	const char *access; /* memAccess, or NULL */
};

struct guest_pin {
	struct element *element; /* NULL: not pinned by an element of its own */
	struct cpuset cpus;
};

struct guest_iothread {
	unsigned id;
	struct guest_pin pin;
};

struct guest_disk {
	struct element *element;
	const char *type, *device; /* "file", "disk" */
	const char *target, *bus;  /* "vda", "virtio" */
	const char *source;	   /* file, dev, or socket path; NULL: none */
	const char *alias;	   /* "ua-vmgen-data0", or NULL */
};

struct guest_interface {
	struct element *element;
	const char *type;	 /* "vhostuser" */
	const char *path, *mode; /* of a vhostuser source */
	const char *source;	 /* bridge, network or dev; NULL: none */
	const char *alias, *mac, *model;
};

struct guest {
	const struct doc *doc;
	struct element *domain;
	char *name;
	char *uuid;			   /* NULL: none */
	const char *type, *arch, *machine; /* "kvm", "x86_64", "q35"; NULL: not given */
	const char *policy;		   /* from the metadata, or NULL */
	unsigned vcpus;	 /* the maximum; what can be hotplugged is pinned too */
	unsigned online; /* at start */
	uint64_t memory; /* <memory> in bytes: at boot, without DIMMs */
	unsigned sockets, dies, clusters, cores, threads; /* all 0: no topology given */
	struct guest_cell *cells;			  /* by id */
	size_t n_cells;
	struct guest_pin *vcpupin; /* [vcpus] */
	struct guest_pin emulatorpin;
	struct guest_iothread *iothreads; /* by id: from <iothreadids> and <iothreads> */
	size_t n_iothreads;
	struct guest_disk *disks;
	size_t n_disks;
	struct guest_interface *interfaces;
	size_t n_interfaces;
};

#define cleanup_guest cleanup(guest_free_pointer)

/* NULL and a report where a number is none or is absurd, and where <cputune>, <numatune> or
 * <memoryBacking> is there twice; what libvirt would complain of otherwise is left to
 * libvirt. */
struct guest *guest_read(const struct doc *doc, struct diag *diag);
void guest_free(struct guest *guest);
void guest_free_pointer(struct guest **guest);

/* User alias of what vmgen makes: "ua-vmgen-NAME"; the caller frees it. */
char *guest_alias(const char *name);

#endif

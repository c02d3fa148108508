/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host policy: what the owner of the machine set aside, and what guests may choose.
 * Struct and table (host_policy_group) as in policy.h.
 */
#ifndef VMGEN_HOST_POLICY_H
#define VMGEN_HOST_POLICY_H

#include "policy/fields.h"

enum others { OTHERS_SHARED, OTHERS_IGNORE, OTHERS_REFUSE };
enum packing { PACKING_SPREAD, PACKING_PACK };
enum vswitch_kind { VSWITCH_OVS, VSWITCH_DPDK };
enum vswitch_vfio { VFIO_IOMMU, VFIO_NOIOMMU };

struct drive {
	struct place place;
	struct value device; /* PCI address or block device name */
	struct value read_iops;
};

struct host_policy {
	struct place place;
	struct value name; /* key: host */
	struct value libvirt, qemu;
	struct value reserved_cpus;	/* never a guest's */
	struct value housekeeping_cpus; /* for emulator and I/O threads */
	struct value dedicated_cpus;	/* pool for pinned vCPUs; not given: the rest */
	struct value shared_cpus;	/* where the guests without a policy run */
	struct value others;		/* enum others; not given: ignore */
	struct {
		struct place place;
		struct value kind; /* enum vswitch_kind */
		struct value version;
		struct value pmd_cpus;
		struct value port;	 /* words: dpdkvhostuser dpdkvhostuserclient */
		struct value max_queues; /* queue pairs that a port takes */
		struct value dpdk;	 /* the version that Open vSwitch is built on */
		struct values nics;	 /* PCI addresses of those that it drives */
		struct value vfio;	 /* enum vswitch_vfio: how it drives them */
		struct value iommu;	 /* it translates for guests with a vIOMMU */
		struct value postcopy;	 /* it lets guests migrate by postcopy */
	} vswitch;
	struct groups drives;	/* struct drive */
	struct value packing;	/* enum packing; not given: spread */
	struct values policies; /* that a guest's metadata may choose; not given: all */
	struct value enforce_at_most; /* enum enforce */
	char *file;		      /* owned */
};

extern const struct group host_policy_group;

struct host_policy *host_policy_parse(const char *file, const char *text, size_t length,
				      struct diag *diag);
void host_policy_free(struct host_policy *policy);

/* What serves vhost-user sockets, for messages; POLICY may be NULL. */
const char *host_policy_peer(const struct host_policy *policy);

#endif

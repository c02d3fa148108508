/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A policy: how a class of guests must sit on the host. The keys are libvirt's own words.
 *
 * The structs mirror the YAML; policy_group (policy_fields.c) is the table that fills
 * them, and says what each key means. Enumerations are the indexes of the words in that
 * table.
 */
#ifndef VMGEN_POLICY_H
#define VMGEN_POLICY_H

#include "policy/fields.h"

enum vcpupin { VCPUPIN_DEDICATED, VCPUPIN_SHARED }; /* else a CPU list */
enum smt { SMT_ISOLATE, SMT_REQUIRE, SMT_PREFER, SMT_ANY };
enum helperpin { HELPERPIN_HOUSEKEEPING, HELPERPIN_OWN }; /* else a CPU list */
enum scheduler { SCHEDULER_FIFO, SCHEDULER_RR, SCHEDULER_BATCH, SCHEDULER_IDLE };
enum numa_mode { NUMA_STRICT, NUMA_PREFERRED, NUMA_INTERLEAVE, NUMA_RESTRICTIVE };
enum near { NEAR_DISKS, NEAR_INTERFACES }; /* else a PCI address, a net device, a path */
enum enforce { ENFORCE_REPORT, ENFORCE_REFUSE, ENFORCE_REWRITE, ENFORCE_RESTART };
enum socket_mode { SOCKET_CLIENT, SOCKET_SERVER };
enum backend { BACKEND_DPDK, BACKEND_OVS };

struct range {
	struct place place;
	struct value min, max;
};

struct policy_disk {
	struct place place;
	struct value name; /* the user alias is ua-vmgen-NAME */
	struct value size; /* bytes; of what is made */
	struct value directory, pool,
		socket;		    /* one of them; socket as source.path below */
	struct value format;	    /* words: raw qcow2 */
	struct value bus;	    /* words: virtio scsi nvme */
	struct value target;	    /* device name, "vdb"; else the first free one */
	struct value cache;	    /* words as in libvirt */
	struct value io;	    /* words: native threads io_uring */
	struct value discard;	    /* words: unmap ignore */
	struct value detect_zeroes; /* words: off on unmap */
	struct value queues;
	struct value queue_size;
	struct value iothread;	    /* which of the guest's iothreads, from 1; or all */
	struct value reconnect;	    /* seconds; of a socket */
	struct value preallocation; /* words: off metadata falloc full */
};

struct zero_copy {
	struct place place;
	struct value backend; /* enum backend */
	struct value version;
	struct value dpdk;    /* the version that Open vSwitch is built on */
	struct value nic_txd; /* descriptors of the NIC's transmit ring */
	struct value nic_burst;
	struct value packet_size; /* bytes, average */
};

struct policy_interface {
	struct place place;
	struct value name; /* the user alias is ua-vmgen-NAME */
	struct value type; /* words: vhostuser */
	struct {
		struct place place;
		struct value path; /* {guest} and {name} are replaced */
		struct value mode; /* enum socket_mode */
	} source;
	struct value queues; /* word auto, or a number */
	struct value rx_queue_size, tx_queue_size;
	struct value reconnect; /* seconds */
	struct value mrg_rxbuf;
	struct zero_copy zero_copy;
};

struct policy {
	struct place place;
	struct value name; /* key: policy */
	struct value description;
	struct value libvirt, qemu; /* versions that the guests must run on */
	struct {
		struct place place;
		struct values name;    /* globs */
		struct value priority; /* not given: 0 */
	} match;
	struct {
		struct place place;
		struct value template;
		struct value name;
		struct value vcpus;
		struct value memory; /* bytes */
		struct value type;   /* words: kvm qemu; not given: kvm */
	} domain;
	struct {
		struct place place;
		struct range vcpus;
		struct range memory; /* bytes */
	} require;
	struct {
		struct place place;
		struct value vcpupin;		       /* enum vcpupin or CPUs */
		struct value smt;		       /* enum smt; not given: prefer */
		struct value emulatorpin, iothreadpin; /* enum helperpin or CPUs */
		struct {
			struct place place;
			struct value scheduler; /* enum scheduler */
			struct value priority;
			struct value vcpus; /* which vCPUs; not given: all */
		} vcpusched;
	} cputune;
	struct value iothreads;
	struct {
		struct place place;
		struct value mode;  /* enum numa_mode; not given: strict */
		struct value nodes; /* host nodes that the guest may span; not given: 1 */
		struct value nodeset; /* which host nodes it may use; not given: all */
		struct values near;   /* enum near or text, most important first */
		struct values with, apart; /* names of guests */
	} numatune;
	struct {
		struct place place;
		struct value hugepages;	 /* page size in bytes */
		struct value source;	 /* words: anonymous file memfd */
		struct value access;	 /* words: shared private */
		struct value allocation; /* words: immediate ondemand */
		struct value locked;
		struct value nosharepages;
	} memoryBacking;
	struct groups disks;	  /* struct policy_disk */
	struct groups interfaces; /* struct policy_interface */
	struct {
		struct place place;
		struct value read_iops, write_iops;
		struct value rtt;	 /* microseconds */
		struct value throughput; /* Gb/s */
	} expect;
	struct value enforce; /* enum enforce; not given: rewrite */
	char *file;	      /* owned; what the places name */
};

extern const struct group policy_group;
extern const char *const enforce_words[]; /* of enum enforce; ends with NULL */

/* The policy in TEXT, checked as far as single fields go (what relates two is a rule), or
 * NULL. FILE is copied. */
struct policy *policy_parse(const char *file, const char *text, size_t length,
			    struct diag *diag);

/* As policy_parse(), but what can be read of it even where it is not sound; never NULL. A
 * name that cannot be read is taken from FILE's. Not for placing guests by: it tells
 * which guests a broken policy concerns. */
struct policy *policy_salvage(const char *file, const char *text, size_t length,
			      bool *ret_sound, struct diag *diag);

/* As policy_salvage(), but no more than its name and its match, which for most is to read
 * the head of the file. */
struct policy *policy_skim(const char *file, const char *text, size_t length);
void policy_free(struct policy *policy);

/* Among COUNT policies the one that a guest of this name matches with the highest
 * priority; *ret_policy is NULL when none does. False (with both named) when two of the
 * same priority match. A policy that the guest's metadata names wins over all matches:
 * METADATA, or NULL; false when there is none of that name. */
bool policy_choose(const struct policy *const *policies, size_t count, const char *guest,
		   const char *metadata, const struct policy **ret_policy,
		   struct diag *diag);

/* The first vhost-user interface or disk, whose other side must read the guest's memory;
 * NULL: there is none. */
const struct place *policy_vhostuser(const struct policy *policy);

/* A copy of PATTERN with {guest} and {name} replaced; the caller frees it. */
char *policy_expand(const char *pattern, const char *guest, const char *name);

#endif

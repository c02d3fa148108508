/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of what a policy may hold; each row is parser, schema and manual page. */
#include "base/size.h"
#include "policy/policy.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Of a member of a named struct, and of one of the structs within struct policy. */
#define AT(type, member) .offset = offsetof(struct type, member)
#define IN(part, member) \
	.offset = offsetof(struct policy, part.member) - offsetof(struct policy, part)
#define SIZE_OF(part) sizeof(((struct policy *)NULL)->part)

#define COUNT(low, high) .type = SCALAR_COUNT, .min = (low), .max = (high)
#define SIZE(low, high) .type = SCALAR_SIZE, .min = (low), .max = (high)

enum {
	VCPUS_MAX = 8192, /* as many as guest.h takes */
	IOTHREADS_MAX = 1024,
	QUEUES_MAX = 511, /* 2 vectors each, and one for control, of QEMU's 1024 */
	IOPS_MAX = 1000000000,
};
#define MEMORY_MAX (GIB << 22) /* 4 PiB: the 52 address bits of x86 */
#define DISK_MAX (GIB << 30)   /* 1 EiB */

/* Rows are set by hand: clang-format would give each designator a line. */
/* clang-format off */

static const struct field match_fields[] = {
	{ .key = "name", .shape = SHAPE_LIST, .type = SCALAR_TEXT, IN(match, name),
	  .required = true, .example = "iops-*",
	  .doc = "Names of guests, as patterns in the manner of a shell: * stands for "
		 "any text, ? for one character, [abc] for one of those." },
	{ .key = "priority", COUNT(0, 9999), IN(match, priority), .example = "10",
	  .doc = "Among the policies that match a guest the one with the highest "
		 "priority applies; two that match with the same one refuse the guest. "
		 "Not given: 0." },
	{ .key = NULL },
};

static const struct group match_group = {
	.name = "match",
	.size = SIZE_OF(match),
	.fields = match_fields,
	.doc = "Which guests the policy is for. A <vmgen:policy name=\"...\"/> in a "
	       "guest's metadata wins over all matches. Not given: only guests that name "
	       "the policy there.",
};

static const char *const domain_types[] = { "kvm", "qemu", NULL };

static const struct field domain_fields[] = {
	{ .key = "template", .type = SCALAR_NAME, IN(domain, template), .required = true,
	  .example = "performance",
	  .doc = "The domain XML to start from: a file of this name, with .xml behind "
		 "it, in the directory of templates." },
	{ .key = "name", .type = SCALAR_NAME, IN(domain, name), .example = "iops-0",
	  .doc = "The guest's name. Not given: the policy's." },
	{ .key = "vcpus", COUNT(1, VCPUS_MAX), IN(domain, vcpus), .example = "16",
	  .doc = "How many vCPUs the guest has: the template's {vcpus}. Not given: the "
		 "template must not ask." },
	{ .key = "memory", SIZE(MIB, MEMORY_MAX), IN(domain, memory), .example = "8 GiB",
	  .doc = "The guest's memory: the template's {memory}. Not given: the template must "
		 "not ask." },
	{ .key = "type", .words = domain_types, IN(domain, type), .example = "kvm",
	  .doc = "What runs the guest: kvm, or qemu for emulation, where KVM cannot be "
		 "had. Not given: kvm." },
	{ .key = NULL },
};

static const struct group domain_group = {
	.name = "domain",
	.size = SIZE_OF(domain),
	.fields = domain_fields,
	.doc = "The guest that `vmgen render` makes. Where a guest exists already, its "
	       "own XML is taken instead and this is not looked at.",
};

static const struct field vcpu_range_fields[] = {
	{ .key = "min", COUNT(1, VCPUS_MAX), AT(range, min), .example = "16",
	  .doc = "The fewest vCPUs. Not given: no limit." },
	{ .key = "max", COUNT(1, VCPUS_MAX), AT(range, max), .example = "32",
	  .doc = "The most vCPUs. Not given: no limit." },
	{ .key = NULL },
};

static const struct group vcpu_range_group = {
	.name = "vcpus",
	.size = sizeof(struct range),
	.fields = vcpu_range_fields,
	.doc = "How many vCPUs a guest may come with, those included that can be added "
	       "while it runs.",
};

static const struct field memory_range_fields[] = {
	{ .key = "min", SIZE(MIB, MEMORY_MAX), AT(range, min), .example = "8 GB",
	  .doc = "The least memory. Not given: no limit." },
	{ .key = "max", SIZE(MIB, MEMORY_MAX), AT(range, max), .example = "64 GiB",
	  .doc = "The most memory. Not given: no limit." },
	{ .key = NULL },
};

static const struct group memory_range_group = {
	.name = "memory",
	.size = sizeof(struct range),
	.fields = memory_range_fields,
	.doc = "How much memory a guest may come with.",
};

static const struct field require_fields[] = {
	{ .key = "vcpus", .shape = SHAPE_GROUP, IN(require, vcpus),
	  .group = &vcpu_range_group },
	{ .key = "memory", .shape = SHAPE_GROUP, IN(require, memory),
	  .group = &memory_range_group },
	{ .key = NULL },
};

static const struct group require_group = {
	.name = "require",
	.size = SIZE_OF(require),
	.fields = require_fields,
	.doc = "What a guest must bring, whoever made it; one that does not is refused, "
	       "never changed in this.",
};

static const char *const scheduler_words[] = {
	[SCHEDULER_FIFO] = "fifo",
	[SCHEDULER_RR] = "rr",
	[SCHEDULER_BATCH] = "batch",
	[SCHEDULER_IDLE] = "idle",
	NULL,
};

static const struct field vcpusched_fields[] = {
	{ .key = "scheduler", .words = scheduler_words, IN(cputune.vcpusched, scheduler),
	  .required = true, .example = "fifo",
	  .doc = "The kernel's scheduling policy of the vCPU threads; fifo and rr are "
		 "the real-time ones, and need a priority." },
	{ .key = "priority", COUNT(1, 99), IN(cputune.vcpusched, priority),
	  .example = "1",
	  .doc = "The real-time priority of fifo and rr, from 1, the lowest, to 99. 1 is "
		 "above all ordinary threads already. Not given: none, which fifo and rr "
		 "do not take." },
	{ .key = "vcpus", .type = SCALAR_CPUS, IN(cputune.vcpusched, vcpus),
	  .example = "1-3",
	  .doc = "Which of the guest's vCPUs. Not given: all; a real-time guest usually "
		 "keeps vCPU 0 out of it for its own housekeeping." },
	{ .key = NULL },
};

static const struct group vcpusched_group = {
	.name = "vcpusched",
	.size = SIZE_OF(cputune.vcpusched),
	.fields = vcpusched_fields,
	.doc = "How the kernel schedules the vCPU threads, for real-time guests.",
};

static const char *const vcpupin_words[] = {
	[VCPUPIN_DEDICATED] = "dedicated",
	[VCPUPIN_SHARED] = "shared",
	NULL,
};
static const char *const smt_words[] = {
	[SMT_ISOLATE] = "isolate",
	[SMT_REQUIRE] = "require",
	[SMT_PREFER] = "prefer",
	[SMT_ANY] = "any",
	NULL,
};
static const char *const helperpin_words[] = {
	[HELPERPIN_HOUSEKEEPING] = "housekeeping",
	[HELPERPIN_OWN] = "own",
	NULL,
};

static const struct field cputune_fields[] = {
	{ .key = "vcpupin", .type = SCALAR_CPUS, .words = vcpupin_words,
	  IN(cputune, vcpupin), .example = "1-3,7-19",
	  .doc = "Where the vCPUs run. dedicated: each on a host CPU that no other guest "
		 "has, chosen from the host policy's dedicated CPUs; shared: all of them "
		 "over the shared CPUs; a CPU list: these host CPUs, dealt out in the "
		 "order of their numbers. Not given: pins stay as the guest has them." },
	{ .key = "smt", .words = smt_words, IN(cputune, smt), .example = "isolate",
	  .doc = "What becomes of SMT siblings (hyper-threads), in the words of "
		 "OpenStack Nova. isolate: each vCPU has a whole core, its siblings stay "
		 "idle; require: vCPUs sit on the siblings of whole cores; prefer: so "
		 "where it fits; any: it does not matter. Not given: prefer." },
	{ .key = "emulatorpin", .type = SCALAR_CPUS, .words = helperpin_words,
	  IN(cputune, emulatorpin), .example = "4-6",
	  .doc = "Where QEMU's own threads run, and with them the vhost-net worker "
		 "threads. housekeeping: the host policy's housekeeping CPUs, those of "
		 "the guest's nodes where there are any, and where the host policy has "
		 "none, as own; own: a CPU that nobody else has; or a CPU list. Not given: as the guest has it." },
	{ .key = "iothreadpin", .type = SCALAR_CPUS, .words = helperpin_words,
	  IN(cputune, iothreadpin), .example = "4-6",
	  .doc = "Where the I/O threads run; takes what emulatorpin takes. Not given: as "
		 "the guest has it." },
	{ .key = "vcpusched", .shape = SHAPE_GROUP, IN(cputune, vcpusched),
	  .group = &vcpusched_group },
	{ .key = NULL },
};

static const struct group cputune_group = {
	.name = "cputune",
	.size = SIZE_OF(cputune),
	.fields = cputune_fields,
	.doc = "Which host CPUs the guest's threads run on.",
};

static const char *const mode_words[] = {
	[NUMA_STRICT] = "strict",
	[NUMA_PREFERRED] = "preferred",
	[NUMA_INTERLEAVE] = "interleave",
	[NUMA_RESTRICTIVE] = "restrictive",
	NULL,
};
static const char *const near_words[] = {
	[NEAR_DISKS] = "disks",
	[NEAR_INTERFACES] = "interfaces",
	NULL,
};

static const struct field numatune_fields[] = {
	{ .key = "mode", .words = mode_words, IN(numatune, mode), .example = "strict",
	  .doc = "How firmly memory is bound to its host nodes, as libvirt means it. "
		 "strict: there or the start fails; preferred: there while it lasts; "
		 "interleave: spread over them; restrictive: left to the control group. "
		 "Not given: strict." },
	{ .key = "nodes", COUNT(1, 64), IN(numatune, nodes), .example = "1",
	  .doc = "How many host nodes the guest may span; more than one gives the guest "
		 "NUMA cells to match. Not given: 1." },
	{ .key = "nodeset", .type = SCALAR_CPUS, IN(numatune, nodeset), .example = "0-1",
	  .doc = "Which host nodes it may use. Not given: all." },
	{ .key = "near", .shape = SHAPE_LIST, .type = SCALAR_TEXT, .words = near_words,
	  IN(numatune, near), .example = "disks",
	  .doc = "What the guest should share a node with, most important first: disks "
		 "(the drives under its disks), interfaces (the NICs under its "
		 "networks), a PCI address, a network device, or a path. Not given: "
		 "nothing." },
	{ .key = "with", .shape = SHAPE_LIST, .type = SCALAR_TEXT, IN(numatune, with),
	  .example = "iops-peer",
	  .doc = "Names of guests that it should share a node with: guests that talk to "
		 "each other do so fastest on one socket. Not given: none." },
	{ .key = "apart", .shape = SHAPE_LIST, .type = SCALAR_TEXT, IN(numatune, apart),
	  .example = "iops-standby",
	  .doc = "Names of guests that it must share no node with. Not given: none." },
	{ .key = NULL },
};

static const struct group numatune_group = {
	.name = "numatune",
	.size = SIZE_OF(numatune),
	.fields = numatune_fields,
	.doc = "Which host nodes the guest's memory and vCPUs are on.",
};

static const struct field memory_backing_fields[] = {
	{ .key = "hugepages", SIZE(64 * KIB, 16 * GIB), IN(memoryBacking, hugepages),
	  .example = "1 GiB",
	  .doc = "Back the guest's memory with huge pages of this size; x86 has 2 MiB "
		 "and 1 GiB. Not given: as the guest has it." },
	{ .key = "source", .words = WORDS("anonymous", "file", "memfd"),
	  IN(memoryBacking, source), .example = "memfd",
	  .doc = "What the memory is made of. memfd can be shared with a vhost-user "
		 "switch without huge pages; file puts it into libvirt's directory on "
		 "disk. Not given: memfd with vhost-user devices and no huge pages, else "
		 "as the guest has it." },
	{ .key = "access", .words = WORDS("shared", "private"), IN(memoryBacking, access),
	  .example = "shared",
	  .doc = "Whether other processes can map the memory. vhost-user needs shared: "
		 "without it the guest starts and no packet passes. Not given: shared "
		 "with vhost-user devices, else as the guest has it." },
	{ .key = "allocation", .words = WORDS("immediate", "ondemand"),
	  IN(memoryBacking, allocation), .example = "immediate",
	  .doc = "When the memory is allocated: all at the start, or page by page as it "
		 "is touched. Not given: as the guest has it." },
	{ .key = "locked", .type = SCALAR_BOOL, IN(memoryBacking, locked),
	  .example = "yes",
	  .doc = "Lock the memory in RAM, so that none of it is ever swapped out. Not "
		 "given: as the guest has it." },
	{ .key = "nosharepages", .type = SCALAR_BOOL, IN(memoryBacking, nosharepages),
	  .example = "yes",
	  .doc = "Keep the kernel from merging the guest's pages with equal ones of "
		 "other guests (KSM). Not given: as the guest has it." },
	{ .key = NULL },
};

static const struct group memory_backing_group = {
	.name = "memoryBacking",
	.size = SIZE_OF(memoryBacking),
	.fields = memory_backing_fields,
	.doc = "What the guest's memory is made of.",
};

static const char *const iothread_words[] = { "all", NULL };

static const struct field disk_fields[] = {
	{ .key = "name", .type = SCALAR_NAME, AT(policy_disk, name), .required = true,
	  .example = "data0",
	  .doc = "The policy's name for the disk; in the guest it has the alias "
		 "ua-vmgen-NAME." },
	{ .key = "size", SIZE(MIB, DISK_MAX), AT(policy_disk, size), .example = "80 GB",
	  .doc = "Its size when it is made; one that is smaller is refused. A disk that "
		 "is there is never changed: enlarge it with qemu-img resize while the "
		 "guest is off. Not given: for a socket alone, whose back end decides." },
	{ .key = "directory", .type = SCALAR_PATH, AT(policy_disk, directory),
	  .example = "/var/lib/libvirt/images",
	  .doc = "Where its image is made: DIRECTORY/GUEST-NAME.FORMAT. Not given: it is "
		 "in a pool or behind a socket." },
	{ .key = "pool", .type = SCALAR_NAME, AT(policy_disk, pool), .example = "default",
	  .doc = "The libvirt storage pool that it is made in, as the volume "
		 "GUEST-NAME.FORMAT; the pool must be active. Not given: it is in a "
		 "directory or behind a socket." },
	{ .key = "socket", .type = SCALAR_PATTERN, AT(policy_disk, socket),
	  .example = "/run/spdk/{guest}-{name}.sock",
	  .doc = "The socket of a vhost-user-blk back end, such as SPDK or "
		 "qemu-storage-daemon, which has the data: nothing is made. {guest} and "
		 "{name} are replaced. The guest gets the shared memory that this needs, "
		 "as for vhostuser interfaces. Needs libvirt 7.1.0. Not given: it is in a "
		 "directory or a pool." },
	{ .key = "format", .words = WORDS("raw", "qcow2"), AT(policy_disk, format),
	  .example = "raw",
	  .doc = "The image's format. QEMU works on a qcow2 image in one thread for the "
		 "most part, so raw is the fast one. Not given: raw." },
	{ .key = "bus", .words = WORDS("virtio", "scsi", "nvme"), AT(policy_disk, bus),
	  .example = "virtio",
	  .doc = "How the guest sees it: virtio (vdb), scsi (sdb), or nvme (nvme0n1, each "
		 "on a controller of its own, its name for a serial number), which needs "
		 "libvirt 11.5.0. Not given: virtio." },
	{ .key = "target", .type = SCALAR_NAME, AT(policy_disk, target), .example = "vdb",
	  .doc = "The device name for it. Not given: the first free one." },
	{ .key = "cache",
	  .words = WORDS("default", "none", "writethrough", "writeback", "directsync",
	  "unsafe"), AT(policy_disk, cache), .example = "none",
	  .doc = "The host's page cache, as libvirt means it; none and directsync pass "
		 "it by (O_DIRECT). Not given: as libvirt chooses." },
	{ .key = "io", .words = WORDS("native", "threads", "io_uring"),
	  AT(policy_disk, io), .example = "native",
	  .doc = "How QEMU submits I/O. native (Linux AIO) needs cache none or "
		 "directsync; io_uring needs libvirt 6.3.0 and QEMU 5.0. Not given: as "
		 "libvirt chooses." },
	{ .key = "discard", .words = WORDS("unmap", "ignore"), AT(policy_disk, discard),
	  .example = "unmap",
	  .doc = "Whether what the guest discards is given back to the host. Not given: "
		 "as libvirt chooses." },
	{ .key = "detect_zeroes", .words = WORDS("off", "on", "unmap"),
	  AT(policy_disk, detect_zeroes), .example = "unmap",
	  .doc = "Whether blocks of zeroes are written as such, found out, or discarded. "
		 "Not given: as libvirt chooses." },
	{ .key = "queues", COUNT(1, 1024), AT(policy_disk, queues), .example = "4",
	  .doc = "How many virtqueues the disk has; more than vCPUs are of no use. Needs "
		 "libvirt 3.9.0. Not given: as QEMU chooses, one for each vCPU since "
		 "5.2; say how many the back end of a socket has." },
	{ .key = "queue_size",
	  .words = WORDS("4", "8", "16", "32", "64", "128", "256", "512", "1024"),
	  AT(policy_disk, queue_size), .example = "256",
	  .doc = "Descriptors of each virtqueue; QEMU starts with no other sizes than "
		 "these. Needs libvirt 7.8.0. Not given: as QEMU chooses, 256." },
	{ .key = "iothread", .words = iothread_words, COUNT(1, IOTHREADS_MAX),
	  AT(policy_disk, iothread), .example = "1",
	  .doc = "Which of the guest's I/O threads works for it, from 1 to the number "
		 "that iothreads gives; or all: its queues are dealt out to all of them, "
		 "where the target is known to have libvirt 10.0.0 and QEMU 9.0, and before "
		 "that each such disk has one thread, in turn. Not given: QEMU's main "
		 "thread." },
	{ .key = "reconnect", COUNT(1, 86400), AT(policy_disk, reconnect), .example = "10",
	  .doc = "Seconds after which the guest tries again when the back end of its "
		 "socket has gone. Not given: never." },
	{ .key = "preallocation", .words = WORDS("off", "metadata", "falloc", "full"),
	  AT(policy_disk, preallocation), .example = "falloc",
	  .doc = "How much of the image is allocated when it is made, as qemu-img means "
		 "it; metadata is for qcow2 only. What is allocated must fit the file "
		 "system, else the disk is refused; one that is not and may outgrow it is "
		 "a warning. Not given: off." },
	{ .key = NULL },
};

static const struct group disk_group = {
	.name = "disk",
	.size = sizeof(struct policy_disk),
	.fields = disk_fields,
	.doc = "A data disk that the guest has beside its own. vmgen apply or the hook's "
	       "worker makes it, once, and records it in the guest's metadata "
	       "(urn:vmgen:disks:1); nothing that is there is overwritten, and a disk "
	       "that is recorded and not there refuses the start.",
};

static const char *const backend_words[] = {
	[BACKEND_DPDK] = "dpdk",
	[BACKEND_OVS] = "ovs",
	NULL,
};

static const struct field zero_copy_fields[] = {
	{ .key = "backend", .words = backend_words, AT(zero_copy, backend),
	  .required = true, .example = "dpdk",
	  .doc = "What serves the socket: a DPDK program (testpmd, vhost-switch) or Open "
		 "vSwitch." },
	{ .key = "version", .type = SCALAR_VERSION, AT(zero_copy, version),
	  .required = true, .example = "19.11.5",
	  .doc = "Its version. Dequeue zero-copy exists in DPDK 16.11 to 20.08 and Open "
		 "vSwitch 2.10 to 2.14; outside those it is an error that says what "
		 "there is today." },
	{ .key = "dpdk", .type = SCALAR_VERSION, AT(zero_copy, dpdk),
	  .example = "19.11.4",
	  .doc = "The DPDK that Open vSwitch is built on; 19.11.3 breaks zero-copy in "
		 "2.13 and 2.14. Not given: as the host policy's vswitch says." },
	{ .key = "nic_txd", COUNT(64, 4096), AT(zero_copy, nic_txd), .example = "1024",
	  .doc = "Descriptors of the NIC's transmit ring. With DPDK it should be the "
		 "size of the virtio ring, with Open vSwitch at most 128, else the "
		 "guest's ring starves. Not given: not checked." },
	{ .key = "nic_burst", COUNT(1, 512), AT(zero_copy, nic_burst), .example = "32",
	  .doc = "Packets in a transmit burst; the NIC's free threshold is nic_txd less "
		 "this (1024 - 32 = 992). Not given: 32, DPDK's." },
	{ .key = "packet_size", COUNT(64, 65535), AT(zero_copy, packet_size),
	  .example = "1500",
	  .doc = "The average packet in bytes. Zero-copy pays from 512 up; below, "
		 "copying is faster. Not given: not checked." },
	{ .key = NULL },
};

static const struct group zero_copy_group = {
	.name = "zero_copy",
	.size = sizeof(struct zero_copy),
	.fields = zero_copy_fields,
	.doc = "Let the switch send the guest's packets without copying them. No libvirt "
	       "attribute turns it on: the guest gets the shared memory that it needs, "
	       "and the switch its own command in a companion file.",
};

static const char *const socket_mode_words[] = {
	[SOCKET_CLIENT] = "client",
	[SOCKET_SERVER] = "server",
	NULL,
};

#define IN_SOURCE(member)                                            \
	.offset = offsetof(struct policy_interface, source.member) - \
		  offsetof(struct policy_interface, source)

static const struct field source_fields[] = {
	{ .key = "path", .type = SCALAR_PATTERN, IN_SOURCE(path), .required = true,
	  .example = "/run/vhost/{guest}-{name}.sock",
	  .doc = "The socket's path, shorter than 108 bytes; {guest} and {name} stand "
		 "for the guest's and the interface's name." },
	{ .key = "mode", .words = socket_mode_words, IN_SOURCE(mode), .example = "client",
	  .doc = "The guest's end of the socket. client: the switch listens (testpmd, "
		 "VPP, Open vSwitch's dpdkvhostuser); server: the guest listens "
		 "(dpdkvhostuserclient), and its start waits for the switch. Not given: "
		 "client." },
	{ .key = NULL },
};

static const struct group source_group = {
	.name = "source",
	.size = sizeof(((struct policy_interface *)NULL)->source),
	.fields = source_fields,
	.doc = "The socket between guest and switch.",
};

static const struct field interface_fields[] = {
	{ .key = "name", .type = SCALAR_NAME, AT(policy_interface, name),
	  .required = true, .example = "net0",
	  .doc = "The policy's name for the interface; in the guest it has the alias "
		 "ua-vmgen-NAME." },
	{ .key = "type", .words = WORDS("vhostuser"), AT(policy_interface, type),
	  .required = true, .example = "vhostuser",
	  .doc = "vhostuser: packets pass through memory that guest and switch share." },
	{ .key = "source", .shape = SHAPE_GROUP, AT(policy_interface, source),
	  .group = &source_group, .required = true },
	{ .key = "queues", COUNT(1, QUEUES_MAX), .words = WORDS("auto"),
	  AT(policy_interface, queues), .example = "auto",
	  .doc = "Queue pairs. auto: as many as vCPUs, the switch's limit and libvirt allow; "
		 "more than the switch offers hang the guest's start. Not given: as the "
		 "guest has it, 1 in a new one." },
	{ .key = "rx_queue_size", .words = WORDS("256", "512", "1024"),
	  AT(policy_interface, rx_queue_size), .example = "1024",
	  .doc = "Descriptors of each receive ring; QEMU takes no other sizes. Needs "
		 "libvirt 2.3.0. Not given: as QEMU chooses, 256." },
	{ .key = "tx_queue_size", .words = WORDS("256", "512", "1024"),
	  AT(policy_interface, tx_queue_size), .example = "1024",
	  .doc = "Descriptors of each transmit ring; above 256 with vhostuser only. "
		 "Needs libvirt 3.7.0. Not given: as QEMU chooses, 256." },
	{ .key = "reconnect", COUNT(1, 86400), AT(policy_interface, reconnect),
	  .example = "10",
	  .doc = "Seconds after which a client tries again when the switch has gone. "
		 "Needs libvirt 4.1.0. Not given: never." },
	{ .key = "mrg_rxbuf", .type = SCALAR_BOOL, AT(policy_interface, mrg_rxbuf),
	  .example = "no",
	  .doc = "Whether a received packet may span several buffers; off is faster "
		 "where each fits into one. Not given: as QEMU chooses, on." },
	{ .key = "zero_copy", .shape = SHAPE_GROUP, AT(policy_interface, zero_copy),
	  .group = &zero_copy_group },
	{ .key = NULL },
};

static const struct group interface_group = {
	.name = "interface",
	.size = sizeof(struct policy_interface),
	.fields = interface_fields,
	.doc = "A network interface: made where the guest lacks it, brought up to this "
	       "where it has it.",
};

static const struct field expect_fields[] = {
	{ .key = "read_iops", COUNT(1, IOPS_MAX), IN(expect, read_iops),
	  .example = "1000000",
	  .doc = "Read operations a second. The drives' figures in the host policy must "
		 "add up to it. Not given: not measured." },
	{ .key = "write_iops", COUNT(1, IOPS_MAX), IN(expect, write_iops),
	  .example = "300000",
	  .doc = "Write operations a second. Not given: not measured." },
	{ .key = "rtt", COUNT(1, 10000000), IN(expect, rtt), .example = "18",
	  .doc = "Round trip between two guests in microseconds, by flood ping. Not "
		 "given: not measured." },
	{ .key = "throughput", COUNT(1, 10000), IN(expect, throughput), .example = "25",
	  .doc = "Gigabits a second between two guests, by one iperf stream. Not given: "
		 "not measured." },
	{ .key = NULL },
};

static const struct group expect_group = {
	.name = "expect",
	.size = SIZE_OF(expect),
	.fields = expect_fields,
	.doc = "What to measure in the guest afterwards; it changes nothing.",
};

const char *const enforce_words[] = {
	[ENFORCE_REPORT] = "report",
	[ENFORCE_REFUSE] = "refuse",
	[ENFORCE_REWRITE] = "rewrite",
	[ENFORCE_RESTART] = "restart",
	NULL,
};

static const struct field policy_fields[] = {
	{ .key = "policy", .type = SCALAR_NAME, AT(policy, name), .required = true,
	  .example = "storage-iops",
	  .doc = "The policy's name; guests name it in their metadata." },
	{ .key = "description", .type = SCALAR_TEXT, AT(policy, description),
	  .example = "one million read IOPS in one guest",
	  .doc = "What the policy is for, in a line. Not given: nothing." },
	{ .key = "libvirt", .type = SCALAR_VERSION, AT(policy, libvirt),
	  .example = "9.0.0",
	  .doc = "The oldest libvirt that the guests must run on; what it lacks is an "
		 "error. Not given: the host's." },
	{ .key = "qemu", .type = SCALAR_VERSION, AT(policy, qemu), .example = "7.2.0",
	  .doc = "The oldest QEMU that the guests must run on; what it lacks is an "
		 "error. Not given: the host's." },
	{ .key = "match", .shape = SHAPE_GROUP, AT(policy, match), .group = &match_group },
	{ .key = "domain", .shape = SHAPE_GROUP, AT(policy, domain),
	  .group = &domain_group },
	{ .key = "require", .shape = SHAPE_GROUP, AT(policy, require),
	  .group = &require_group },
	{ .key = "cputune", .shape = SHAPE_GROUP, AT(policy, cputune),
	  .group = &cputune_group },
	{ .key = "iothreads", COUNT(1, IOTHREADS_MAX), AT(policy, iothreads),
	  .example = "2",
	  .doc = "How many I/O threads the guest has at least. Not given: as the guest "
		 "has it." },
	{ .key = "numatune", .shape = SHAPE_GROUP, AT(policy, numatune),
	  .group = &numatune_group },
	{ .key = "memoryBacking", .shape = SHAPE_GROUP, AT(policy, memoryBacking),
	  .group = &memory_backing_group },
	{ .key = "disks", .shape = SHAPE_GROUPS, AT(policy, disks), .group = &disk_group,
	  .doc = "Data disks that the guest has beside its own. vmgen apply or the "
		 "hook's worker makes them, once, and records them in the guest's metadata; "
		 "what is there is never overwritten, and a disk that is recorded and not "
		 "there refuses the start. See the data disks in vmgen(1)." },
	{ .key = "interfaces", .shape = SHAPE_GROUPS, AT(policy, interfaces),
	  .group = &interface_group,
	  .doc = "Network interfaces: made where the guest lacks them, brought up to "
		 "this where it has them." },
	{ .key = "expect", .shape = SHAPE_GROUP, AT(policy, expect),
	  .group = &expect_group },
	{ .key = "enforce", .words = enforce_words, AT(policy, enforce),
	  .example = "rewrite",
	  .doc = "What the hook does with a start that is not as the policy says. "
		 "report: log it; refuse: refuse it and say what differs; rewrite: bring "
		 "the guest to its policy, so that the next start succeeds; restart: so, "
		 "and start it. Not given: rewrite." },
	{ .key = NULL },
};

/* clang-format on */

const struct group policy_group = {
	.name = "policy",
	.size = sizeof(struct policy),
	.fields = policy_fields,
	.doc = "How a class of guests must sit on the host. The keys are libvirt's own "
	       "words. Sizes have a unit: 80 GB is 80 * 10^9 bytes, 8 GiB is 8 * 2^30. "
	       "CPU lists are as libvirt writes them: 1-3,7-19,^9.",
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hosts: the readers of all forms, the printer, look-ups, and the facts of a machine. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "host/reader.h"
#include "machine/facts.h"
#include "machine/file.h"
#include "machine/live.h"
#include "machine/programs.h"
#include "policy/host_policy.h"
#include "tap.h"

#define CORPUS "../shared/corpus/"

enum { FILE_MAX = 16 << 20 };

static char *print(const struct host *host)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	host_print(host, stream);
	fclose(stream);
	return text;
}

static void show(const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++)
		note("%s:%u: %s", diag->findings[i].file ? diag->findings[i].file : "",
		     diag->findings[i].line, diag->findings[i].text);
}

static struct host *read_yaml(const char *text, struct diag *diag)
{
	return host_from_text("host.yaml", text, strlen(text), diag);
}

/* Everything that a host says, for comparison: the print, and what it leaves out. */
static char *everything(const struct host *host)
{
	struct text out = TEXT_INIT;
	cleanup_free char *printed = print(host);

	text_printf(&out, "%s%u cores, %u L3, %u packages\n", printed, host->n_cores,
		    host->n_l3, host->n_packages);
	for (size_t i = 0; i < host->n_cpus; i++)
		text_printf(&out, "%u: core %u L3 %u package %u node %d\n",
			    host->cpus[i].number, host->cpus[i].core, host->cpus[i].l3,
			    host->cpus[i].package, host->cpus[i].node);
	return text_take(&out);
}

/* Reading back what is printed gives the same host. */
static bool survives(const struct host *host)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *printed = print(host), *first = everything(host);
	cleanup_host struct host *back = read_yaml(printed, &diag);

	show(&diag);
	if (!back)
		return false;
	cleanup_free char *second = everything(back);
	return tap_is(second, first);
}

static void synthetic_is(const char *description, const char *want)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = host_from_synthetic(description, &diag);
	cleanup_free char *got = host ? print(host) : NULL;

	show(&diag);
	is(got, want, "%s", description);
}

static void synthetic_strings(void)
{
	synthetic_is("package:2 numa:1 l3:1 core:20 pu:1",
		     "machine: synthetic\n"
		     "nodes:\n"
		     "  - node: 0\n"
		     "    cpus:\n"
		     "      - {package: 0, l3: 0, cores: 0-19}\n"
		     "  - node: 1\n"
		     "    cpus:\n"
		     "      - {package: 1, l3: 1, cores: 20-39}\n");
	synthetic_is("package:1 numa:2(memory=8GB) l3:2 core:2 pu:2(indexes=core)",
		     "machine: synthetic\n"
		     "nodes:\n"
		     "  - node: 0\n"
		     "    memory: 7812500 KiB\n"
		     "    cpus:\n"
		     "      - {package: 0, l3: 0, cores: 0-1+8-9}\n"
		     "      - {package: 0, l3: 1, cores: 2-3+10-11}\n"
		     "  - node: 1\n"
		     "    memory: 7812500 KiB\n"
		     "    cpus:\n"
		     "      - {package: 0, l3: 2, cores: 4-5+12-13}\n"
		     "      - {package: 0, l3: 3, cores: 6-7+14-15}\n");
	synthetic_is("core:3 pu:1", "machine: synthetic\n"
				    "nodes:\n"
				    "  - node: 0\n"
				    "    cpus:\n"
				    "      - {package: 0, cores: 0-2}\n");
	/* memory without CPUs of its own beside each node */
	synthetic_is("package:2 [numa(memory=4GB)] [numa(memory=64GB)] core:2 pu:1",
		     "machine: synthetic\n"
		     "nodes:\n"
		     "  - node: 0\n"
		     "    memory: 3906250 KiB\n"
		     "    cpus:\n"
		     "      - {package: 0, cores: 0-1}\n"
		     "  - node: 1\n"
		     "    memory: 62500000 KiB\n"
		     "  - node: 2\n"
		     "    memory: 3906250 KiB\n"
		     "    cpus:\n"
		     "      - {package: 1, cores: 2-3}\n"
		     "  - node: 3\n"
		     "    memory: 62500000 KiB\n");
	synthetic_is("l3:1 core:2 pu:8",
		     "machine: synthetic\n"
		     "nodes:\n"
		     "  - node: 0\n"
		     "    cpus:\n"
		     "      - {package: 0, l3: 0, cores: 0+1+2+3+4+5+6+7 "
		     "8+9+10+11+12+13+14+15}\n");
}

/* One L3 over two nodes, two packages on a node, hybrid cores, memory-only nodes, sparse
 * numbers, CPUs that no node is local to, all that can be told of a device. */
static const char odd_machine[] =
	"machine: odd\n"
	"arch: s390x\n"
	"libvirt: 9.1.0\n"
	"qemu: 8.0.0\n"
	"isolated: none\n"
	"cpus:\n"
	"  - {package: 0, l3: 0, cores: 90}\n"
	"nodes:\n"
	"  - node: 2\n"
	"    memory: 4 GiB\n"
	"    free: 0 bytes\n"
	"    hugepages: []\n"
	"    distances: [10, 20, 17]\n"
	"    cpus:\n"
	"      - {package: 0, l3: 0, cores: 0+1 2+3 8-11}\n"
	"      - {package: 1, l3: 1, cores: 4 6}\n"
	"  - node: 7\n"
	"    hugepages:\n"
	"      - {size: 2 MiB, total: 8, free: 3}\n"
	"      - {size: 1 GiB, total: 1}\n"
	"    distances: [20, 10, 255]\n"
	"    cpus:\n"
	"      - {package: 0, l3: 0, cores: 40-41+50-51}\n"
	"  - node: 250\n"
	"    memory: 1 TiB\n"
	"devices:\n"
	"  - {pci: 0000:01:00.0, kind: nic, node: 7, names: [eth0, mlx5_0]}\n"
	"  - {pci: 0000:01:00.1, kind: nic}\n"
	"  - {pci: 10000:e1:00.0, kind: nvme, node: 2, names: [nvme0n1], mounts: [/, "
	"\"/a "
	"\\\"b\", "
	"/srv]}\n"
	"  - {pci: 10001:00:1f.7, kind: other, names: [\"[x]\"]}\n"
	"other_mounts: [/mnt/nfs]\n";

static void odd_machines(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = read_yaml(odd_machine, &diag);

	show(&diag);
	ok(host != NULL, "an odd machine is read");
	if (!host)
		return;
	cleanup_free char *got = print(host);
	is(got, odd_machine, "an odd machine is printed as it was written");
	ok(survives(host), "an odd machine survives being written and read");
	ok(host->n_cores == 11 && host->n_l3 == 2 && host->n_packages == 2,
	   "cores, L3 domains and packages are counted");
	ok(host->nodes[2].pages_known == false && host->nodes[0].pages_known &&
		   host->nodes[1].memory == HOST_UNKNOWN && host->nodes[0].free == 0,
	   "unknown is not zero");
	ok(host_distance(host, 7, 250) == 255 && host_distance(host, 250, 250) == 10 &&
		   host_distance(host, 250, 2) == 20,
	   "distances, and the usual ones where a node tells none");
	struct cpuset siblings = host_siblings(host, 51);
	cleanup_free char *list = cpuset_format(&siblings);
	is(list, "41,51", "siblings of CPU 51");
	ok(!host_cpu(host, 5) && host_cpu(host, 90)->node == HOST_NO_NODE,
	   "CPU 5 is offline, CPU 90 on no node");
	ok(host_device(host, "mlx5_0") == &host->devices[0] &&
		   host_device(host, "10000:e1:00.0") == &host->devices[2] &&
		   !host_device(host, "eth9"),
	   "devices by name and address");
}

static void path_is_on(const struct host *host, const char *path, const char *want)
{
	struct cpuset nodes = host_nodes_of_path(host, path);
	cleanup_free char *list = cpuset_format(&nodes);

	is(list, want, "nodes of %s", path);
}

static void paths(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = read_yaml(
		"machine: m\n"
		"nodes:\n"
		"  - {node: 0, cpus: [{cores: 0-1}]}\n"
		"  - {node: 1, cpus: [{cores: 2-3}]}\n"
		"devices:\n"
		"  - {pci: 0000:00:01.0, mounts: [/], node: 0}\n"
		"  - {pci: 0000:00:02.0, mounts: [/srv/a, /srv/raid], node: 1}\n"
		"  - {pci: 0000:00:03.0, mounts: [/srv/raid], node: 0}\n"
		"  - {pci: 0000:00:04.0, mounts: [/srv/where]}\n"
		"other_mounts: [/srv/nfs]\n",
		&diag);

	show(&diag);
	ok(host != NULL, "a machine with mounts is read");
	if (!host)
		return;
	path_is_on(host, "/var/lib/libvirt/images", "0");
	path_is_on(host, "/srv/a", "1");
	path_is_on(host, "/srv/a/b.qcow2", "1");
	path_is_on(host, "/srv/ab", "0");
	path_is_on(host, "/srv/raid/x", "0-1");
	path_is_on(host, "/srv/nfs/x", "");
	path_is_on(host, "/srv/where/x", "");
}

/* TEXT is refused in LINE with words that hold PIECE, and nothing else is said. */
static void refused(unsigned line, const char *piece, const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = read_yaml(text, &diag);
	bool right = !host && diag.errors == 1 && diag.findings[0].line == line &&
		     strstr(diag.findings[0].text, piece);

	if (!right)
		show(&diag);
	ok(right, "refused in line %u: %s", line, piece);
}

#define HEAD "machine: m\nnodes:\n  - node: 0\n"
#define CPUS "    cpus:\n      - {cores: "

static void broken_yaml(void)
{
	refused(1, "lacks \"nodes:\"", "machine: m\n");
	refused(1, "lacks \"machine:\"", "nodes:\n  - {node: 0, cpus: [{cores: 0}]}\n");
	refused(4, "did you mean \"memory\"", HEAD "    memry: 1 GiB\n" CPUS "0}\n");
	refused(1, "no CPU", HEAD);
	refused(5, "CPU 3 is described twice", HEAD CPUS "0-3 3}\n");
	refused(6, "CPU 1 is described twice",
		HEAD CPUS "0-3}\n  - {node: 1, cpus: [{cores: 1}]}\n");
	refused(6, "node 0 is described twice",
		HEAD CPUS "0-3}\n  - {node: 0, cpus: [{cores: 4}]}\n");
	refused(5, "beyond", HEAD CPUS "16384}\n");
	refused(5, "is no list of cores", HEAD CPUS "0-3x}\n");
	refused(5, "is no list of cores", HEAD CPUS "3-1}\n");
	refused(5, "is no list of cores", HEAD CPUS "\"0,,1\"}\n");
	refused(5, "is no list of cores", HEAD CPUS "\"0,\"}\n");
	refused(5, "is no list of cores", HEAD CPUS "0+}\n");
	refused(5, "siblings of 2 cores", HEAD CPUS "0-1+4-6}\n");
	refused(4, "2 distances; one to each of 1 nodes",
		HEAD "    distances: [10, 20]\n" CPUS "0}\n");
	refused(4, "from 10 to 255", HEAD "    distances: [0]\n" CPUS "0}\n");
	refused(5, "free of", HEAD "    memory: 1 GiB\n    free: 2 GiB\n" CPUS "0}\n");
	refused(5, "more pages free",
		HEAD "    hugepages:\n      - {size: 2 MiB, total: 1, free: 2}\n" CPUS
		     "0}\n");
	refused(5, "no power of two",
		HEAD "    hugepages:\n      - {size: 3 MiB, total: 1}\n" CPUS "0}\n");
	refused(6, "is described twice",
		HEAD "    hugepages:\n      - {size: 2 MiB, total: 1}\n"
		     "      - {size: 2048 KiB, total: 1}\n" CPUS "0}\n");
	refused(7, "is no PCI address", HEAD CPUS "0}\ndevices:\n  - {pci: 5e:00.0}\n");
	refused(7, "node 1, which is not described",
		HEAD CPUS "0}\ndevices:\n  - {pci: 0000:5e:00.0, node: 1}\n");
	refused(1, "is described twice",
		HEAD CPUS
		"0}\ndevices:\n  - {pci: 0000:5e:00.0}\n  - {pci: 0000:5e:00.0}\n");
	refused(0, "describes no host", "<domain type='kvm'/>");
	refused(1, "not well-formed", "<capabilities><host></capabilities>");
	refused(0, "DOCTYPE",
		"<!DOCTYPE topology [<!ENTITY a \"b\">]><topology version=\"2.0\"/>");
	refused(0, "hwloc refuses", "<topology version=\"2.0\"/>");
	refused(1, "tell no topology", "<capabilities><host/></capabilities>");
	refused(1, "different nodes",
		"<capabilities><host><topology><cells>"
		"<cell id='0'><cpus><cpu id='0' socket_id='0' "
		"siblings='0-1'/></cpus></cell>"
		"<cell id='1'><cpus><cpu id='1' socket_id='0' "
		"siblings='0-1'/></cpus></cell>"
		"</cells></topology></host></capabilities>");
}

/* What would take hwloc hours or gigabytes. */
static void absurd_machines(void)
{
	static const char *const descriptions[] = {
		"pu:4294967295",	 "pu:99999999999999999999",
		"core:4096 pu:2",	 "package:64 l3:16 core:8 pu:2",
		"[numa] numa:2000 pu:1", "numa:1025(memory=1GB) pu:1",
		"core:0x3fff pu:1",	 "package:2 core:020000 pu:1",
		"num (a):93 l3(:93 3 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_host struct host *host = host_from_synthetic(descriptions[i],
								     &diag);

		ok(!host && diag.errors == 1 &&
			   strstr(diag.findings[0].text, "more than"),
		   "too large: %s", descriptions[i]);
	}
	refused(2, "PU number 4000000000 is beyond",
		"<topology version=\"2.0\"><object type=\"Machine\">\n"
		"<object type=\"PU\" os_index=\"4000000000\"/></object></topology>");
}

/* All faults of a file in one run. */
static void many_faults(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = read_yaml(
		HEAD CPUS "0-x}\n  - {node: 0}\n  - node: 1\n" CPUS "0 0}\n"
			  "devices:\n  - {pci: x}\n  - {pci: y}\n",
		&diag);

	show(&diag);
	ok(!host && diag.errors == 5, "five faults are all reported (%zu)", diag.errors);
}

/* libvirt writes a CPU that is offline with a number only. */
static void offline_cpus(void)
{
	static const char text[] =
		"<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells>"
		"<cell id='3'><memory unit='KiB'>1024</memory><cpus>"
		"<cpu id='0' socket_id='9' siblings='0,2'/><cpu id='1'/>"
		"<cpu id='2' socket_id='9' siblings='0,2'/></cpus>"
		"<distances><sibling id='3' value='10'/></distances></cell>"
		"</cells></topology></host></capabilities>";
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = host_from_text("caps.xml", text, strlen(text),
							&diag);
	cleanup_free char *got = host ? print(host) : NULL;

	show(&diag);
	is(got,
	   "machine: caps\narch: x86_64\nnodes:\n  - node: 3\n    memory: 1 MiB\n"
	   "    distances: [10]\n    cpus:\n      - {package: 0, cores: 0+2}\n",
	   "capabilities with a CPU offline");
}

static unsigned random_number(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static char *random_description(unsigned *seed)
{
	struct text out = TEXT_INIT;

	text_printf(&out, "package:%u ", 1 + random_number(seed, 3));
	if (random_number(seed, 2))
		text_printf(&out, "numa:%u(memory=%uGB) ", 1 + random_number(seed, 3),
			    1 + random_number(seed, 64));
	if (random_number(seed, 2))
		text_printf(&out, "l3:%u ", 1 + random_number(seed, 4));
	text_printf(&out, "core:%u pu:%u%s", 1 + random_number(seed, 9),
		    1U << random_number(seed, 4),
		    random_number(seed, 2) ? "(indexes=core)" : "");
	return text_take(&out);
}

static void random_machines(void)
{
	unsigned seed = 7, wrong = 0;

	for (int i = 0; i < 150; i++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_free char *description = random_description(&seed);
		cleanup_host struct host *host = host_from_synthetic(description, &diag);

		show(&diag);
		if (host && survives(host))
			continue;
		wrong++;
		note("%s", description);
	}
	ok(wrong == 0, "150 random machines survive being written and read");
}

static struct host *load(const char *path)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length = 0;
	cleanup_free char *text = file_read(path, FILE_MAX, &length, &diag);
	struct host *host = text ? host_from_text(path, text, length, &diag) : NULL;

	show(&diag);
	return host;
}

static int is_xml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".xml");
}

static void recorded_machines(void)
{
	struct dirent **entries;
	int count = scandir(CORPUS "hosts", &entries, is_xml, alphasort);

	if (count <= 0) {
		tap_skip("no recorded machines here");
		return;
	}
	for (int i = 0; i < count; i++) {
		cleanup_free char *path = xasprintf(CORPUS "hosts/%s",
						    entries[i]->d_name);
		cleanup_host struct host *host = load(path);

		ok(host && survives(host), "%s is read, and survives being written",
		   entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

/* Whether two labellings of the same CPUs are the same but for the labels' names. */
static bool same_partition(const unsigned *a, const unsigned *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if ((a[i] == a[j]) != (b[i] == b[j]))
				return false;
	return true;
}

/* "cpu NUMBER NODE CORE L3", "nodes N N ...", "distance NODE D D ...": all of them. */
static bool agrees(const struct host *host, FILE *topo)
{
	enum { MOST = 1024 };
	unsigned core[2][MOST], l3[2][MOST], nodes[64], n_nodes = 0;
	size_t count = 0;
	char line[4096];

	while (fgets(line, sizeof(line), topo)) {
		unsigned number, node;
		int at = 0, more = 0;

		if (sscanf(line, "cpu %u %u %u %u", &number, &node, &core[0][count],
			   &l3[0][count]) == 4) {
			const struct host_cpu *cpu = host_cpu(host, number);

			if (!cpu || cpu->node != (int)node || count + 1 == MOST)
				return false;
			core[1][count] = cpu->core;
			l3[1][count++] = cpu->l3;
		} else if (text_starts(line, "nodes")) {
			at = (int)strlen("nodes");
			while (sscanf(line + at, " %u%n", &nodes[n_nodes], &more) == 1) {
				at += more;
				n_nodes++;
			}
		} else if (sscanf(line, "distance %u%n", &node, &at) == 1) {
			for (unsigned i = 0, distance; i < n_nodes; i++, at += more)
				if (sscanf(line + at, " %u%n", &distance, &more) != 1 ||
				    host_distance(host, node, nodes[i]) != distance)
					return false;
		}
	}
	return count == host->n_cpus && n_nodes &&
	       same_partition(core[0], core[1], count) &&
	       same_partition(l3[0], l3[1], count);
}

/* The placement benchmark's own reading of the same files. */
static void topologies(void)
{
	static const char *const names[] = {
		"192em64t-12gr2n8c2t",	     "24em64t-2n6c2t-pci",
		"96em64t-4n4d3ca2co-pci",    "irregulargroups-disallowed",
		"power8gpudistances",	     "synthetic-2s20c-nosmt",
		"synthetic-epyc-2s8l3-nps2",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *xml = xasprintf(CORPUS "hosts/%s.xml", names[i]);
		cleanup_free char *path = xasprintf(CORPUS "placement/streams/%s.topo",
						    names[i]);
		FILE *topo = fopen(path, "r");

		if (!topo) {
			tap_skip("no placement benchmark here");
			continue;
		}
		cleanup_host struct host *host = load(xml);
		ok(host && agrees(host, topo), "%s is what the benchmark takes it for",
		   names[i]);
		fclose(topo);
	}
}

/* A tree of files below a directory of its own. */
struct tree {
	char root[32];
};

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

static void put(const struct tree *tree, const char *path, const char *text)
{
	cleanup_free char *whole = xasprintf("%s/%s", tree->root, path);

	make_parents(whole);
	FILE *file = fopen(whole, "w");
	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

static void put_link(const struct tree *tree, const char *path, const char *target)
{
	cleanup_free char *whole = xasprintf("%s/%s", tree->root, path);

	make_parents(whole);
	if (symlink(target, whole))
		note("cannot link %s", whole);
}

/* A block device with its numbers, at PATH below sys/devices. */
static void put_block(const struct tree *tree, const char *path, const char *numbers,
		      bool disk)
{
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *dev = xasprintf("sys/devices/%s/dev", path);
	cleanup_free char *target = xasprintf("../../devices/%s", path);
	cleanup_free char *class = xasprintf("sys/class/block/%s", name);
	cleanup_free char *block = xasprintf("sys/block/%s", name);
	cleanup_free char *number = xasprintf("sys/dev/block/%s", numbers);

	put(tree, dev, numbers);
	put_link(tree, class, target);
	put_link(tree, number, target);
	if (disk)
		put_link(tree, block, target + strlen("../"));
	if (!disk) {
		cleanup_free char *partition = xasprintf("sys/devices/%s/partition",
							 path);
		put(tree, partition, "1\n");
	}
}

/* nvme0n1 with a partition on node 0; sda and sdb, each half of a volume group, on 1; two
 * controllers to one NVMe name space. */
static void put_storage(const struct tree *tree)
{
	put_block(tree, "pci0000:5d/0000:5d:00.0/0000:5e:00.0/nvme/nvme0/nvme0n1",
		  "259:0", true);
	put_block(tree,
		  "pci0000:5d/0000:5d:00.0/0000:5e:00.0/nvme/nvme0/nvme0n1/nvme0n1p1",
		  "259:1", false);
	put_block(tree, "pci0000:00/0000:00:17.0/ata1/host0/block/sda", "8:0", true);
	put_block(tree, "pci0000:00/0000:00:17.0/ata1/host0/block/sda/sda2", "8:2",
		  false);
	put_block(tree, "pci0000:00/0000:00:18.0/ata2/host1/block/sdb", "8:16", true);
	put_block(tree, "virtual/block/dm-0", "253:0", true);
	put_link(tree, "sys/devices/virtual/block/dm-0/slaves/sda2", "../../../..");
	put_link(tree, "sys/devices/virtual/block/dm-0/slaves/sdb", "../../../..");
	put_block(tree, "pci0000:80/0000:81:00.0/nvme/nvme1/nvme1c1n1", "259:9", true);
	put(tree, "sys/devices/pci0000:80/0000:81:00.0/nvme/nvme1/nvme1c1n1/hidden",
	    "1\n");
	put_block(tree, "virtual/block/loop0", "7:0", true);
	put_block(tree, "virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "259:8", true);
	put_link(tree, "sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1",
		 "../../../pci0000:80/0000:81:00.0/nvme/nvme1");
	put_link(tree, "sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme2",
		 "../../../pci0000:80/0000:82:00.0/nvme/nvme2");
	put(tree, "sys/devices/pci0000:80/0000:81:00.0/nvme/nvme1/cntlid", "1\n");
	put(tree, "sys/devices/pci0000:80/0000:82:00.0/nvme/nvme2/cntlid", "2\n");
	put(tree, "etc/hosts", "");
	put(tree, "proc/self/mountinfo",
	    "27 1 253:0 / / rw,relatime - ext4 /dev/mapper/vg-root rw\n"
	    "22 27 0:21 / /proc rw - proc proc rw\n"
	    "28 27 0:25 / /tmp rw - tmpfs tmpfs rw\n"
	    "29 27 259:1 / /var/lib/libvirt/images rw shared:1 - xfs /dev/nvme0n1p1 rw\n"
	    "30 27 253:0 /srv /srv/bound rw - ext4 /dev/mapper/vg-root rw\n"
	    "31 27 0:44 / /mnt/a\\040b rw - nfs4 server:/a rw\n"
	    "32 27 0:45 /sub /data rw - btrfs /dev/nvme1n1 rw\n"
	    "33 27 7:0 / /snap/x ro - squashfs /dev/loop0 ro\n"
	    "34 27 259:1 /hosts /etc/hosts rw - xfs /dev/nvme0n1p1 rw\n"
	    "malformed\n");
}

static void put_nodes(const struct tree *tree)
{
	put(tree, "sys/devices/system/node/online", "0-1\n");
	put(tree, "sys/devices/system/node/node0/cpulist", "0-1,4\n");
	put(tree, "sys/devices/system/node/node1/cpulist", "2-3,5-7\n");
	put(tree, "sys/devices/system/node/node0/meminfo",
	    "Node 0 MemTotal:       65536 kB\n"
	    "Node 0 MemFree:        32768 kB\n"
	    "Node 0 Active(file):    1024 kB\n"
	    "Node 0 Inactive(file):  2048 kB\n"
	    "Node 0 SReclaimable:     512 kB\n");
	put(tree, "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
	    "8\n");
	put(tree,
	    "sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages",
	    "6\n");
	put(tree, "sys/devices/system/node/node1/meminfo",
	    "Node 1 MemTotal: 1024 kB\nNode 1 MemFree: 512 kB\n");
	put(tree, "sys/devices/system/cpu/isolated", "2-3\n");
	put(tree, "sys/fs/cgroup/cpuset.cpus.effective", "0-6\n");
}

static void add_device(struct host *host, const char *pci, int node)
{
	struct host_device *device = append(host->devices, host->n_devices);

	device->pci = xstrdup(pci);
	device->node = node;
}

/* What hwloc would tell of that machine, roughly: facts come from the tree. */
static struct host *bare_host(struct diag *diag)
{
	struct host *host = host_new("fake");

	host_add_node(host, 0, NOWHERE, diag);
	host_add_node(host, 1, NOWHERE, diag);
	for (unsigned i = 0; i < 8; i++)
		host_add_cpu(host,
			     (struct host_cpu){ .number = i,
						.core = i,
						.l3 = HOST_NO_LABEL,
						.package = 0,
						.node = 0 },
			     NOWHERE, diag);
	add_device(host, "0000:5e:00.0", 0);
	add_device(host, "0000:00:17.0", 1);
	add_device(host, "0000:00:18.0", 1);
	add_device(host, "0000:81:00.0", 1);
	add_device(host, "0000:82:00.0", 0);
	host->devices_known = true;
	return host;
}

static void machine_facts(void)
{
	struct tree tree = { "/tmp/vmgen-tree.XXXXXX" };
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = bare_host(&diag);

	if (!mkdtemp(tree.root)) {
		tap_skip("no directory for a tree of files");
		return;
	}
	put_nodes(&tree);
	put_storage(&tree);
	facts_add(host, tree.root);
	ok(host_settle(host, NOWHERE, &diag), "a machine from a tree of files");
	cleanup_free char *got = print(host);
	is(got,
	   "machine: fake\n"
	   "isolated: 2-3\n"
	   "nodes:\n"
	   "  - node: 0\n"
	   "    memory: 64 MiB\n"
	   "    free: 36352 KiB\n"
	   "    hugepages:\n"
	   "      - {size: 2 MiB, total: 8, free: 6}\n"
	   "    cpus:\n"
	   "      - {package: 0, cores: 0-1 4}\n"
	   "  - node: 1\n"
	   "    memory: 1 MiB\n"
	   "    free: 512 KiB\n"
	   "    hugepages: []\n"
	   "    cpus:\n"
	   "      - {package: 0, cores: 2-3 5-6}\n"
	   "devices:\n"
	   "  - {pci: 0000:00:17.0, kind: other, node: 1, names: [sda], mounts: [/]}\n"
	   "  - {pci: 0000:00:18.0, kind: other, node: 1, names: [sdb], mounts: [/]}\n"
	   "  - {pci: 0000:5e:00.0, kind: other, node: 0, names: [nvme0n1], "
	   "mounts: [/var/lib/libvirt/images]}\n"
	   "  - {pci: 0000:81:00.0, kind: other, node: 1, names: [nvme1n1], mounts: "
	   "[/data]}\n"
	   "  - {pci: 0000:82:00.0, kind: other, node: 0, names: [nvme1n1], mounts: "
	   "[/data]}\n"
	   "other_mounts: [\"/mnt/a b\"]\n",
	   "facts of a machine");
	put(&tree,
	    "sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages",
	    "1\n");
	put(&tree, "sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 2048 kB\n");
	facts_memory(host, tree.root);
	ok(host->nodes[0].n_pages == 1 && host->nodes[0].pages[0].free == 1 &&
		   host->nodes[1].memory == 2 * MIB &&
		   host->nodes[1].free == HOST_UNKNOWN,
	   "memory and hugepages are read again");
	cleanup_free char *remove = xasprintf("rm -rf %s", tree.root);
	if (system(remove))
		note("%s is left", tree.root);
}

/* What cannot be read stays unknown. */
static void no_facts(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = bare_host(&diag);

	facts_add(host, "/nonexistent");
	ok(host_settle(host, NOWHERE, &diag) && !host->isolated_known &&
		   host->nodes[0].memory == HOST_UNKNOWN && !host->nodes[0].pages_known &&
		   host->n_cpus == 8,
	   "a machine without facts");
}

static void this_machine(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = live_host(&diag);

	show(&diag);
	ok(host && survives(host), "this machine survives being written and read");
}

static void versions(void)
{
	ok(programs_version_in("libvirtd (libvirt) 9.0.0\n") == 9000000,
	   "libvirt's version");
	ok(programs_version_in("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\n") ==
		   7002022,
	   "QEMU's version");
	ok(programs_version_in("no version 12 here") == 0, "no version");
}

static struct host_policy *load_host_policy(const char *path)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length = 0;
	cleanup_free char *text = file_read(path, FILE_MAX, &length, &diag);
	struct host_policy *policy = text ? host_policy_parse(path, text, length, &diag)
					  : NULL;

	show(&diag);
	return policy;
}

/* The CPUs are the host's, whole cores, and in one set only; the drives are there. */
static bool fits(const struct host_policy *policy, const struct host *host)
{
	const struct value *const sets[] = {
		&policy->reserved_cpus, &policy->housekeeping_cpus,
		&policy->dedicated_cpus, &policy->shared_cpus, &policy->vswitch.pmd_cpus
	};
	const struct drive *drives = policy->drives.items;
	struct cpuset taken = CPUSET_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		if (!given(sets[i]))
			continue;
		if (cpuset_intersects(sets[i]->cpus, &taken) ||
		    !cpuset_subset(sets[i]->cpus, &host->online))
			return false;
		cpuset_foreach (cpu, sets[i]->cpus) {
			struct cpuset siblings = host_siblings(host, cpu);

			if (!cpuset_subset(&siblings, sets[i]->cpus))
				return false;
		}
		cpuset_or(&taken, sets[i]->cpus);
	}
	for (size_t i = 0; i < policy->drives.count; i++)
		if (!host_device(host, drives[i].device.text))
			return false;
	return true;
}

static void shipped_hosts(void)
{
	static const char *const names[] = { "two-socket-40", "epyc-2s-256" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = xasprintf("policies/hosts/%s.yaml", names[i]);
		cleanup_free char *policy_path = xasprintf(
			"policies/hosts/%s.host-policy.yaml", names[i]);
		cleanup_host struct host *host = load(path);
		struct host_policy *policy = load_host_policy(policy_path);

		ok(host && policy && fits(policy, host), "%s has a policy that fits",
		   names[i]);
		host_policy_free(policy);
	}
}

int main(void)
{
	shipped_hosts();
	synthetic_strings();
	odd_machines();
	paths();
	broken_yaml();
	absurd_machines();
	many_faults();
	offline_cpus();
	random_machines();
	recorded_machines();
	topologies();
	machine_facts();
	no_facts();
	this_machine();
	versions();
	return tap_done();
}

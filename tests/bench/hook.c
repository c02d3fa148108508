/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much longer the qemu hook takes than an empty static program: on a host of 256 CPUs
 * with 20 policies, 200 guests and their claims, of which the status files of 20 have
 * changed. In a mount namespace with its own /run, /etc/vmgen, /usr/local/bin and the
 * kernel's files that the hook reads; the guests' QEMUs are processes that sleep.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/text.h"
#include "host/host.h"
#include "machine/file.h"
#include "machine/ledger.h"
#include "machine/process.h"
#include "machine/snapshot.h"
#include "policy/yaml.h"
#include "race.h"

enum { GUESTS = 200, CHANGED = 20, POLICIES = 20, ROUNDS = 201 };

#define HOST "policies/hosts/epyc-2s-256.yaml"
#define HOST_POLICY "policies/hosts/epyc-2s-256.host-policy.yaml"
#define IMAGES "/var/lib/libvirt/images"

static const char *const shipped[] = {
	"network-latency", "network-throughput", "pinned",
	"realtime",	   "storage-iops",	 "vhost-zerocopy",
};

_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static char *get(const char *path)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length;
	char *text = file_read(path, 64 << 20, &length, &diag);

	if (!text)
		give_up(path);
	return text;
}

static void put(const char *path, const char *text)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    close(fd) || rename(fresh, path))
		give_up(path);
}

/* TEXT with WHAT by WITH, once; the caller frees it. */
static char *replace(const char *text, const char *what, const char *with)
{
	const char *at = strstr(text, what);

	if (!at)
		return xstrdup(text);
	return xasprintf("%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
}

/* TEXT without the lines that hold WHAT; the caller frees it. */
static char *without(const char *text, const char *what)
{
	struct text out = TEXT_INIT;

	while (*text) {
		size_t length = strcspn(text, "\n") + 1;
		cleanup_free char *line = xstrndup(text, length);

		if (!strstr(line, what))
			text_add(&out, line);
		text += strlen(line);
	}
	return text_take(&out);
}

/* The scene. */

static void make_directory(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(copy, 0755);
		*slash = '/';
	}
	mkdir(copy, 0755);
}

static void mount_empty(const char *path)
{
	make_directory(path);
	if (mount("none", path, "tmpfs", 0, "mode=755"))
		give_up(path);
}

static void put_node(const struct host_node *node)
{
	cleanup_free char *directory = xasprintf("/sys/devices/system/node/node%u",
						 node->number);
	cleanup_free char *meminfo = xasprintf("%s/meminfo", directory);
	cleanup_free char *real = get("/proc/meminfo");

	make_directory(directory);
	put(meminfo, real);
	for (size_t i = 0; i < node->n_pages; i++) {
		const struct host_pages *pages = &node->pages[i];
		cleanup_free char *pool = xasprintf(
			"%s/hugepages/hugepages-%llukB", directory,
			(unsigned long long)pages->size >> 10);
		cleanup_free char *total = xasprintf("%s/nr_hugepages", pool);
		cleanup_free char *free_pages = xasprintf("%s/free_hugepages", pool);
		cleanup_free char *number = xasprintf("%llu\n",
						      (unsigned long long)pages->total);

		make_directory(pool);
		put(total, number);
		put(free_pages, number);
	}
}

static void put_machine(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = get(HOST);
	struct host *host = host_from_yaml(HOST, text, strlen(text), &diag);

	mount_empty("/sys/devices/system");
	make_directory("/sys/devices/system/cpu");
	put("/sys/devices/system/cpu/online", "0-255\n");
	make_directory("/sys/devices/system/node");
	put("/sys/devices/system/node/online", "0-1\n");
	for (size_t i = 0; i < host->n_nodes; i++)
		put_node(&host->nodes[i]);
	if (!snapshot_write(host, &diag))
		give_up("the snapshot");
	host_free(host);
}

/* The shipped ones, each several times, so that what they cost is what policies cost. */
static void put_policies(void)
{
	for (unsigned i = 0; i < POLICIES; i++) {
		const char *name = shipped[i % ARRAY_SIZE(shipped)];
		cleanup_free char *file = xasprintf("policies/%s.yaml", name);
		cleanup_free char *text = get(file);
		cleanup_free char *was = xasprintf("policy: %s", name);
		cleanup_free char *is = xasprintf("policy: %s-%u", name, i);
		cleanup_free char *named = replace(text, was, is);
		cleanup_free char *pattern = xasprintf("name: [\"copy%u-", i);
		cleanup_free char *matched = replace(named, "name: [\"", pattern);
		cleanup_free char *strict = replace(matched, "enforce: rewrite",
						    "enforce: refuse");
		cleanup_free char *path = xasprintf("/etc/vmgen/policies/%s-%u.yaml",
						    name, i);

		put(path, i < ARRAY_SIZE(shipped) ? text : strict);
	}
}

/* What libvirt adds to the devices of a guest of machine type q35. */
static void add_ports(struct text *out)
{
	for (unsigned i = 1; i <= 14; i++)
		text_printf(out,
			    "    <controller type='pci' index='%u' "
			    "model='pcie-root-port'>\n"
			    "      <model name='pcie-root-port'/>\n"
			    "      <target chassis='%u' port='0x%x'/>\n"
			    "      <alias name='pci.%u'/>\n"
			    "      <address type='pci' domain='0x0000' bus='0x00' "
			    "slot='0x0%u' function='0x%u'/>\n"
			    "    </controller>\n",
			    i, i, 15 + i, i, 2 + i / 8, i % 8);
}

static void add_disks(struct text *out, unsigned number)
{
	for (char letter = 'a'; letter < 'c'; letter++)
		text_printf(
			out,
			"    <disk type='file' device='disk'>\n"
			"      <driver name='qemu' type='qcow2' cache='none' "
			"io='native' discard='unmap'/>\n"
			"      <source file='" IMAGES "/guest-%u-%c.qcow2' "
			"index='1'/>\n"
			"      <backingStore/>\n"
			"      <target dev='vd%c' bus='virtio'/>\n"
			"      <alias name='virtio-disk%d'/>\n"
			"      <address type='pci' domain='0x0000' bus='0x04' "
			"slot='0x00' function='0x0'/>\n"
			"      <privateData>\n        <nodenames>\n"
			"          <nodename type='storage' "
			"name='libvirt-1-storage'/>\n"
			"          <nodename type='format' name='libvirt-1-format'/>\n"
			"        </nodenames>\n      </privateData>\n"
			"    </disk>\n",
			number, letter, letter, letter - 'a');
}

static void add_head(struct text *out, unsigned number, pid_t qemu)
{
	text_printf(out,
		    "<!--\nWARNING: THIS IS AN AUTO-GENERATED FILE. CHANGES TO IT ARE "
		    "LIKELY TO BE\nOVERWRITTEN AND LOST.\n-->\n\n"
		    "<domstatus state='running' reason='booted' pid='%d'>\n"
		    "  <monitor path='/var/lib/libvirt/qemu/domain-%u/monitor.sock' "
		    "type='unix'/>\n"
		    "  <vcpus>\n    <vcpu id='0' pid='%d'/>\n"
		    "    <vcpu id='1' pid='%d'/>\n  </vcpus>\n  <qemuCaps>\n",
		    qemu, number, qemu + 1, qemu + 2);
	for (unsigned i = 0; i < 190; i++)
		text_printf(out, "    <flag name='a-capability-of-qemu-%u'/>\n", i);
	text_add(out, "  </qemuCaps>\n  <devices>\n    <device alias='pci.1'/>\n"
		      "    <device alias='virtio-disk0'/>\n  </devices>\n");
}

/* A quarter have CPUs of their own, the others float. */
static void add_pins(struct text *out, unsigned number)
{
	for (unsigned vcpu = 0; vcpu < 2; vcpu++)
		if (number % 4 == 0)
			text_printf(out, "      <vcpupin vcpu='%u' cpuset='%u'/>\n", vcpu,
				    72 + number / 4 + 128 * vcpu);
		else
			text_printf(out,
				    "      <vcpupin vcpu='%u' cpuset='6-7,70-71,134-135,"
				    "198-199'/>\n",
				    vcpu);
}

static void add_domain(struct text *out, unsigned number)
{
	text_printf(out,
		    "  <domain type='kvm' id='%u'>\n    <name>guest-%u</name>\n"
		    "    <uuid>%08x-1111-2222-3333-444444444444</uuid>\n"
		    "    <memory unit='KiB'>4194304</memory>\n"
		    "    <currentMemory unit='KiB'>4194304</currentMemory>\n"
		    "    <vcpu placement='static'>2</vcpu>\n    <cputune>\n",
		    number + 1, number, number * 2654435761U);
	add_pins(out, number);
	text_printf(out,
		    "      <emulatorpin cpuset='1-3,65-67'/>\n    </cputune>\n"
		    "    <numatune>\n      <memory mode='strict' nodeset='%u'/>\n"
		    "    </numatune>\n"
		    "    <resource>\n      <partition>/machine</partition>\n"
		    "    </resource>\n"
		    "    <os>\n      <type arch='x86_64' "
		    "machine='pc-q35-7.2'>hvm</type>\n"
		    "      <boot dev='hd'/>\n    </os>\n"
		    "    <features>\n      <acpi/>\n      <apic/>\n    </features>\n"
		    "    <cpu mode='host-passthrough' check='none' migratable='on'/>\n"
		    "    <clock offset='utc'>\n"
		    "      <timer name='rtc' tickpolicy='catchup'/>\n"
		    "      <timer name='pit' tickpolicy='delay'/>\n"
		    "      <timer name='hpet' present='no'/>\n    </clock>\n"
		    "    <on_poweroff>destroy</on_poweroff>\n"
		    "    <on_reboot>restart</on_reboot>\n"
		    "    <on_crash>destroy</on_crash>\n    <devices>\n"
		    "    <emulator>/usr/bin/qemu-system-x86_64</emulator>\n",
		    number % 4 ? number % 2 : 1);
	add_disks(out, number);
	add_ports(out);
	text_add(out, "    </devices>\n  </domain>\n");
}

static void put_status(unsigned number, pid_t qemu)
{
	struct text text = TEXT_INIT;

	add_head(&text, number, qemu);
	add_domain(&text, number);
	text_add(&text, "</domstatus>\n");
	cleanup_free char *status = text_take(&text);
	cleanup_free char *path = xasprintf("%s/guest-%u.xml", ledger_here.status,
					    number);
	put(path, status);
}

/* Sleeps until it is killed, or we are gone. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* The claims of GUESTS, some of whose status files have changed since. */
static char *make_claims(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct ledger ledger;
	pid_t qemus[GUESTS];

	make_directory(ledger_here.status);
	for (unsigned i = 0; i < GUESTS; i++)
		put_status(i, qemus[i] = sleeper());
	if (!ledger_open(&ledger, &ledger_here, 1000, &diag) ||
	    ledger.claims->count != GUESTS || !ledger_write(&ledger, &diag))
		give_up("the ledger");
	ledger_close(&ledger);
	for (unsigned i = 0; i < CHANGED; i++)
		put_status(i * (GUESTS / CHANGED), qemus[i * (GUESTS / CHANGED)]);
	return get("/run/vmgen/claims");
}

/* The guests that are started. */

static char *run_output(const char *command)
{
	struct text text = TEXT_INIT;
	char block[65536];
	size_t count;
	FILE *stream = popen(command, "re"); /* NOLINT(cert-env33-c) */

	while (stream && (count = fread(block, 1, sizeof(block), stream)) > 0)
		text_add_bytes(&text, block, count);
	if (!stream || pclose(stream) != 0)
		give_up(command);
	return text_take(&text);
}

/* As its policy says, and in libvirt's words. */
static char *conforming(void)
{
	cleanup_free char *command = xasprintf("%s/vmgen render --host " HOST
					       " --host-policy " HOST_POLICY
					       " policies/storage-iops.yaml",
					       race_directory());
	cleanup_free char *rendered = run_output(command);
	struct text ports = TEXT_INIT;

	add_ports(&ports);
	text_add(&ports, "  </devices>");
	cleanup_free char *devices = text_take(&ports);
	cleanup_free char *named = replace(
		rendered, "</name>",
		"</name>\n  <uuid>eeeeeeee-1111-2222-3333-444444444444</uuid>");
	return replace(named, "  </devices>", devices);
}

static void put_guests(void)
{
	cleanup_free char *fine = conforming();
	cleanup_free char *no_pins = without(fine, "<vcpupin");
	cleanup_free char *no_pages = without(no_pins, "page");
	cleanup_free char *differs = replace(no_pages, "storage-iops", "storage-iops-10");
	cleanup_free char *other = without(fine, "vmgen");
	cleanup_free char *unnamed = replace(other, "iops-0", "other-0");

	put("/run/fine.xml", fine);
	put("/run/differs.xml", differs);
	put("/run/other.xml", unnamed);
	put("/run/pins.yaml", "cputune: {first: 8}\n");
}

/* Where the hook looks for the mount that storage-iops needs. */
static void mount_pages(void)
{
	make_directory("/run/hugepages");
	if (mount("none", "/run/hugepages", "hugetlbfs", 0, "pagesize=1G"))
		give_up("a mount of pages of 1 GiB");
}

static void put_scene(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("a mount namespace");
	mount_empty("/run");
	mount_pages();
	mount_empty("/etc/vmgen");
	mount_empty("/usr/local/bin");
	mount_empty(IMAGES);
	put(IMAGES "/iops-0.qcow2", "");
	put(IMAGES "/iops-0-data0.raw", "");
	put(IMAGES "/iops-0-data1.raw", "");
	make_directory("/etc/vmgen/policies");
	cleanup_free char *host_policy = get(HOST_POLICY);
	put("/etc/vmgen/host.yaml", host_policy);
	put_policies();
	put_machine();
	put_guests();
}

/* The race. */

static void put_claims(const struct racer *racer)
{
	put("/run/vmgen/claims", racer->data);
}

/* The claims as PREPARE leaves them. */
static char *prepared(struct racer *prepare)
{
	race_run(prepare, 0);
	if (prepare->broken)
		exit(1);
	return get("/run/vmgen/claims");
}

static void report(const struct racer *racer, const struct racer *empty, double limit)
{
	double wall = racer->wall[ROUNDS / 2], cpu = racer->cpu[ROUNDS / 2];

	printf("%-34s %6.0f us, %4.1f times the empty program", racer->name, wall,
	       wall / empty->wall[ROUNDS / 2]);
	printf("; CPU %6.0f us, %4.1f times", cpu, cpu / empty->cpu[ROUNDS / 2]);
	if (limit > 0)
		printf("; limit %.0f times", limit);
	printf("\n");
}

enum { PREPARE_LIMIT = 6, OTHER_LIMIT = 2 };

static const struct row {
	const char *label, *guest, *input, *operation;
	int exit;
	bool prepared; /* the claims are as its prepare left them */
	double limit;
} rows[] = {
	{ "prepare, conforms", "iops-0", "/run/fine.xml", "prepare", 0, false,
	  PREPARE_LIMIT },
	{ "prepare, refused", "iops-0", "/run/differs.xml", "prepare", 1, false,
	  PREPARE_LIMIT },
	{ "prepare, no policy", "other-0", "/run/other.xml", "prepare", 0, false,
	  PREPARE_LIMIT },
	{ "start", "iops-0", "/run/fine.xml", "start", 0, true, OTHER_LIMIT },
	{ "started", "iops-0", "/run/fine.xml", "started", 0, true, OTHER_LIMIT },
	{ "stopped", "iops-0", "/run/fine.xml", "stopped", 0, true, OTHER_LIMIT },
	{ "release", "iops-0", "/run/fine.xml", "release", 0, true, OTHER_LIMIT },
	{ "reconnect", "iops-0", "/run/fine.xml", "reconnect", 0, true, OTHER_LIMIT },
	{ "restore", "iops-0", "/run/fine.xml", "restore", 0, false, OTHER_LIMIT },
	{ "migrate", "iops-0", "/run/fine.xml", "migrate", 0, false, OTHER_LIMIT },
	{ "attach (not ours)", "iops-0", "/run/fine.xml", "attach", 0, false,
	  OTHER_LIMIT },
};

enum { EMPTY, FIRST, PYTHON = FIRST + ARRAY_SIZE(rows), RACERS };
static struct racer racers[RACERS];
static const char *arguments[ARRAY_SIZE(rows)][6];

static void enter(const char *hook, char *const claims[2], size_t i)
{
	const struct row *row = &rows[i];
	const char *const all[] = { hook, row->guest, row->operation, "begin", "-" };

	memcpy(arguments[i], all, sizeof(all));
	racers[FIRST + i] = (struct racer){
		.name = row->label,
		.argv = arguments[i],
		.input = row->input,
		.exit = row->exit,
		.before = put_claims,
		.data = claims[row->prepared],
	};
}

static void enter_all(const char *hook, char *claims[2])
{
	enter(hook, claims, 0);
	claims[1] = prepared(&racers[FIRST]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		enter(hook, claims, i);
}

static bool report_all(void)
{
	const struct racer *empty = &racers[EMPTY], *python = &racers[PYTHON];
	bool fine = true;

	report(empty, empty, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fine &= !racers[FIRST + i].broken;
		report(&racers[FIRST + i], empty, rows[i].limit);
	}
	if (python->broken) {
		printf("hook: not measured beside a Python hook, which needs lxml and "
		       "PyYAML\n");
		return fine;
	}
	report(python, empty, 0);
	printf("prepare is %.0f times as fast as the Python hook\n",
	       python->wall[ROUNDS / 2] / racers[FIRST].wall[ROUNDS / 2]);
	return fine;
}

int main(void)
{
	cleanup_free char *empty = xasprintf("%s/tests/bench/empty", race_directory());
	cleanup_free char *hook = xasprintf("%s/hooks/qemu", race_directory());
	const char *const empty_argv[] = { empty, NULL };
	const char *const python_argv[] = { "/usr/bin/python3", "tests/bench/hook.py",
					    "/run/pins.yaml", NULL };

	if (geteuid() != 0) {
		printf("hook: not measured: a mount namespace needs root\n");
		return 0;
	}
	put_scene();
	char *claims[2] = { make_claims(), NULL };
	racers[EMPTY] = (struct racer){ .name = "an empty static program",
					.argv = empty_argv };
	racers[PYTHON] = (struct racer){ .name = "a Python hook that pins",
					 .argv = python_argv,
					 .input = "/run/fine.xml" };
	enter_all(hook, claims);
	race(racers, RACERS, ROUNDS);
	bool fine = report_all();
	free(claims[0]);
	free(claims[1]);
	return !fine;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ledger and status files in a directory of the test's own, with real processes for
 * QEMU, for the tests of the ledger. */
#ifndef VMGEN_TEST_LEDGER_H
#define VMGEN_TEST_LEDGER_H

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/ledger.h"
#include "machine/process.h"
#include "tap.h"

static char scene_base[] = "/tmp/vmgen-ledger.XXXXXX";
static char scene_run[64], scene_status[64];
static struct ledger_places scene = { scene_run, scene_status, "/proc" };

static inline void scene_begin(void)
{
	if (!mkdtemp(scene_base))
		abort();
	snprintf(scene_run, sizeof(scene_run), "%s/run", scene_base);
	snprintf(scene_status, sizeof(scene_status), "%s/status", scene_base);
	mkdir(scene_status, 0755);
}

static inline int scene_remove_one(const char *path, const struct stat *status, int type,
				   struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static inline void scene_clear(void)
{
	nftw(scene_run, scene_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	nftw(scene_status, scene_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	mkdir(scene_status, 0755);
}

static inline void scene_end(void)
{
	nftw(scene_base, scene_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A process that does nothing until it is killed, or we are gone. It must not keep the
 * lock of a ledger that is open. */
static inline pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(3, ~0u, 0);
		for (;;)
			pause();
	}
	return pid;
}

static inline void slay(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline struct process process_of(pid_t pid)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct process process = { 0, 0 };

	process_find(proc, (unsigned)pid, &process);
	close(proc);
	return process;
}

static inline void put_file(const char *directory, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, name);
	cleanup_free char *fresh = xasprintf("%s.new", path);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    close(fd) != 0 || rename(fresh, path) != 0)
		abort();
}

static inline void uuid_of(unsigned number, char uuid[37])
{
	snprintf(uuid, 37, "%08x-1111-2222-3333-444444444444", number);
}

/* libvirt's status file of guest NUMBER, by rename() as libvirt does: one vCPU on each
 * CPU of CPUS, or on all of them where it FLOATS. */
static inline void put_status(unsigned number, pid_t qemu, const struct cpuset *cpus,
			      bool floats)
{
	cleanup_free char *name = xasprintf("guest-%u.xml", number);
	cleanup_text struct text text = TEXT_INIT;
	unsigned vcpu = 0;
	char uuid[37];

	uuid_of(number, uuid);
	text_printf(&text,
		    "<!--\n<domstatus pid='1'><domain>\n-->\n"
		    "<domstatus state='running' reason='booted' pid='%d'>\n"
		    "<vcpus><vcpu id='0' pid='1'/></vcpus>\n"
		    "<domain type='kvm' id='1'>\n<name>guest-%u</name>\n"
		    "<uuid>%s</uuid>\n<memory unit='KiB'>1024</memory>\n"
		    "<vcpu>%u</vcpu>\n<cputune>\n",
		    qemu, number, uuid, floats ? 1 : cpuset_count(cpus));
	cleanup_free char *all = cpuset_format(cpus);
	if (floats)
		text_printf(&text, "<vcpupin vcpu='0' cpuset='%s'/>\n", all);
	cpuset_foreach (cpu, cpus) {
		if (!floats)
			text_printf(&text, "<vcpupin vcpu='%u' cpuset='%u'/>\n", vcpu++,
				    cpu);
	}
	text_add(&text, "</cputune>\n<devices/>\n</domain>\n</domstatus>\n");
	put_file(scene_status, name, text.data);
}

static inline void drop_status(unsigned number)
{
	cleanup_free char *path = xasprintf("%s/guest-%u.xml", scene_status, number);

	unlink(path);
}

/* A claim of guest NUMBER on CPUS. */
static inline struct claim claim_of(unsigned number, enum claim_state state,
				    const struct cpuset *cpus, struct process owner)
{
	struct claim claim = {
		.name = xasprintf("guest-%u", number),
		.state = state,
		.cpus = cpulist_of(cpus),
		.vcpus_on = cpulist_of(cpus),
		.owner = owner,
		.policy = xstrdup("p"),
	};

	uuid_of(number, claim.uuid);
	return claim;
}

#endif

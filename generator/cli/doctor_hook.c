/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hook's file, the daemon that runs it, what confines both, and the worker. */
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/checkup.h"
#include "machine/hookfile.h"
#include "machine/process.h"
#include "machine/sysfs.h"
#include "machine/worker.h"

#define HOOKS "/etc/libvirt/hooks"

/* Before it libvirt knows only one file (release notes of 6.5.0). */
#define QEMU_D_SINCE UINT64_C(6005000)

static const char *right_place(const struct checkup *checkup)
{
	uint64_t libvirt = checkup->host ? checkup->host->libvirt : 0;

	return libvirt && libvirt < QEMU_D_SINCE ? HOOKS "/qemu"
						 : HOOKS "/qemu.d/50-vmgen";
}

static void check_file(struct checkup *checkup, const struct hookfile *file)
{
	if (!file->executable)
		checkup_error(checkup, "hook",
			      "%s is not executable, so libvirt starts guests without "
			      "it; chmod 755 it",
			      file->path);
	else if (!file->safe)
		checkup_error(checkup, "hook",
			      "others than root may change %s, which runs as root; chown "
			      "root and chmod go-w it",
			      file->path);
	else if (!file->is_static)
		checkup_error(checkup, "hook",
			      "%s is not a static program: a library that is away in an "
			      "upgrade would kill running guests; install the one that "
			      "vmgen was built with",
			      file->path);
	else if (!text_equal(file->version, VERSION))
		checkup_error(checkup, "hook",
			      "%s is of version %s, this is vmgen %s; install both from "
			      "one build",
			      file->path, file->version, VERSION);
	else
		checkup_ok("hook", "%s, version %s", file->path, file->version);
}

static void check_files(struct checkup *checkup, const struct hookfiles *files)
{
	const char *place = right_place(checkup);
	size_t ours = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (!files->items[i].version)
			continue;
		check_file(checkup, &files->items[i]);
		if (ours++)
			checkup_error(checkup, "hook",
				      "%s is a second one: libvirt runs every executable "
				      "file there; remove it",
				      files->items[i].path);
		if (!text_starts(place, HOOKS "/qemu.d/") &&
		    !text_equal(files->items[i].path, place))
			checkup_error(checkup, "hook",
				      "this libvirt is older than 6.5.0 and runs only "
				      "%s; move it there",
				      place);
	}
	if (!ours)
		checkup_error(checkup, "hook",
			      "none is installed, so guests start as they are; put the "
			      "hook at %s",
			      place);
}

enum { DAEMON_NAME = 16 };

/* The daemon that runs the hooks; pid 0: there is none. NAME has room for its name. */
static struct process find_daemon(char *name)
{
	struct process found = { 0, 0 };
	size_t count;
	char **pids = sysfs_list(&count, "/proc");

	for (size_t i = 0; pids && i < count; i++) {
		unsigned pid = (unsigned)strtoul(pids[i], NULL, 10);
		cleanup_free char *comm = pid ? sysfs_text("/proc/%u/comm", pid) : NULL;

		if (text_equal(comm, "virtqemud") || text_equal(comm, "libvirtd")) {
			found = process_here(pid);
			snprintf(name, DAEMON_NAME, "%s", comm);
		}
		free(pids[i]);
	}
	free(pids);
	return found;
}

/* A daemon looks once whether there are hooks at all. */
static void check_known(const char *name, const struct process *daemon,
			const struct hookfiles *files)
{
	uint64_t started = process_here_born(daemon), first = UINT64_MAX;

	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].executable && files->items[i].born < first)
			first = files->items[i].born;
	if (first != UINT64_MAX && first > started)
		checkup_warning(
			"daemon",
			"%s (process %u) is older than the first hook, and knows of "
			"none unless it was told since: systemctl reload %s",
			name, daemon->pid, name);
	else if (first != UINT64_MAX)
		checkup_ok("daemon", "%s (process %u) knows the hook", name, daemon->pid);
}

static void check_daemon(const struct hookfiles *files)
{
	char name[DAEMON_NAME] = "";
	struct process daemon = find_daemon(name);

	if (daemon.pid)
		check_known(name, &daemon, files);
	else
		checkup_warning("daemon", "neither virtqemud nor libvirtd runs now (they "
					  "start when they are needed)");
}

static void check_worker(struct checkup *checkup)
{
	if (access(worker_program, X_OK) == 0)
		checkup_ok("worker", "%s is there for the hook", worker_program);
	else
		checkup_error(checkup, "worker",
			      "the hook starts %s, which is not there: definitions are "
			      "not brought up; install vmgen there",
			      worker_program);
}

/* Debian's and Ubuntu's profiles of the daemon let it run programs of the system only. */
static void check_apparmor(void)
{
	static const char *const allowed[] = { "/bin/", "/sbin/", "/usr/bin/",
					       "/usr/sbin/" };
	cleanup_free char *profiles = sysfs_text(
		"/sys/kernel/security/apparmor/profiles");
	const char *daemon = profiles && strstr(profiles, "virtqemud") ? "virtqemud"
								       : "libvirtd";

	if (!profiles || !strstr(profiles, daemon))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (text_starts(worker_program, allowed[i])) {
			checkup_ok("AppArmor", "lets %s run %s", daemon, worker_program);
			return;
		}
	checkup_warning("AppArmor",
			"%s's profile may not let the hook start %s; add the line \"%s "
			"PUx,\" to /etc/apparmor.d/local/usr.sbin.%s and reload it",
			daemon, worker_program, worker_program, daemon);
}

static void check_selinux(const struct hookfiles *files)
{
	uint64_t enforcing;
	char label[256];

	if (!sysfs_number(&enforcing, "/sys/fs/selinux/enforce"))
		return;
	for (size_t i = 0; i < files->count; i++) {
		ssize_t length = getxattr(files->items[i].path, "security.selinux", label,
					  sizeof(label) - 1);

		label[length > 0 ? length : 0] = '\0';
		if (!files->items[i].version)
			continue;
		if (strstr(label, ":virt_hook_t:"))
			checkup_ok("SELinux", "%s is %s", files->items[i].path, label);
		else
			checkup_warning("SELinux",
					"%s is labelled %s, not virt_hook_t; restorecon "
					"-v it",
					files->items[i].path, *label ? label : "nothing");
	}
}

void checkup_hook(struct checkup *checkup)
{
	cleanup_hookfiles struct hookfiles files = hookfiles_find(HOOKS);

	check_files(checkup, &files);
	check_daemon(&files);
	check_worker(checkup);
	check_apparmor();
	check_selinux(&files);
	if (access("/etc/vmgen/disabled", F_OK) == 0)
		checkup_warning("hook",
				"/etc/vmgen/disabled is there: all guests start as they "
				"are; remove it to switch vmgen on");
}

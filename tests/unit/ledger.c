/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ledger of a machine: its file, its lock, and what healing makes of it. */
#include <errno.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "ledger.h"

enum { DEADLINE = 200 }; /* ms */

/* What the ledger holds once it is opened: "STATE CPUS" of each guest, or the first thing
 * that was wrong; and what it warned of. */
static char *opened_warning(char **ret_warning)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_ledger struct ledger ledger = LEDGER_INIT;
	cleanup_text struct text text = TEXT_INIT;
	bool fine = ledger_open(&ledger, &scene, DEADLINE, &diag) &&
		    ledger_write(&ledger, &diag);

	for (size_t i = 0; fine && i < ledger.claims->count; i++) {
		const struct claim *claim = &ledger.claims->items[i];
		cleanup_free char *cpus = cpulist_format(&claim->cpus);

		text_printf(&text, "%s%s %s %s", i ? ", " : "", claim->name,
			    claim_state_words[claim->state], cpus);
	}
	if (diag.count)
		*(fine ? ret_warning : &text.data) = xasprintf(
			"%s: %s", diag.findings[0].file, diag.findings[0].text);
	return fine ? text_take(&text) : take(text.data);
}

static void is_opened(const char *want, const char *why)
{
	cleanup_free char *warning = NULL;
	cleanup_free char *got = opened_warning(&warning);

	is(got, want, "%s", why);
	if (warning)
		note("%s", warning);
}

/* It says so, and says it with the path in front. */
static void refuses(const char *path, const char *want, const char *why)
{
	cleanup_free char *warning = NULL;
	cleanup_free char *got = opened_warning(&warning);
	cleanup_free char *at = xasprintf("%s%s: ", scene_run, path);

	if (!ok(text_starts(got, at) && strstr(got, want), "%s", why))
		note("wanted: %s%s", at, want);
	note("%s", got);
}

static struct cpuset cpu(unsigned number)
{
	struct cpuset set = CPUSET_INIT;

	cpuset_set(&set, number);
	return set;
}

static void put(struct claim claim)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_ledger struct ledger ledger = LEDGER_INIT;

	if (!ledger_open(&ledger, &scene, DEADLINE, &diag))
		abort();
	claims_put(ledger.claims, &claim);
	if (!ledger_write(&ledger, &diag))
		abort();
}

static void put_starting(unsigned number, unsigned on)
{
	struct cpuset set = cpu(on);

	put(claim_of(number, CLAIM_STARTING, &set, process_of(getpid())));
}

static mode_t mode_of(const char *name)
{
	cleanup_free char *path = xasprintf("%s%s", scene_run, name);
	struct stat status;

	return lstat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

static void ordinary(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	cleanup_claims struct claims *before = ledger_look(&scene, &diag);
	ok(before && !before->count, "no ledger, no claims to look at");
	mode_t old = umask(0);
	is_opened("", "nothing at first");
	umask(old);
	ok(mode_of("") == 0755 && mode_of("/claims") == 0644 && mode_of("/lock") == 0600,
	   "all may look, nobody else may lock");
	put_starting(1, 5);
	is_opened("guest-1 starting 5", "a claim is kept");
	cleanup_claims struct claims *claims = ledger_look(&scene, &diag);
	ok(claims && claims->count == 1, "looked at");
	scene_clear();
}

static void in_the_way(void)
{
	cleanup_free char *lock = xasprintf("%s/lock", scene_run);
	cleanup_free char *claims = xasprintf("%s/claims", scene_run);
	cleanup_free char *fresh = xasprintf("%s/claims.new", scene_run);
	cleanup_free char *victim = xasprintf("%s/victim", scene_base);

	put_file(scene_base, "run", "x");
	refuses("", "no directory", "a file in place of the directory");
	unlink(scene_run);
	ok(symlink(scene_status, scene_run) == 0, "a symbolic link");
	refuses("", "no directory", "a symbolic link in place of the directory");
	unlink(scene_run);
	mkdir(scene_run, 0755);
	chmod(scene_run, 0777);
	refuses("", "chmod 755", "a directory that others may write to");
	chmod(scene_run, 0755);
	if (geteuid() == 0 && chown(scene_run, 65534, 65534) == 0)
		refuses("", "another user", "a directory of another user");
	(void)!chown(scene_run, geteuid(), getegid());

	put_file(scene_base, "victim", "mine\n");
	ok(symlink(victim, lock) == 0, "a symbolic link");
	refuses("/lock", "symbolic link", "in place of the lock");
	unlink(lock);
	mkdir(lock, 0755);
	refuses("/lock", "", "a directory in place of the lock");
	rmdir(lock);
	mkfifo(lock, 0600);
	refuses("/lock", "no regular file", "a FIFO in place of the lock");
	unlink(lock);
	ok(symlink(victim, claims) == 0, "a symbolic link");
	refuses("/claims", "symbolic link", "in place of the claims");
	unlink(claims);
	mkdir(claims, 0755);
	refuses("/claims", "a directory", "a directory in place of the claims");
	rmdir(claims);
	mkfifo(claims, 0600);
	refuses("/claims", "a device or pipe", "a FIFO in place of the claims");
	unlink(claims);
	ok(symlink(victim, fresh) == 0, "a symbolic link");
	is_opened("", "in place of the new claims is no obstacle");
	struct stat status;
	ok(stat(victim, &status) == 0 && status.st_size == 5, "what it led to is whole");
	put_file(scene_run, "lock", "");
	chmod(lock, 0666);
	is_opened("", "a lock that others could take");
	ok(mode_of("/lock") == 0600, "is theirs no more");
	scene_clear();
}

static void damaged(void)
{
	static const char *const garbage[] = { "", "vmgen-claims 2\n",
					       "vmgen-claims 1\nx\n",
					       "vmgen-claims 1\n\n", "\xff\xfe" };
	struct cpuset set = cpu(3);
	pid_t qemu = sleeper();

	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		mkdir(scene_run, 0755);
		put_status(1, qemu, &set, false);
		put_file(scene_run, "claims", garbage[i]);
		is_opened("guest-1 running 3", "a damaged file is made anew");
		ok(mode_of("/claims.bad"), "and the old one kept");
		scene_clear();
	}
	slay(qemu);
}

static void lock_held(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_ledger struct ledger mine = LEDGER_INIT;
	cleanup_free char *lock = xasprintf("%s/lock", scene_run);
	cleanup_free char *who = xasprintf("process %d", getpid());
	struct timespec before, after;

	ok(ledger_open(&mine, &scene, DEADLINE, &diag), "we hold the lock");
	clock_gettime(CLOCK_MONOTONIC, &before);
	refuses("/lock", who, "a lock that is held: refused, and by whom");
	clock_gettime(CLOCK_MONOTONIC, &after);
	long waited = (after.tv_sec - before.tv_sec) * 1000 +
		      (after.tv_nsec - before.tv_nsec) / 1000000;
	ok(waited >= DEADLINE && waited < DEADLINE + 2000, "after %ld ms of %d", waited,
	   DEADLINE);
	pid_t child = fork();
	if (child == 0) {
		usleep(50000);
		unlink(lock);
		_exit(0);
	}
	refuses("/lock", "held", "another waits on");
	waitpid(child, NULL, 0);
	is_opened("", "a lock that is gone is made anew");
	ledger_close(&mine);
	is_opened("", "given back");
	scene_clear();
}

static void healing(void)
{
	struct cpuset one = cpu(1), two = cpu(2), both = cpu(1);
	pid_t qemu = sleeper();

	cpuset_set(&both, 2);
	is_opened("", "nobody");
	put_status(1, qemu, &one, false);
	is_opened("guest-1 running 1", "a guest without a claim is seen");
	put_status(1, qemu, &two, false);
	is_opened("guest-1 running 2", "moved by hand: seen");
	put_status(1, qemu, &both, true);
	is_opened("guest-1 running ", "let float: its own no more");
	put_file(scene_status, "guest-2.xml", "<domstatus>");
	is_opened("guest-1 running ", "a status file that is broken harms no other");
	drop_status(2);
	drop_status(1);
	is_opened("guest-1 running ", "QEMU lives, though its file is gone");
	put_status(1, qemu, &one, false);
	is_opened("guest-1 running 1", "and back");
	slay(qemu);
	is_opened("", "QEMU killed: gone, though its file is there");
	qemu = sleeper();
	put_starting(1, 5);
	drop_status(1);
	is_opened("guest-1 starting 5", "a start under way");
	put_status(1, qemu, &one, false);
	is_opened("guest-1 running 1,5", "runs, where it is and where it was put");
	put_status(1, qemu, &two, false);
	is_opened("guest-1 running 2,5", "moved: what it left is free");
	slay(qemu);
	rmdir(scene_status);
	scene_clear();
	rmdir(scene_status);
	is_opened("", "libvirt was never here");
	scene.proc = "/nonexistent";
	cleanup_free char *warning = NULL, *got = opened_warning(&warning);
	is(got,
	   "/nonexistent: cannot be read, so nobody knows which guests live: No such "
	   "file or directory",
	   "without proc everybody would seem dead");
	scene.proc = "/proc";
	scene_clear();
}

/* WRITE in a child, since it limits itself; yields what it says. */
static void in_child(void (*limit)(void), const char *path, const char *want,
		     const char *why)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_ledger struct ledger ledger = LEDGER_INIT;

		limit();
		bool fine = ledger_open(&ledger, &scene, DEADLINE, &diag);
		for (unsigned i = 0; fine && i < 500; i++) {
			struct cpuset set = cpu(i);
			struct claim claim = claim_of(i + 100, CLAIM_STARTING, &set,
						      process_of(getppid()));
			claims_put(ledger.claims, &claim);
		}
		fine = fine && ledger_write(&ledger, &diag);
		cleanup_free char *at = xasprintf("%s%s", scene_run, path);
		if (!fine)
			printf("# %s: %s\n", diag.findings[0].file,
			       diag.findings[0].text);
		fflush(stdout);
		_exit(fine || !text_equal(diag.findings[0].file, at) ||
		      !strstr(diag.findings[0].text, want));
	}
	waitpid(child, &status, 0);
	ok(status == 0, "%s", why);
}

static void limit_files(void)
{
	struct rlimit limit = { 4096, 4096 };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
}

static bool own_mounts(void)
{
	return unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Remade in the namespace, with one claim. */
static void mount_run(const char *options)
{
	if (mount("tmpfs", scene_run, "tmpfs", 0, options) != 0)
		_exit(1);
	put_starting(1, 5);
}

static void mount_full(void)
{
	if (!own_mounts())
		limit_files();
	else
		mount_run("size=16k,mode=755");
}

static void mount_read_only(void)
{
	if (!own_mounts())
		_exit(0);
	mount_run("mode=755");
	if (mount("none", scene_run, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
		_exit(1);
}

static void no_room(void)
{
	put_starting(1, 5);
	in_child(limit_files, "/claims", "cannot be written", "files may not grow");
	is_opened("guest-1 starting 5", "the claims are what they were");
	ok(!mode_of("/claims.new"), "nothing half written is left");
	in_child(mount_full, "/claims", "cannot be written", "a full file system");
	in_child(mount_read_only, "/lock", "Read-only", "a read-only file system");
	scene_clear();
}

int main(void)
{
	scene_begin();
	ordinary();
	in_the_way();
	damaged();
	lock_held();
	healing();
	no_room();
	scene_end();
	return tap_done();
}

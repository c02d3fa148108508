/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that cannot be mistaken for later ones. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/process.h"
#include "tap.h"

static char directory[] = "/tmp/vmgen-process.XXXXXX";
static int proc;

/* A process 7 in a proc of our own. */
static void write_stat(const char *text)
{
	mkdirat(proc, "7", 0755);
	int fd = openat(proc, "7/stat", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "stat is");
	close(fd);
}

#define BEFORE " 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 "

static void reads(const char *text, bool want, const char *why)
{
	struct process process = { 0, 0 };

	write_stat(text);
	ok(process_find(proc, 7, &process) == want &&
		   (!want || (process.pid == 7 && process.start == 4242)),
	   "%s", why);
}

/* What cannot be told counts as life, a zombie does not. */
static void lives(const char *text, uint64_t start, bool want, const char *why)
{
	struct process process = { 7, start };

	write_stat(text);
	ok(process_lives(proc, &process) == want, "%s", why);
}

static void made_up(void)
{
	struct process other = { 8, 1 };

	proc = open(directory, O_RDONLY | O_DIRECTORY);
	reads("7 (qemu) S" BEFORE "4242 1 2\n", true, "the start is field 22");
	reads("7 (a b) R 3 (x)) S" BEFORE "4242 1 2\n", true, "any name is skipped");
	reads("7 (\n) Z 1) D" BEFORE "4242 1\n", true, "a name with a line end too");
	reads("7 (qemu) Z" BEFORE "4242 1 2\n", false, "a zombie is none");
	reads("7 (qemu) S" BEFORE "42x42 1 2\n", false, "a start that is no number");
	reads("7 (qemu) S 1 2", false, "a line that is cut off");
	reads("", false, "an empty file");
	lives("7 (qemu) S" BEFORE "4242 1 2\n", 4242, true, "same start: lives");
	lives("7 (qemu) S" BEFORE "4243 1 2\n", 4242, false, "another start: is another");
	lives("7 (qemu) Z" BEFORE "4242 1 2\n", 4242, false, "a zombie is dead");
	lives("7 (qemu) S 1 2", 4242, true, "what cannot be read lives");
	ok(!process_lives(proc, &other), "no file: dead");
	ok(!process_lives(proc, &(struct process){ 0, 0 }), "no process: dead");
	unlinkat(proc, "7/stat", 0);
	unlinkat(proc, "7", AT_REMOVEDIR);
	close(proc);
}

static void real(void)
{
	struct process child = { 0 }, parent = { 0 };
	int real_proc = open("/proc", O_RDONLY | O_DIRECTORY);
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	ok(process_find(real_proc, (unsigned)pid, &child) &&
		   process_find(real_proc, (unsigned)getpid(), &parent) &&
		   child.start >= parent.start,
	   "a child starts after its parent");
	ok(process_lives(real_proc, &child) && process_number_taken((unsigned)pid),
	   "it lives");
	child.start++;
	ok(!process_lives(real_proc, &child), "one of that number, but not this one");
	child.start--;
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	ok(!process_lives(real_proc, &child), "killed, not waited for: dead");
	waitpid(pid, NULL, 0);
	ok(!process_lives(real_proc, &child) && !process_number_taken((unsigned)pid),
	   "killed and waited for: dead");
	ok(!process_number_taken(0), "0 is nobody's number");
	ok(process_boot_seconds() + 1 >= parent.start / (uint64_t)sysconf(_SC_CLK_TCK),
	   "the clock is that of the starts");
	close(real_proc);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	made_up();
	real();
	rmdir(directory);
	return tap_done();
}

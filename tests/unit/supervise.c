/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever happens to the child, its parent knows, and in time. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/supervise.h"
#include "tap.h"

/* ASan maps terabytes. */
#ifdef __SANITIZE_ADDRESS__
enum { MILLISECONDS = 3000, BYTES = 0 };
#else
enum { MILLISECONDS = 3000, BYTES = 256 << 20 };
#endif

static int says(void *data)
{
	fputs(data, stdout);
	fputs("why", stderr);
	return 7;
}

static int says_much(void *data)
{
	for (int i = 0; i < 100000; i++)
		fputs(data, stdout);
	return 0;
}

static int crashes(void *data)
{
	(void)data;
	signal(SIGSEGV, SIG_DFL); /* ASan would catch it */
	raise(SIGSEGV);
	return 0;
}

static int hangs(void *data)
{
	(void)data;
	for (;;)
		pause();
	return 0;
}

static int ignores_signals(void *data)
{
	for (int i = 1; i < 64; i++)
		signal(i, SIG_IGN);
	return hangs(data);
}

#ifndef __SANITIZE_ADDRESS__
static int eats_memory(void *data)
{
	(void)data;
	for (;;)
		memset(xmalloc(1 << 20), 1, 1 << 20);
	return 0;
}
#endif

/* A leftover that holds the output open must not be waited for. */
static int leaves_child(void *data)
{
	if (fork() == 0) {
		alarm(5), pause();
		_exit(0);
	}
	fputs(data, stdout);
	return 0;
}

/* Nor does it hold what we write to. */
static void leaves_us_alone(void)
{
	int errors[2], was = dup(STDERR_FILENO);
	struct supervised got;
	char byte;

	if (was < 0 || pipe(errors) || dup2(errors[1], STDERR_FILENO) < 0)
		exit(1);
	close(errors[1]); /* which a fork would hold */
	supervise(leaves_child, (char[]){ "word" }, MILLISECONDS, BYTES, &got);
	dup2(was, STDERR_FILENO);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	ok(read(errors[0], &byte, 1) == 0, "a leftover does not hold our standard error");
	supervised_done(&got);
}

/* Its parent cannot reap a child whose tracer does not: it seems to outlive SIGKILL. */
static int outlives_kill(void *data)
{
	int traced[2];
	char byte;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (pipe(traced))
		return 1;
	if (fork() == 0) {
		if (ptrace(PTRACE_SEIZE, getppid(), 0, 0) ||
		    write(traced[1], "t", 1) != 1)
			_exit(1);
		alarm(20), pause();
		_exit(0);
	}
	close(traced[1]);
	return read(traced[0], &byte, 1) == 1 ? hangs(data) : 1;
}

static void leaves_undead(void)
{
	struct supervised got;

	supervise(outlives_kill, NULL, MILLISECONDS, BYTES, &got);
	ok(got.end == SUPERVISE_LATE && waitpid(-1, NULL, WNOHANG) == 0,
	   "one that outlives SIGKILL is left behind (end %d)", (int)got.end);
	supervised_done(&got);
}

static void ends(int (*work)(void *), unsigned milliseconds, enum supervise_end end,
		 int code, const char *name)
{
	struct supervised got;

	supervise(work, (char[]){ "word" }, milliseconds, BYTES, &got);
	ok(got.end == end && (code < 0 || got.code == code), "%s (end %d, code %d)", name,
	   (int)got.end, got.code);
	supervised_done(&got);
}

static bool likes_until_3(void *data)
{
	unsigned *looks = data;

	return ++*looks != 3;
}

static void stopped(void)
{
	unsigned looks = 0;
	const struct supervise_watch watch = { likes_until_3, &looks };
	struct supervised got;

	supervise_watched(hangs, NULL, &watch, &got);
	ok(got.end == SUPERVISE_STOPPED && looks == 3 && waitpid(-1, NULL, WNOHANG) < 0,
	   "one that is watched ends when it is not liked any more");
	supervised_done(&got);
	looks = 3; /* always */
	supervise_watched(says, (char[]){ "word" }, &watch, &got);
	ok(got.end == SUPERVISE_EXITED && got.code == 7, "... or by itself");
	supervised_done(&got);
}

int main(void)
{
	struct supervised got;

	stopped();

	supervise(says, (char[]){ "word" }, MILLISECONDS, BYTES, &got);
	ok(got.end == SUPERVISE_EXITED && got.code == 7 && got.output.length == 4 &&
		   !memcmp(got.output.data, "word", 4) && got.errors.length == 3 &&
		   !memcmp(got.errors.data, "why", 3),
	   "output, errors and exit status arrive");
	supervised_done(&got);
	supervise(says_much, (char[]){ "0123456789" }, MILLISECONDS, BYTES, &got);
	ok(got.end == SUPERVISE_EXITED && got.output.length == 1000000,
	   "a megabyte arrives whole");
	supervised_done(&got);
	ends(crashes, MILLISECONDS, SUPERVISE_KILLED, -1, "a crash is seen");
	ends(hangs, 100, SUPERVISE_LATE, -1, "a hang ends at the deadline");
	ends(ignores_signals, 100, SUPERVISE_LATE, -1,
	     "so does one that ignores signals");
#ifndef __SANITIZE_ADDRESS__
	ends(eats_memory, MILLISECONDS, SUPERVISE_KILLED, SIGABRT, "memory is limited");
#endif
	ends(leaves_child, MILLISECONDS, SUPERVISE_EXITED, 0,
	     "a leftover is not waited for");
	leaves_us_alone();
	leaves_undead();
	return tap_done();
}

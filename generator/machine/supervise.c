/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child that may fail in any way. Nothing here allocates with xmalloc(), which aborts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/supervise.h"

enum {
	TICK = 5,     /* how often a child is looked at where Linux is older than 5.3 */
	LOOK = 200,   /* how often its work is looked at by who watches it */
	GRACE = 1000, /* for a killed child to go, in milliseconds */
};

enum { OUTPUT, ERRORS, CHILD, WATCHED };

/* The soft limits only: a worker that the child starts takes them off again. */
static void limit(size_t bytes)
{
	struct rlimit memory, core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &core);
	if (!bytes || getrlimit(RLIMIT_AS, &memory))
		return;
	memory.rlim_cur = bytes < memory.rlim_max ? bytes : memory.rlim_max;
	setrlimit(RLIMIT_AS, &memory);
}

_Noreturn static void be_child(int (*work)(void *), void *data, int output, int errors,
			       pid_t parent, size_t bytes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before we asked to die with it */
		_exit(1);
	limit(bytes);
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		_exit(1);
	exit(work(data));
}

/* Takes in what is there; false at the end of it. */
static bool drain(int fd, struct captured *ret)
{
	char block[16384];
	ssize_t count;

	while ((count = read(fd, block, sizeof(block))) > 0) {
		char *more = realloc(ret->data, ret->length + (size_t)count);

		if (!more)
			return false;
		memcpy(more + ret->length, block, (size_t)count);
		ret->data = more;
		ret->length += (size_t)count;
	}
	return count < 0 && (errno == EAGAIN || errno == EINTR);
}

static void judge(int status, struct supervised *ret)
{
	if (WIFEXITED(status)) {
		ret->end = SUPERVISE_EXITED;
		ret->code = WEXITSTATUS(status);
	} else {
		ret->end = SUPERVISE_KILLED;
		ret->code = WTERMSIG(status);
	}
}

/* How a child is waited for. */
struct patience {
	int64_t deadline;
	const struct supervise_watch *watch; /* or NULL */
};

static int next_look(const struct patience *patience, bool tells, int64_t left)
{
	int64_t wait = tells ? INT_MAX : TICK;

	if (patience->watch && wait > LOOK)
		wait = LOOK;
	return (int)(left < wait ? left : wait);
}

static bool liked(const struct patience *patience)
{
	return !patience->watch || patience->watch->look(patience->watch->data);
}

/* The child's end decides, not the end of its output: a grandchild may hold that open. */
static bool ends_in_time(pid_t child, struct pollfd *watched,
			 const struct patience *patience, struct supervised *ret)
{
	struct captured *streams[] = { &ret->output, &ret->errors };
	for (;;) {
		int status;
		pid_t ended = waitpid(child, &status, WNOHANG);
		int64_t left = patience->deadline - clock_now(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < CHILD; i++)
			if (watched[i].fd >= 0 && !drain(watched[i].fd, streams[i]))
				watched[i].fd = -1;
		if (ended == child)
			judge(status, ret);
		if (ended == child || left <= 0)
			return ended == child;
		if (!liked(patience)) {
			ret->end = SUPERVISE_STOPPED;
			return false;
		}
		if (watched[CHILD].revents) /* it ended for a tracer, not yet for us */
			watched[CHILD].fd = -1;
		poll(watched, WATCHED, next_look(patience, watched[CHILD].fd >= 0, left));
	}
}

static void wait_for(pid_t child, struct pollfd *watched, const struct patience *patience,
		     struct supervised *ret)
{
	if (ends_in_time(child, watched, patience, ret))
		return;
	enum supervise_end end = ret->end == SUPERVISE_STOPPED ? SUPERVISE_STOPPED
							       : SUPERVISE_LATE;
	const struct patience grace = { clock_now(CLOCK_MONOTONIC) + GRACE, NULL };
	kill(child, SIGKILL);
	/* Then it is gone at once, but for what the kernel keeps. */
	ends_in_time(child, watched, &grace, ret);
	ret->end = end;
}

static bool pipes(int *output, int *errors)
{
	if (pipe2(output, O_CLOEXEC))
		return false;
	if (pipe2(errors, O_CLOEXEC) == 0)
		return true;
	close(output[0]);
	close(output[1]);
	return false;
}

static void run(int (*work)(void *data), void *data, size_t bytes,
		const struct patience *patience, struct supervised *ret)
{
	pid_t parent = getpid();
	int output[2], errors[2];

	*ret = (struct supervised){ .end = SUPERVISE_FAILED };
	if (!pipes(output, errors)) {
		ret->code = errno;
		return;
	}
	pid_t child = fork();
	if (child == 0)
		be_child(work, data, output[1], errors[1], parent, bytes);
	ret->code = errno;
	close(output[1]);
	close(errors[1]);
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	if (child > 0) {
		int end = (int)syscall(SYS_pidfd_open, child, 0);
		struct pollfd watched[WATCHED] = {
			[OUTPUT] = { .fd = output[0], .events = POLLIN },
			[ERRORS] = { .fd = errors[0], .events = POLLIN },
			[CHILD] = { .fd = end, .events = POLLIN },
		};

		wait_for(child, watched, patience, ret);
		if (end >= 0)
			close(end);
	}
	close(output[0]);
	close(errors[0]);
}

void supervise(int (*work)(void *data), void *data, unsigned milliseconds, size_t bytes,
	       struct supervised *ret)
{
	const struct patience patience = { clock_now(CLOCK_MONOTONIC) + milliseconds,
					   NULL };

	run(work, data, bytes, &patience, ret);
}

void supervise_watched(int (*work)(void *data), void *data,
		       const struct supervise_watch *watch, struct supervised *ret)
{
	const struct patience patience = { INT64_MAX, watch };

	run(work, data, 0, &patience, ret);
}

void supervised_done(struct supervised *supervised)
{
	free(supervised->output.data);
	free(supervised->errors.data);
}

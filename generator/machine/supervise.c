/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child that may fail in any way. Nothing here allocates with xmalloc(), which aborts.
 */
#include <errno.h>
#include <fcntl.h>
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

/* The child's end decides, not the end of its output: a grandchild may hold that open. */
static bool ends_in_time(pid_t child, struct pollfd *watched, int64_t deadline,
			 struct supervised *ret)
{
	struct captured *streams[] = { &ret->output, &ret->errors };
	for (;;) {
		int status;
		pid_t ended = waitpid(child, &status, WNOHANG);
		int64_t left = deadline - clock_now(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < CHILD; i++)
			if (watched[i].fd >= 0 && !drain(watched[i].fd, streams[i]))
				watched[i].fd = -1;
		if (ended == child)
			judge(status, ret);
		if (ended == child || left <= 0)
			return ended == child;
		if (watched[CHILD].revents) /* it ended for a tracer, not yet for us */
			watched[CHILD].fd = -1;
		bool tells = watched[CHILD].fd >= 0;
		poll(watched, WATCHED, tells || left < TICK ? (int)left : TICK);
	}
}

static void wait_for(pid_t child, struct pollfd *watched, int64_t deadline,
		     struct supervised *ret)
{
	if (ends_in_time(child, watched, deadline, ret))
		return;
	kill(child, SIGKILL);
	/* Then it is gone at once, but for what the kernel keeps. */
	ends_in_time(child, watched, clock_now(CLOCK_MONOTONIC) + GRACE, ret);
	ret->end = SUPERVISE_LATE;
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

void supervise(int (*work)(void *data), void *data, unsigned milliseconds, size_t bytes,
	       struct supervised *ret)
{
	pid_t parent = getpid();
	int output[2], errors[2];

	*ret = (struct supervised){ .end = SUPERVISE_FAILED };
	if (!pipes(output, errors)) {
		ret->code = errno;
		return;
	}
	int64_t deadline = clock_now(CLOCK_MONOTONIC) + milliseconds;
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

		wait_for(child, watched, deadline, ret);
		if (end >= 0)
			close(end);
	}
	close(output[0]);
	close(errors[0]);
}

void supervised_done(struct supervised *supervised)
{
	free(supervised->output.data);
	free(supervised->errors.data);
}

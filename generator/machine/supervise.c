/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child that may fail in any way. Nothing here allocates with xmalloc(), which aborts.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/supervise.h"

/* How often a child that closed its output is looked at. */
enum { TICK = 5 };

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

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

_Noreturn static void be_child(int (*work)(void *), void *data, int output, pid_t parent,
			       size_t bytes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before we asked to die with it */
		_exit(1);
	limit(bytes);
	if (dup2(output, STDOUT_FILENO) < 0)
		_exit(1);
	close(output);
	exit(work(data));
}

/* Takes in what is there; false at the end of the output. */
static int drain(int fd, struct supervised *ret)
{
	char block[16384];
	ssize_t count;

	while ((count = read(fd, block, sizeof(block))) > 0) {
		char *more = realloc(ret->output, ret->length + (size_t)count + 1);

		if (!more)
			return 0;
		memcpy(more + ret->length, block, (size_t)count);
		ret->output = more;
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
static void wait_for(pid_t child, int output, int64_t deadline, struct supervised *ret)
{
	struct pollfd poll_output = { .fd = output, .events = POLLIN };
	int status;

	for (;;) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (poll_output.fd >= 0 && !drain(output, ret))
			poll_output.fd = -1;
		if (ended == child) {
			judge(status, ret);
			return;
		}
		if (now() >= deadline)
			break;
		poll(&poll_output, 1, TICK);
	}
	ret->end = SUPERVISE_LATE;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

void supervise(int (*work)(void *data), void *data, unsigned milliseconds, size_t bytes,
	       struct supervised *ret)
{
	pid_t parent = getpid();
	int output[2];

	*ret = (struct supervised){ .end = SUPERVISE_FAILED };
	if (pipe2(output, O_CLOEXEC)) {
		ret->code = errno;
		return;
	}
	int64_t deadline = now() + milliseconds;
	pid_t child = fork();
	if (child == 0)
		be_child(work, data, output[1], parent, bytes);
	ret->code = errno;
	close(output[1]);
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	if (child > 0)
		wait_for(child, output[0], deadline, ret);
	close(output[0]);
}

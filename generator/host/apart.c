/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work in a process apart. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/apart.h"

static void limit(__rlimit_resource_t resource, rlim_t most)
{
	const struct rlimit limits = { most, most };

	setrlimit(resource, &limits);
}

/* Whatever our own process does about faults, here they end it, and silently. */
static void confine(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU };

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		signal(faults[i], SIG_DFL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, APART_SECONDS);
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
	limit(RLIMIT_AS, APART_BYTES);
#endif
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

static void run(bool (*work)(void *data, FILE *out), void *data, int output)
{
	confine();
	FILE *out = fdopen(output, "w");
	bool good = out && work(data, out);

	_exit(!out || fclose(out) ? 2 : !good);
}

static char *read_all(int input)
{
	cleanup_text struct text text = TEXT_INIT;
	char block[16384];
	ssize_t count;

	while ((count = read(input, block, sizeof(block))) > 0 ||
	       (count < 0 && errno == EINTR))
		text_add_bytes(&text, block, count > 0 ? (size_t)count : 0);
	return text_take(&text);
}

bool apart(bool (*work)(void *data, FILE *out), void *data, char **ret_output)
{
	int ends[2], status = -1;

	*ret_output = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return false;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		run(work, data, ends[1]);
	close(ends[1]);
	cleanup_free char *output = child < 0 ? NULL : read_all(ends[0]);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return false;
	*ret_output = take(output);
	return WEXITSTATUS(status) == 0;
}

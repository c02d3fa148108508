/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes by number and start. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/clock.h"
#include "machine/process.h"

/* proc(5): 3 is the state, 22 the start, 52 the last; comm before them has at most 64
 * bytes, but any. */
enum { FIELD_STATE = 3, FIELD_START = 22, STAT_BYTES = 2048 };

enum sight { THERE, GONE, UNKNOWN };

static enum sight sight_of_error(void)
{
	return errno == ENOENT || errno == ESRCH ? GONE : UNKNOWN;
}

static enum sight read_stat(int proc, unsigned pid, char *stat)
{
	char name[32];

	snprintf(name, sizeof(name), "%u/stat", pid);
	int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return sight_of_error();
	ssize_t length = read(fd, stat, STAT_BYTES - 1);
	enum sight sight = length < 0 ? sight_of_error() : THERE;
	close(fd);
	stat[length < 0 ? 0 : length] = '\0';
	return sight;
}

/* In "PID (comm) S PPID ...", where comm may hold spaces and parentheses. */
static enum sight parse_stat(char *stat, uint64_t *ret_start)
{
	char *rest = strrchr(stat, ')'), *field = NULL;
	unsigned long long start;

	if (!rest || rest[1] != ' ')
		return UNKNOWN;
	rest += 2;
	if (*rest == 'Z' || *rest == 'X')
		return GONE;
	for (int i = FIELD_STATE; i <= FIELD_START; i++)
		field = strsep(&rest, " ");
	if (!field || !text_number(field, &start))
		return UNKNOWN;
	*ret_start = start;
	return THERE;
}

static enum sight look(int proc, unsigned pid, uint64_t *ret_start)
{
	char stat[STAT_BYTES];
	enum sight sight = pid ? read_stat(proc, pid, stat) : GONE;

	return sight == THERE ? parse_stat(stat, ret_start) : sight;
}

bool process_find(int proc, unsigned pid, struct process *ret_process)
{
	uint64_t start;

	if (look(proc, pid, &start) != THERE)
		return false;
	*ret_process = (struct process){ pid, start };
	return true;
}

bool process_lives(int proc, const struct process *process)
{
	uint64_t start = 0;
	enum sight sight = look(proc, process->pid, &start);

	return sight == UNKNOWN || (sight == THERE && start == process->start);
}

bool process_number_taken(unsigned pid)
{
	return pid && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

uint64_t process_boot_seconds(void)
{
	return (uint64_t)clock_now(CLOCK_BOOTTIME) / 1000;
}

static int open_proc(void)
{
	return open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct process process_here(unsigned pid)
{
	struct process process = { 0, 0 };
	int proc = open_proc();

	if (proc < 0)
		return process;
	if (!process_find(proc, pid, &process))
		process = (struct process){ 0, 0 };
	close(proc);
	return process;
}

bool process_here_lives(const struct process *process)
{
	int proc = open_proc();
	bool lives = process->pid && (proc < 0 || process_lives(proc, process));

	if (proc >= 0)
		close(proc);
	return lives;
}

uint64_t process_here_age(const struct process *process)
{
	return process_boot_seconds() - process->start / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t process_here_born(const struct process *process)
{
	return (uint64_t)(clock_now(CLOCK_REALTIME) - clock_now(CLOCK_BOOTTIME)) +
	       process->start * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

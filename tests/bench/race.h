/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs timed as whole processes, interleaved, so that what else the machine does
 * meets all of them alike. */
#ifndef VMGEN_RACE_H
#define VMGEN_RACE_H

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { RACE_ROUNDS_MAX = 1001 };

struct racer {
	const char *name;
	const char *const *argv;
	const char *input;			   /* path; NULL: nothing */
	int exit;				   /* wanted; -1: any */
	void (*before)(const struct racer *racer); /* its start, untimed; or NULL */
	const void *data;
	bool broken; /* it did not end as it should, and dropped out */
	double wall[RACE_ROUNDS_MAX], cpu[RACE_ROUNDS_MAX]; /* us; sorted when done */
};

static inline const char *race_directory(void)
{
	const char *o = getenv("O");

	return o ? o : "build";
}

static inline double race_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static inline double race_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Runs RACER once; a line on stderr when it does not end as it should. */
static inline void race_run(struct racer *racer, int round)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage = { 0 };
	int status = -1;
	pid_t pid;

	if (racer->before)
		racer->before(racer);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
		&actions, 0, racer->input ? racer->input : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	double start = race_now();
	if (posix_spawnp(&pid, racer->argv[0], &actions, NULL,
			 (char **)(uintptr_t)racer->argv, environ) == 0)
		wait4(pid, &status, 0, &usage);
	racer->wall[round] = race_now() - start;
	racer->cpu[round] = 1e6 *
			    (race_seconds(usage.ru_utime) + race_seconds(usage.ru_stime));
	posix_spawn_file_actions_destroy(&actions);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 127 &&
	    (racer->exit < 0 || WEXITSTATUS(status) == racer->exit))
		return;
	fprintf(stderr, "%s: ended with status %#x\n", racer->name, (unsigned)status);
	racer->broken = true;
}

static inline int race_compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* False when a racer dropped out. */
static inline bool race(struct racer *racers, size_t count, int rounds)
{
	bool fine = true;

	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++)
			if (!racers[i].broken)
				race_run(&racers[i], round);
	for (size_t i = 0; i < count; i++) {
		qsort(racers[i].wall, (size_t)rounds, sizeof(double), race_compare);
		qsort(racers[i].cpu, (size_t)rounds, sizeof(double), race_compare);
		fine &= !racers[i].broken;
	}
	return fine;
}

#endif

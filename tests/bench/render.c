/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long `vmgen render` works once main has begun: its time less that of `vmgen
 * --version`, which loads the same libraries and leaves at once. Medians, interleaved.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"

enum { ROUNDS = 101 };

/* What the program promises: 5 ms on a host of 256 CPUs. */
static const double LIMIT = 5000;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Microseconds from start to end, its output thrown away; negative when it failed. */
static double run(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	double start = now();
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &actions, NULL, (char **)(uintptr_t)argv,
			(char *[]){ NULL }) == 0)
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? now() - start : -1;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare);
	return times[ROUNDS / 2];
}

int main(void)
{
	const char *o = getenv("O");
	cleanup_free char *vmgen = xasprintf("%s/vmgen", o ? o : "build");
	const char *const empty[] = { vmgen, "--version", NULL };
	const char *const render[] = { vmgen,
				       "render",
				       "--host",
				       "policies/hosts/epyc-2s-256.yaml",
				       "--host-policy",
				       "policies/hosts/epyc-2s-256.host-policy.yaml",
				       "policies/storage-iops.yaml",
				       NULL };
	double without[ROUNDS], with[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		without[i] = run(empty);
		with[i] = run(render);
		if (without[i] < 0 || with[i] < 0) {
			fprintf(stderr, "%s does not run\n", vmgen);
			return 1;
		}
	}
	double spent = median(with) - median(without);

	printf("render, 256 CPUs: %.0f us in main (%.0f us in all, %.0f us for "
	       "--version); "
	       "limit %.0f us\n",
	       spent, median(with), median(without), LIMIT);
	return spent > LIMIT;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long `vmgen render` works once main has begun: its time less that of `vmgen
 * --version`, which loads the same libraries and leaves at once. */
#include "race.h"

enum { ROUNDS = 101 };

/* What the program promises: 5 ms on a host of 256 CPUs. */
static const double LIMIT = 5000;

static struct racer racers[2];

int main(void)
{
	cleanup_free char *vmgen = xasprintf("%s/vmgen", race_directory());
	const char *const version[] = { vmgen, "--version", NULL };
	const char *const render[] = { vmgen,
				       "render",
				       "--host",
				       "policies/hosts/epyc-2s-256.yaml",
				       "--host-policy",
				       "policies/hosts/epyc-2s-256.host-policy.yaml",
				       "policies/storage-iops.yaml",
				       NULL };

	racers[0] = (struct racer){ .name = "vmgen --version", .argv = version };
	racers[1] = (struct racer){ .name = "vmgen render", .argv = render };
	if (!race(racers, ARRAY_SIZE(racers), ROUNDS))
		return 1;
	double without = racers[0].wall[ROUNDS / 2], with = racers[1].wall[ROUNDS / 2];
	printf("render, 256 CPUs: %.0f us in main (%.0f us in all, %.0f us for "
	       "--version); limit %.0f us\n",
	       with - without, with, without, LIMIT);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen host: what a machine is, as a description to keep or as a map to look at. */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/map.h"
#include "machine/snapshot.h"

static const struct option_row options[] = {
	OPTION_HOST,
	{ "map", 0, NULL, "draw the machine instead: nodes, L3 domains, cores, devices" },
	{ "snapshot", 0, NULL,
	  "keep this machine's description in /run/vmgen for the hook" },
	OPTION_END,
};

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = load_host(argument_value(arguments, "host"),
						   &diag);

	if (host && argument_value(arguments, "snapshot"))
		snapshot_write(host, &diag);
	else if (host && argument_value(arguments, "map"))
		map_draw(host, NULL, NULL, load_colour(STDOUT_FILENO), stdout);
	else if (host)
		host_print(host, stdout);
	return load_report(&diag);
}

const struct command command_host = {
	.name = "host",
	.words = "",
	.min_words = 0,
	.max_words = 0,
	.summary = "describe a machine: its nodes, cores, caches, memory, devices",
	.options = options,
	.run = run,
};

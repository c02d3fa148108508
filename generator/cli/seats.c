/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who sits where: a compiled guest drawn into the map of its host. */
#include <unistd.h>

#include "base/size.h"
#include "cli/load.h"
#include "cli/map.h"
#include "cli/seats.h"

struct seats {
	const struct job *job;
	char vcpu[24]; /* the label that was asked for last */
};

static bool in(const struct value *cpus, unsigned cpu)
{
	return cpus->cpus && cpuset_has(cpus->cpus, cpu);
}

static bool another_owns(const struct claims *claims, unsigned cpu)
{
	for (size_t i = 0; claims && i < claims->count; i++) {
		const struct cpuset cpus = cpulist_set(&claims->items[i].cpus);

		if (cpuset_has(&cpus, cpu))
			return true;
	}
	return false;
}

/* What the host policy keeps CPU for, or NULL. */
static const char *kept_for(const struct host_policy *policy, unsigned cpu)
{
	if (policy && in(&policy->reserved_cpus, cpu))
		return "host";
	if (policy && in(&policy->vswitch.pmd_cpus, cpu))
		return "pmd";
	return NULL;
}

static const char *label(unsigned cpu, void *data)
{
	struct seats *seats = data;
	const struct placement *placement = seats->job->outcome.placement;

	for (size_t i = 0; placement->cpus && i < placement->n_vcpus; i++)
		if (placement->cpus[i] == cpu) {
			snprintf(seats->vcpu, sizeof(seats->vcpu), "v%zu", i);
			return seats->vcpu;
		}
	if (cpuset_has(&placement->emulator, cpu))
		return "emu";
	if (cpuset_has(&placement->owned, cpu))
		return "idle";
	if (another_owns(seats->job->claims, cpu))
		return "x";
	return kept_for(seats->job->host_policy, cpu);
}

static void print_cells(const struct job *job, FILE *stream)
{
	const struct placement *placement = job->outcome.placement;

	for (size_t i = 0; i < placement->n_cells; i++) {
		const struct placed_cell *cell = &placement->cells[i];
		cleanup_free char *vcpus = cpuset_format(&cell->vcpus);
		cleanup_free char *memory = size_format(cell->memory);

		fprintf(stream, "%s: vCPUs %s and %s on node %u\n", job->guest->name,
			vcpus, memory, cell->node);
	}
}

static void print_threads(const struct job *job, FILE *stream)
{
	const struct placement *placement = job->outcome.placement;
	cleanup_free char *shared = cpuset_format(&placement->shared);
	cleanup_free char *emulator = cpuset_format(&placement->emulator);

	if (placement->cpus) {
		fputs("  vCPUs in order on CPUs", stream);
		for (size_t i = 0; i < placement->n_vcpus; i++)
			fprintf(stream, " %u", placement->cpus[i]);
		fputc('\n', stream);
	} else {
		fprintf(stream, "  vCPUs float over CPUs %s\n", shared);
	}
	if (*emulator)
		fprintf(stream, "  emulator and I/O threads on CPUs %s%s\n", emulator,
			placement->emulator_own ? ", their own" : "");
}

void seats_print(const struct job *job, FILE *stream)
{
	struct seats seats = { .job = job };

	map_draw(job->host, label, &seats, load_colour(STDOUT_FILENO), stream);
	fputc('\n', stream);
	print_cells(job, stream);
	print_threads(job, stream);
}

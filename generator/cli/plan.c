/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen plan: where a stream of guests that come and go would be placed on a host. */
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/topo.h"
#include "machine/file.h"
#include "placement/place.h"

enum { STREAM_BYTES = 256 << 20, WORDS_MAX = 8 };

/* A guest that was placed; looked up by name. */
struct placed {
	char *name;
	struct cpuset owned;
};

struct plan {
	const char *file;
	char *directory; /* that the stream's topology is in: ends with "/", or empty */
	struct host *host;
	struct place_request request; /* what all guests share */
	struct place_state state;
	void *guests; /* tsearch() tree of struct placed */
	bool text;    /* for people */
	size_t arrived, placed, vcpus_asked, vcpus_placed;
	struct text out; /* printed when all of the stream was fine */
	struct diag *diag;
};

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct placed *)left)->name,
		      ((const struct placed *)right)->name);
}

static void placed_free(void *guest)
{
	free(((struct placed *)guest)->name);
	free(guest);
}

#define fault(plan, at, ...) \
	(diag_error((plan)->diag, (at), "stream", __VA_ARGS__), false)

/* The value of KEY=VALUE among the words, or NULL. */
static const char *value_of(char *const *words, size_t count, const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 2; i < count; i++)
		if (!strncmp(words[i], key, length) && words[i][length] == '=')
			return words[i] + length + 1;
	return NULL;
}

/* "2": that many equal cells; "1+7": cells of those sizes. */
static bool read_cells(const char *value, unsigned vcpus, struct place_cell *cells,
		       size_t *ret_count)
{
	cleanup_free char *copy = xstrdup(value);
	unsigned long long size, sum = 0;
	char *rest = copy, *piece;
	size_t count = 0;

	if (!strchr(value, '+')) {
		if (!text_number(value, &size) || !size || size > PLACE_CELLS_MAX ||
		    vcpus % size)
			return false;
		for (; count < size; count++)
			cells[count] = (struct place_cell){ .vcpus = vcpus /
								     (unsigned)size };
		*ret_count = count;
		return true;
	}
	while ((piece = strsep(&rest, "+"))) {
		if (!text_number(piece, &size) || !size || size > vcpus ||
		    count == PLACE_CELLS_MAX)
			return false;
		cells[count++] = (struct place_cell){ .vcpus = (unsigned)size };
		sum += size;
	}
	*ret_count = count;
	return sum == vcpus;
}

static void print_answer(struct plan *plan, const char *name,
			 const struct placement *placement)
{
	text_printf(&plan->out, "%s", name);
	for (size_t i = 0; i < placement->n_vcpus; i++)
		text_printf(&plan->out, "%s%u", i ? "," : " vcpus=", placement->cpus[i]);
	if (placement->emulator_own)
		text_printf(&plan->out, " emulator=%u",
			    cpuset_next(&placement->emulator, 0));
	for (size_t i = 0; i < placement->n_cells; i++)
		text_printf(&plan->out, "%s%u",
			    i ? "," : " nodes=", placement->cells[i].node);
	text_add(&plan->out, "\n");
}

static void print_for_people(struct plan *plan, const char *name,
			     const struct placement *placement)
{
	text_printf(&plan->out, "%s: %zu vCPU%s", name, placement->n_vcpus,
		    placement->n_vcpus == 1 ? "" : "s");
	for (size_t c = 0; c < placement->n_cells; c++) {
		const struct placed_cell *cell = &placement->cells[c];
		struct cpuset cpus = CPUSET_INIT;

		cpuset_foreach (vcpu, &cell->vcpus)
			cpuset_set(&cpus, placement->cpus[vcpu]);
		cleanup_free char *list = cpuset_format(&cpus);
		text_printf(&plan->out, "%s node %u, CPUs %s", c ? ";" : " on",
			    cell->node, list);
	}
	if (placement->emulator_own) {
		cleanup_free char *list = cpuset_format(&placement->emulator);

		text_printf(&plan->out, "; emulator on %s", list);
	}
	text_add(&plan->out, "\n");
}

/* One line, from what place() reported. */
static void print_refusal(struct plan *plan, const char *name, const struct diag *diag)
{
	const struct finding *finding = diag->count ? &diag->findings[0] : NULL;

	text_printf(&plan->out, "%s: refused: %s\n", name, finding ? finding->text : "");
	for (size_t i = 0; finding && i < finding->n_notes; i++)
		text_printf(&plan->out, "    %s\n", finding->notes[i].text);
}

static void keep(struct plan *plan, const char *name, const struct placement *placement)
{
	struct placed *guest = xcalloc(1, sizeof(*guest));

	guest->name = xstrdup(name);
	guest->owned = placement->owned;
	if (!tsearch(guest, &plan->guests, by_name))
		abort();
	cpuset_or(&plan->state.owned, &guest->owned);
	cpuset_or(&plan->state.busy, &guest->owned);
}

static void arrive(struct plan *plan, const char *name)
{
	cleanup_diag struct diag why = DIAG_INIT;
	cleanup_placement struct placement *placement =
		plan->text ? place(&plan->request, &plan->state, NOWHERE, &why)
			   : place_quietly(&plan->request, &plan->state, NULL);

	plan->arrived++;
	plan->vcpus_asked += plan->request.vcpus;
	if (!placement) {
		if (plan->text)
			print_refusal(plan, name, &why);
		else
			text_printf(&plan->out, "%s reject\n", name);
		return;
	}
	plan->placed++;
	plan->vcpus_placed += plan->request.vcpus;
	if (plan->text)
		print_for_people(plan, name, placement);
	else
		print_answer(plan, name, placement);
	keep(plan, name, placement);
}

static bool read_arrival(struct plan *plan, char *const *words, size_t count,
			 struct place at)
{
	const char *vcpus = value_of(words, count, "vcpus");
	const char *cells = value_of(words, count, "cells");
	const char *emulator = value_of(words, count, "emulator");
	struct place_cell sizes[PLACE_CELLS_MAX];
	struct placed key = { .name = words[1] };
	unsigned long long number;

	if (count != 5 || !vcpus || !cells || !emulator)
		return fault(plan, at,
			     "an arrival is \"arrive NAME vcpus=N cells=N emulator=N\"");
	if (!text_number(vcpus, &number) || !number || number > CPUSET_MAX)
		return fault(plan, at, "vcpus=%s is not a number of vCPUs", vcpus);
	if (strcmp(emulator, "0") && strcmp(emulator, "1"))
		return fault(plan, at, "emulator=%s is neither 0 nor 1", emulator);
	if (tfind(&key, &plan->guests, by_name))
		return fault(plan, at, "guest %s is there already", words[1]);
	plan->request.vcpus = (unsigned)number;
	plan->request.own = *emulator == '1';
	if (!read_cells(cells, plan->request.vcpus, sizes, &plan->request.n_cells))
		return fault(plan, at,
			     "cells=%s does not share out the vCPUs: write a number that "
			     "divides them, or their sizes as in 1+7",
			     cells);
	plan->request.cells = plan->request.n_cells > 1 ? sizes : NULL;
	plan->request.max_nodes = 1;
	arrive(plan, words[1]);
	plan->request.cells = NULL;
	return true;
}

static void depart(struct plan *plan, char *name)
{
	struct placed key = { .name = name };
	void *node = tfind(&key, &plan->guests, by_name);

	if (!node)
		return;
	struct placed *guest = *(struct placed **)node;
	cpuset_andnot(&plan->state.owned, &guest->owned);
	cpuset_andnot(&plan->state.busy, &guest->owned);
	tdelete(guest, &plan->guests, by_name);
	placed_free(guest);
}

/* All CPUs and nodes are for guests. */
static void open_host(struct plan *plan)
{
	plan->state.host = plan->host;
	plan->request.pool = plan->request.own_pool = plan->host->online;
	for (size_t i = 0; i < plan->host->n_nodes; i++)
		cpuset_set(&plan->request.nodeset, plan->host->nodes[i].number);
	if (!plan->host->n_nodes)
		cpuset_set(&plan->request.nodeset, 0);
}

static bool read_topology(struct plan *plan, const char *name)
{
	size_t length;
	cleanup_free char *path = xasprintf("%s%s", plan->directory, name);
	cleanup_free char *text = file_read(path, STREAM_BYTES, &length, plan->diag);

	plan->host = text ? topo_parse(path, text, plan->diag) : NULL;
	if (plan->host)
		open_host(plan);
	return plan->host;
}

static bool read_event(struct plan *plan, char **words, size_t count, struct place at)
{
	if (!strcmp(words[0], "topology") && count == 2)
		return plan->host || read_topology(plan, words[1]);
	if (!plan->host)
		return fault(plan, at,
			     "there is no host yet: give --host, or begin with "
			     "\"topology FILE\"");
	if (!strcmp(words[0], "arrive"))
		return read_arrival(plan, words, count, at);
	if (strcmp(words[0], "depart") || count != 2)
		return fault(plan, at,
			     "a line is \"arrive NAME ...\", \"depart NAME\" or "
			     "\"topology FILE\"");
	depart(plan, words[1]);
	return true;
}

static bool read_stream(struct plan *plan, char *text)
{
	char *words[WORDS_MAX], *line;
	struct place at = { plan->file, 0, 1 };

	while ((line = strsep(&text, "\n"))) {
		size_t count = topo_words(line, words, WORDS_MAX);

		at.line++;
		if (count && !read_event(plan, words, count, at))
			return false;
	}
	return true;
}

static void print_summary(struct plan *plan)
{
	struct cpuset free = plan->request.pool;

	cpuset_andnot(&free, &plan->state.owned);
	text_printf(
		&plan->out,
		"\n%zu of %zu guests placed, %.1f %% of the vCPUs; CPUs free at the end:",
		plan->placed, plan->arrived,
		plan->vcpus_asked
			? 100.0 * (double)plan->vcpus_placed / (double)plan->vcpus_asked
			: 100.0);
	for (size_t i = 0; plan->host && i < plan->host->n_nodes; i++) {
		struct cpuset here = plan->host->nodes[i].cpus;

		cpuset_and(&here, &free);
		text_printf(&plan->out, "%s node %u: %u", i ? "," : "",
			    plan->host->nodes[i].number, cpuset_count(&here));
	}
	text_add(&plan->out, "\n");
}

static void run_stream(struct plan *plan, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length;
	cleanup_free char *text = file_read(path, STREAM_BYTES, &length, plan->diag);

	plan->file = path;
	plan->directory = xstrndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	if (text && read_stream(plan, text)) {
		if (plan->text)
			print_summary(plan);
		if (plan->out.length)
			fputs(plan->out.data, stdout);
	}
	free(plan->directory);
}

static bool read_format(const char *format, struct plan *plan)
{
	plan->text = text_equal(format, "text");
	if (!format || plan->text || text_equal(format, "answers"))
		return true;
	fprintf(stderr, "vmgen plan: --format is answers or text, not '%s'\n", format);
	return false;
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct plan plan = { .diag = &diag };
	const char *host = argument_value(arguments, "host");

	if (!read_format(argument_value(arguments, "format"), &plan))
		return 2;
	plan.request.smt = SMT_PREFER;
	plan.request.pack = argument_value(arguments, "pack");
	if (host)
		plan.host = load_host(host, &diag);
	if (plan.host)
		open_host(&plan);
	if (plan.host || !host)
		run_stream(&plan, arguments->words[0]);
	tdestroy(plan.guests, placed_free);
	host_free(plan.host);
	text_done(&plan.out);
	return load_report(&diag);
}

static const struct option_row options[] = {
	{ "host", 0, "HOST",
	  "host description: YAML, hwloc XML, capabilities XML, or a synthetic string "
	  "(default: the stream's topology)" },
	{ "pack", 0, NULL, "fill nodes up instead of spreading guests over them" },
	{ "format", 0, "FORMAT", "answers (one line an arrival, the default) or text" },
	OPTION_END,
};

const struct command command_plan = {
	.name = "plan",
	.words = "STREAM",
	.min_words = 1,
	.max_words = 1,
	.summary = "say where a stream of guests would be placed",
	.options = options,
	.run = run,
};

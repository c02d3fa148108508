/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OpenStack Nova's single-cell vectors (nova/tests/unit/virt/test_hardware.py, as data):
 * feasible exactly where Nova says so, or the row says why ours is right.
 */
#include <string.h>

#include "base/text.h"
#include "placement/place.h"
#include "tap.h"

struct vector {
	const char *name;
	const char *cores; /* as host descriptions write them */
	const char *used;  /* CPUs that have an owner, or NULL */
	unsigned vcpus;
	enum smt smt;
	bool fits;	  /* says Nova */
	const char *ours; /* why we say the contrary, or NULL */
};

static const struct vector vectors[] = {
	{ "too large", "0 1 2", NULL, 4, SMT_PREFER, false, NULL },
	{ "not available", "0 1 2 3", "0", 4, SMT_PREFER, false, NULL },
	{ "no siblings, empty", "0 1 2", NULL, 3, SMT_PREFER, true, NULL },
	{ "no siblings, in use", "0 1 2 3", "1", 3, SMT_PREFER, true, NULL },
	{ "guest siblings", "0 1 2 3", NULL, 4, SMT_PREFER, true, NULL },
	{ "host siblings, empty", "0+1 2+3", NULL, 4, SMT_PREFER, true, NULL },
	{ "host siblings, eight", "0+1 2+3 4+5 6+7", NULL, 8, SMT_PREFER, true, NULL },
	{ "SMT 4, in use", "0+1+2+3 4+5+6+7", "1-2,5-6", 4, SMT_PREFER, true, NULL },
	{ "one core of four", "0+1+2+3 4+5+6+7", NULL, 4, SMT_PREFER, true, NULL },
	{ "host siblings", "0+1 2+3", NULL, 4, SMT_PREFER, true, NULL },
	{ "require, no siblings", "0 1 2 3 4 5 6 7", NULL, 4, SMT_REQUIRE, false, NULL },
	{ "require, too few", "0+4 1+5 2+6 3+7", "0-2", 4, SMT_REQUIRE, false, NULL },
	{ "require", "0+1 2+3", NULL, 4, SMT_REQUIRE, true, NULL },
	{ "require, in use", "0+4 1+5 2+6 3+7", "0-1", 4, SMT_REQUIRE, true, NULL },
	{ "odd", "0+1 2+3 4+5 6+7", NULL, 5, SMT_PREFER, true, NULL },
	{ "six on SMT 4", "0+1+2+3 4+5+6+7", NULL, 6, SMT_PREFER, true, NULL },
	{ "odd, in use", "0+1 2+3 4+5 6+7", "0,2,5", 3, SMT_PREFER, true, NULL },
	{ "mixed siblings", "0+1 2+3 4+5 6+7", "0-2,5", 4, SMT_PREFER, true, NULL },
	{ "orphans only", "0+1 2+3 4+5 6+7", "0,2,5-6", 4, SMT_PREFER, true, NULL },
	{ "large and odd", "0+8 1+9 2+10 3+11 4+12 5+13 6+14 7+15", NULL, 5, SMT_PREFER,
	  true, NULL },
	{ "isolate, too few cores", "0+1 2+3", "1", 2, SMT_ISOLATE, false, NULL },
	{ "isolate, no core", "0+1 2+3", "1-2", 2, SMT_ISOLATE, false, NULL },
	{ "isolate without SMT", "0 1 2 3", NULL, 2, SMT_ISOLATE, true, NULL },
	{ "isolate on SMT", "0+1 2+3", NULL, 2, SMT_ISOLATE, true, NULL },
	{ "isolate on SMT, in use", "0+4 1+5 2+6 3+7", "0-1", 2, SMT_ISOLATE, true,
	  NULL },
	{ "isolate, dedicated set", "2+6 3+7", NULL, 2, SMT_ISOLATE, false,
	  "since its bug 1889633 Nova takes isolate to mean a host without SMT, where "
	  "its "
	  "siblings could be in the shared set; ours owns the idle siblings itself" },
};

static struct host *host_of(const struct vector *vector)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = xasprintf(
		"machine: nova\nnodes:\n  - node: 0\n    cpus:\n"
		"      - {package: 0, cores: %s}\n",
		vector->cores);
	struct host *host = host_from_yaml("nova.yaml", text, strlen(text), &diag);

	diag_print(&diag, stdout, false);
	return host;
}

/* Each vCPU on a free CPU, no CPU twice. */
static bool sound(const struct placement *placement, const struct place_request *request,
		  const struct place_state *state)
{
	struct cpuset given = CPUSET_INIT;

	for (size_t i = 0; i < placement->n_vcpus; i++) {
		unsigned cpu = placement->cpus[i];

		if (cpuset_has(&given, cpu) || cpuset_has(&state->owned, cpu) ||
		    !cpuset_has(&request->pool, cpu))
			return false;
		cpuset_set(&given, cpu);
	}
	return placement->n_vcpus == request->vcpus;
}

static void check(const struct vector *vector)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_host struct host *host = host_of(vector);

	if (!ok(host != NULL, "%s: the host is read", vector->name))
		return;
	struct place_request request = {
		.max_nodes = 1,
		.vcpus = vector->vcpus,
		.smt = vector->smt,
		.pool = host->online,
	};
	struct place_state state = { .host = host };
	cpuset_set(&request.nodeset, 0);
	if (vector->used)
		cpuset_parse(vector->used, &state.owned, NULL, NULL);
	state.busy = state.owned;
	cleanup_placement struct placement *placement = place(&request, &state, NOWHERE,
							      &diag);
	bool want = vector->fits != (vector->ours != NULL);
	ok((placement != NULL) == want &&
		   (!placement || sound(placement, &request, &state)),
	   "%s: %s%s%s", vector->name, want ? "fits" : "does not fit",
	   vector->ours ? ", unlike Nova: " : "", vector->ours ? vector->ours : "");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		check(&vectors[i]);
	return tap_done();
}

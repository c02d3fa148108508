/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A domain XML, read and rewritten by policies that change about all there is: the result
 * is read, and rewriting it again changes nothing.
 */
#include "compile.h"
#include "fuzz/fuzz.h"

static const char *const policy_texts[] = {
	"policy: storage\n"
	"cputune: {vcpupin: dedicated, smt: prefer, emulatorpin: own, iothreadpin: own}\n"
	"iothreads: 2\n"
	"numatune: {mode: strict, nodes: 2}\n"
	"memoryBacking: {hugepages: 2 MiB, access: shared}\n"
	"disks:\n"
	"  - {name: data0, size: 80 GB, directory: /images, format: raw, cache: none,\n"
	"     io: native, iothread: 1}\n"
	"interfaces:\n"
	"  - {name: net0, type: vhostuser, source: {path: \"/run/{guest}-{name}\",\n"
	"     mode: client}, queues: auto, rx_queue_size: 1024}\n",
	"policy: realtime\n"
	"cputune:\n"
	"  vcpupin: dedicated\n"
	"  smt: any\n"
	"  iothreadpin: own\n"
	"  vcpusched: {scheduler: fifo, priority: 1}\n"
	"iothreads: 1\n"
	"memoryBacking: {locked: yes}\n",
};

enum { N_POLICIES = ARRAY_SIZE(policy_texts) };

/* What does not depend on the input is made once, and lives as long as the program. */
static struct world {
	struct host *host;
	struct policy *policies[N_POLICIES];
} the_world;

static const struct world *world(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	if (the_world.host)
		return &the_world;
	the_world.host = host_from_synthetic("package:2 numa:1 l3:1 core:8 pu:2", &diag);
	for (size_t i = 0; i < N_POLICIES; i++)
		the_world.policies[i] = policy_parse("policy", policy_texts[i],
						     strlen(policy_texts[i]), &diag);
	diag_print(&diag, stderr, false);
	must(!diag.errors);
	return &the_world;
}

/* XML as POLICY wants it; NULL and a report when it is refused. */
static char *rewritten(const struct policy *policy, const char *xml, size_t length,
		       struct diag *diag)
{
	cleanup_doc struct doc *doc = doc_parse("input", xml, length, diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, diag) : NULL;
	cleanup_outcome struct outcome outcome = OUTCOME_INIT;
	struct input input = {
		.policy = policy, .host = world()->host, .doc = doc, .guest = guest
	};

	return guest && compile(&input, &outcome, diag) ? take(outcome.xml) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);

	for (size_t i = 0; i < N_POLICIES; i++) {
		const struct policy *policy = world()->policies[i];
		cleanup_diag struct diag diag = DIAG_INIT;
		cleanup_free char *once = rewritten(policy, text, size, &diag);

		must(!once == !!diag.errors);
		if (!once)
			continue;
		cleanup_free char *twice = rewritten(policy, once, strlen(once), &diag);
		if (!text_equal(once, twice)) {
			diag_print(&diag, stderr, false);
			fprintf(stderr, "%s\nonce:\n%s\ntwice:\n%s\n", policy->name.text,
				once, twice ? twice : "refused");
		}
		must(text_equal(once, twice));
	}
	return 0;
}

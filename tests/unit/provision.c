/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every state that a data disk can be in, against the rule in one sentence: it is made
 * where it is neither there nor recorded, kept where it is this guest's and as asked. */
#include <inttypes.h>

#include "base/size.h"
#include "compile.h"
#include "guest/records.h"
#include "provision.h"
#include "tap.h"

static const char policy_text[] =
	"policy: p\n"
	"disks: [{name: data0, size: 80 GB, directory: /srv, format: %s}]\n";

enum { NOT_DEFINED, BY_ALIAS, BY_PATH, ELSEWHERE, DEFINED };

/* Sets of what may be so. */
struct state {
	unsigned defined;
	bool recorded, exists, smaller, other_format;
};

static char *guest_text(const struct state *state)
{
	static const char *const sources[] = { "", "/srv/g-data0.raw", "/srv/g-data0.raw",
					       "/old/disk.raw" };
	cleanup_free char *disk = xasprintf(
		"<disk type='file'><driver type='raw'/><source file='%s'/>"
		"<target dev='vda'/>%s</disk>",
		sources[state->defined],
		state->defined == BY_PATH ? "" : "<alias name='ua-vmgen-data0'/>");

	return xasprintf(
		"<domain><name>g</name><memory>1024</memory><vcpu>1</vcpu>%s<devices>%s"
		"</devices></domain>",
		state->recorded ? "<metadata><x:disks xmlns:x='" RECORDS_NS "'><x:disk "
				  "name='data0' file='/srv/g-data0.raw' format='raw' "
				  "size='80000000000'/></x:disks></metadata>"
				: "",
		state->defined ? disk : "");
}

static enum provision expected(const struct state *state)
{
	if (!state->exists)
		return state->recorded || state->defined == ELSEWHERE ? PROVISION_REFUSE
								      : PROVISION_MAKE;
	if (!state->recorded && !state->defined)
		return PROVISION_REFUSE;
	return state->smaller || state->other_format ? PROVISION_REFUSE : PROVISION_KEEP;
}

static bool as_expected(const struct state *state, struct diag *diag)
{
	cleanup_free char *yaml = xasprintf(policy_text,
					    state->other_format ? "qcow2" : "raw");
	cleanup_free char *xml = guest_text(state);
	struct policy *policy = policy_parse("p.yaml", yaml, strlen(yaml), diag);
	cleanup_doc struct doc *doc = doc_parse("g.xml", xml, strlen(xml), diag);
	cleanup_guest struct guest *guest = guest_read(doc, diag);
	const struct image_seen seen = { state->exists,
					 UINT64_C(80000000000) - state->smaller };
	cleanup_data_disk struct data_disk disk;

	data_disk_init(&disk, policy->disks.items, guest);
	enum provision got = provision_decide(&disk, &seen, "g", diag);
	bool good = got == expected(state) &&
		    (diag->errors == 1) == (got == PROVISION_REFUSE);
	if (!good)
		note("defined %u, recorded %d, exists %d, smaller %d, other format %d: "
		     "%d, %zu errors",
		     state->defined, state->recorded, state->exists, state->smaller,
		     state->other_format, (int)got, diag->errors);
	policy_free(policy);
	return good;
}

static void decisions(void)
{
	unsigned wrong = 0, count = 0;

	for (unsigned i = 0; i < DEFINED * 16; i++) {
		const struct state state = { i / 16, i & 1, i & 2, i & 4, i & 8 };
		cleanup_diag struct diag diag = DIAG_INIT;

		/* another format is another path, where nothing says which it is */
		if (state.other_format && (state.defined == BY_PATH || !state.recorded))
			continue;
		count++;
		wrong += !as_expected(&state, &diag);
	}
	ok(wrong == 0 && count > 40, "%u states of a disk, each decided as it should be",
	   count);
}

static bool fits(const char *keys, uint64_t bytes, size_t *ret_warnings)
{
	cleanup_free char *yaml = xasprintf(
		"policy: p\ndisks: [{name: d, size: 1 GiB, directory: /srv, %s}]\n",
		keys);
	cleanup_diag struct diag diag = DIAG_INIT;
	struct policy *policy = policy_parse("p.yaml", yaml, strlen(yaml), &diag);
	const struct image_room room = { bytes, "/srv" };
	bool good = provision_fits(policy->disks.items, &room, &diag);

	*ret_warnings = diag.count - diag.errors;
	policy_free(policy);
	return good;
}

static void space(void)
{
	size_t warned;

	ok(fits("format: raw", 0, &warned) && warned == 1,
	   "a thin disk needs no room, and a warning");
	ok(fits("format: raw", GIB, &warned) && !warned, "none where it all fits");
	ok(!fits("preallocation: falloc", GIB - 1, &warned) &&
		   fits("preallocation: falloc", GIB, &warned) && !warned,
	   "one that is allocated must fit, to the byte");
	ok(!fits("preallocation: full, format: qcow2", GIB, &warned) &&
		   fits("preallocation: full, format: qcow2", GIB + 2 * MIB, &warned),
	   "with the tables of qcow2");
	ok(fits("preallocation: metadata, format: qcow2", 2 * MIB, &warned) &&
		   warned == 1,
	   "whose tables alone are little");
}

int main(void)
{
	decisions();
	space();
	return tap_done();
}

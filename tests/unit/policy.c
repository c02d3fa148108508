/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies and host policies: good files, malformed files, and the choice for a guest. */
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "host/host_fields.h"
#include "policy/host_policy.h"
#include "policy/policy.h"
#include "tap.h"

static char *slurp(const char *path, size_t *ret_length)
{
	struct text text = TEXT_INIT;
	char block[4096];
	size_t count;
	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	while ((count = fread(block, 1, sizeof(block), file)) > 0)
		text_add_bytes(&text, block, count);
	fclose(file);
	*ret_length = text.length;
	return text_take(&text);
}

static const char *base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* What can be said of a host field by field. */
static bool host_parses(const char *name, const char *text, size_t length,
			struct diag *diag)
{
	struct host_fields fields = { .place = { name, 0, 0 } };
	bool good = fields_parse(&host_group, name, text, length, &fields, diag);

	fields_done(&host_group, &fields);
	return good;
}

/* Files are policies, host policies if they are called host-*, hosts if host-NUMBER. */
static bool parses(const char *path, struct diag *diag)
{
	size_t length = 0;
	const char *name = base_name(path);
	cleanup_free char *text = slurp(path, &length);

	if (text_starts(name, "host-") && strspn(name + 5, "0123456789"))
		return host_parses(name, text, length, diag);
	if (text_starts(name, "host-")) {
		struct host_policy *policy = host_policy_parse(name, text, length, diag);

		host_policy_free(policy);
		return policy != NULL;
	}
	struct policy *policy = policy_parse(name, text, length, diag);
	policy_free(policy);
	return policy != NULL;
}

static char *printed(struct diag *diag)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	diag_sort(diag);
	diag_print(diag, stream, false);
	fclose(stream);
	return text;
}

/* Diagnostics are those in NAME.err; UPDATE=1 writes it anew. */
static void is_refused(const char *path)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *golden = xasprintf("%.*s.err",
					      (int)(strrchr(path, '.') - path), path);
	size_t length;
	bool parsed = parses(path, &diag);
	cleanup_free char *got = printed(&diag);

	if (getenv("UPDATE")) {
		FILE *file = fopen(golden, "w");

		fputs(got, file);
		fclose(file);
	}
	cleanup_free char *want = slurp(golden, &length);
	ok(!parsed, "%s is refused", base_name(path));
	is(got, want, "%s: each fault has its line", base_name(path));
}

static void is_accepted(const char *path)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	bool parsed = parses(path, &diag);
	cleanup_free char *got = printed(&diag);

	ok(parsed, "%s is accepted", base_name(path));
	is(got, "", "%s: without a word", base_name(path));
}

static void each(const char *pattern, void (*check)(const char *path), size_t least)
{
	glob_t found;

	glob(pattern, 0, NULL, &found);
	ok(found.gl_pathc >= least, "%s: %zu files", pattern, found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check(found.gl_pathv[i]);
	globfree(&found);
}

static struct policy *policy(const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;

	return policy_parse("p.yaml", text, strlen(text), &diag);
}

static void values_are_read(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length = 0;
	cleanup_free char *text = slurp("tests/policy/valid/all.yaml", &length);
	struct policy *all = policy_parse("all.yaml", text, length, &diag);
	const struct policy_disk *disk = all->disks.items;
	const struct policy_interface *net = all->interfaces.items;

	is(all->name.text, "everything", "a name");
	is(all->description.text, "a policy\nthat has every key\n",
	   "a text of two lines");
	ok(all->qemu.number == 7002000, "a version");
	ok(all->domain.memory.number == UINT64_C(8) << 30, "a size");
	ok(all->domain.memory.place.line == 11 && all->domain.memory.place.column == 65,
	   "a place");
	is(all->domain.memory.place.file, "all.yaml", "a place's file");
	ok(all->cputune.vcpupin.word == -1 &&
		   cpuset_count(all->cputune.vcpupin.cpus) == 7 &&
		   !cpuset_has(all->cputune.vcpupin.cpus, 3),
	   "a CPU list");
	ok(all->cputune.smt.word == SMT_ANY, "a word");
	ok(all->cputune.emulatorpin.word == HELPERPIN_OWN &&
		   !all->cputune.emulatorpin.cpus,
	   "a word beside CPU lists");
	ok(all->numatune.near.count == 5 && all->numatune.near.items[0].word == -1 &&
		   all->numatune.near.items[4].word == NEAR_INTERFACES,
	   "a list of texts and words");
	ok(all->numatune.with.count == 0 && all->numatune.with.place.line,
	   "an empty list is given");
	ok(all->memoryBacking.locked.number == 1 &&
		   all->memoryBacking.nosharepages.number == 0 &&
		   given(&all->memoryBacking.nosharepages),
	   "on and off");
	ok(all->disks.count == 3 && disk->size.number == 80000000000, "a list of groups");
	ok(disk->queue_size.number == 1024, "a word that is a number");
	ok(net->zero_copy.backend.word == BACKEND_OVS &&
		   net->zero_copy.version.number == 2010000,
	   "a group in a group of a list");
	ok(net->queues.word == -1 && net->queues.number == 4, "a number beside words");
	policy_free(all);
}

static void not_given(void)
{
	struct policy *least = policy("policy: p\n");

	ok(!given(&least->cputune.smt) && !least->cputune.place.line &&
		   !least->disks.count && !least->match.name.count,
	   "what is not given has no place");
	policy_free(least);
}

static const char *chosen(const struct policy *const *policies, size_t count,
			  const char *guest, const char *metadata, struct diag *diag)
{
	const struct policy *found = NULL;

	if (!policy_choose(policies, count, guest, metadata, &found, diag))
		return "refused";
	return found ? found->name.text : NULL;
}

static void choice(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct policy *all[] = {
		policy("policy: any\nmatch: {name: '*'}\n"),
		policy("policy: low\nmatch: {name: [x, 'db-*'], priority: 1}\n"),
		policy("policy: high\nmatch: {name: 'db-?', priority: 9}\n"),
		policy("policy: rival\nmatch: {name: 'db-1*', priority: 1}\n"),
		policy("policy: unmatched\n"),
	};
	const struct policy *const *policies = (const struct policy *const *)all;

	is(chosen(policies, 5, "web", NULL, &diag), "any", "the one that matches");
	is(chosen(policies, 5, "x", NULL, &diag), "low", "the second pattern matches");
	is(chosen(policies, 5, "db-2", NULL, &diag), "high", "the highest priority");
	is(chosen(policies, 5, "db-1", NULL, &diag), "high",
	   "a tie below the highest priority is none");
	is(chosen(policies + 4, 1, "web", NULL, &diag), NULL, "none matches");
	is(chosen(policies, 5, "db-1", "unmatched", &diag), "unmatched",
	   "metadata wins over matches");
	ok(diag.count == 0, "all that without a word");
	is(chosen(policies, 5, "db-10", NULL, &diag), "refused", "a tie refuses");
	is(chosen(policies, 5, "db-1", "hig", &diag), "refused",
	   "metadata that names no policy refuses");
	cleanup_free char *got = printed(&diag);
	is(got,
	   "p.yaml:2:8: error: guest db-10 matches the policies \"low\" and \"rival\" "
	   "with the same priority 1; give one a higher match.priority\n"
	   "p.yaml:2:8: note: the other one is here\n"
	   "vmgen: error: guest db-1 names the policy \"hig\" in its metadata, but there "
	   "is none of that name; did you mean \"high\"?\n",
	   "both are named");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		policy_free(all[i]);
}

static void expand_is(const char *pattern, const char *want)
{
	cleanup_free char *got = policy_expand(pattern, "g{name}", "n");

	is(got, want, "'%s' expanded", pattern);
}

/* A file cut off, or with a byte changed, is read or refused with a reason. */
static void mutations(void)
{
	size_t length = 0, silent = 0, runs = 0;
	cleanup_free char *text = slurp("tests/policy/valid/all.yaml", &length);
	static const char bytes[] = "\0\t\n :-[]{}&*!|>'\"%@`#,?\xc3\xff";

	for (size_t at = 0; at < length; at += 3) {
		for (size_t i = 0; i < sizeof(bytes); i++, runs++) {
			cleanup_diag struct diag diag = DIAG_INIT;
			char old = text[at];
			bool cut = i == sizeof(bytes) - 1;

			text[at] = bytes[i];
			struct policy *p = policy_parse("m.yaml", text, cut ? at : length,
							&diag);
			silent += (p == NULL) != (diag.errors > 0);
			policy_free(p);
			text[at] = old;
		}
	}
	ok(silent == 0, "%zu mutations: refused with a reason or accepted without", runs);
}

/* An alarm ends what takes more than linear time. */
static void hostile(const char *what, const struct text *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct policy *p = policy_parse("h.yaml", text->data, text->length, &diag);

	ok(!p && diag.errors, "much of '%s' is refused", what);
	policy_free(p);
}

/* HEAD, PIECE as often as the limits of YAML allow, and TAIL. */
static void much_of(const char *head, const char *piece, const char *tail)
{
	cleanup_text struct text text = TEXT_INIT;

	text_add(&text, head);
	for (size_t nodes = 0; nodes < YAML_NODES - 100; nodes++)
		if (text.length + strlen(piece) + strlen(tail) < YAML_BYTES)
			text_add(&text, piece);
	text_add(&text, tail);
	hostile(piece, &text);
}

static void hostile_files(void)
{
	cleanup_text struct text keys = TEXT_INIT;

	for (unsigned i = 0; i < YAML_NODES / 2 - 1; i++)
		text_printf(&keys, "unknown_key_with_a_long_name_%u: 1\n", i);
	hostile("unknown_key", &keys);
	much_of("policy: p\nnumatune: {near: [", "[],", "]}\n");
	much_of("policy: p\nenforce: ", "report", "\n");
	much_of("policy: p\ncputune: {vcpupin: \"", "0-16383,0-16383,0-16383,0-16383,",
		"\"}");
	much_of("policy: p\ninterfaces: [{source: {path: \"/", "{guest}{name}",
		"{\"}}]\n");
	much_of("policy: p\ninterfaces: [", "{},", "]\n");
	much_of("policy: p\ndisks: [", "x,", "]\n");
}

/* For tests/schema.py: what becomes of each file, in one line. */
static int verdicts(char **paths)
{
	for (; *paths; paths++) {
		cleanup_diag struct diag diag = DIAG_INIT;
		bool parsed = parses(*paths, &diag);

		printf("%s\n", parsed ? "accepted" : diag.findings[0].text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	alarm(120);
	if (argc > 1)
		return verdicts(argv + 1);
	each("tests/policy/valid/*.yaml", is_accepted, 6);
	each("tests/policy/invalid/*.yaml", is_refused, 1);
	values_are_read();
	not_given();
	choice();
	expand_is("/run/{guest}-{name}.sock", "/run/g{name}-n.sock");
	expand_is("{name}{guest}", "ng{name}");
	expand_is("/plain", "/plain");
	expand_is("", "");
	mutations();
	hostile_files();
	return tap_done();
}

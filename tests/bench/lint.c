/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `vmgen lint` beside what else reads such files: 1,000 policies beside yamllint and a
 * Python check by JSON Schema, libvirt's recorded domains beside virt-xml-validate.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/text.h"
#include "race.h"

enum { POLICIES = 1000, ROUNDS = 3, SAMPLE = 25, AIM = 50 };

#define DOMAINS "../shared/corpus/domains"

static const char *const shipped[] = {
	"network-latency", "network-throughput", "pinned",
	"realtime",	   "storage-iops",	 "vhost-zerocopy",
};

static char directory[] = "/tmp/vmgen-lint.XXXXXX";

static char *policy_path(unsigned number)
{
	return xasprintf("%s/policy-%u.yaml", directory, number);
}

/* A copy of a shipped policy, line by line, with a name and guests of its own. */
static void copy_policy(const char *name, unsigned number)
{
	cleanup_free char *from = xasprintf("policies/%s.yaml", name);
	cleanup_free char *to = policy_path(number);
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	char line[4096];

	if (!in || !out) {
		perror(in ? to : from);
		exit(1);
	}
	while (fgets(line, sizeof(line), in)) {
		if (text_starts(line, "policy:"))
			fprintf(out, "policy: %s-%u\n", name, number);
		else if (text_starts(line, "  name:"))
			fprintf(out,
				strchr(line, '[') ? "  name: [\"g%u-*\"]\n"
						  : "  name: g%u-0\n",
				number);
		else
			fputs(line, out);
	}
	fclose(in);
	fclose(out);
}

static void remove_policies(void)
{
	for (unsigned i = 0; i < POLICIES; i++) {
		cleanup_free char *path = policy_path(i);

		unlink(path);
	}
	rmdir(directory);
}

static void report(const struct racer *ours, const struct racer *theirs, double files,
		   double their_files, const char *note)
{
	if (theirs->broken) {
		printf("lint: not measured beside %s, which does not run here\n",
		       theirs->name);
		return;
	}
	double mine = ours->wall[ROUNDS / 2], other = theirs->wall[ROUNDS / 2];
	double scale = files / their_files;

	printf("lint, %.0f files: vmgen %.0f ms, %s %.0f ms%s: %.0f times as fast (CPU "
	       "%.0f times); aim %d times\n",
	       files, mine / 1e3, theirs->name, other * scale / 1e3, note,
	       other * scale / mine,
	       theirs->cpu[ROUNDS / 2] * scale / ours->cpu[ROUNDS / 2], AIM);
}

static bool parse(const char *path)
{
	yaml_parser_t parser;
	bool more = true, good = true;
	FILE *file = fopen(path, "re");

	if (!file || !yaml_parser_initialize(&parser))
		return false;
	yaml_parser_set_input_file(&parser, file);
	while (more && good) {
		yaml_event_t event;

		good = yaml_parser_parse(&parser, &event);
		more = good && event.type != YAML_STREAM_END_EVENT;
		if (good)
			yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return good;
}

/* What no reader of these files that uses libyaml can be faster than, on one CPU. */
static void report_floor(void)
{
	double least = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double start = race_now();

		for (unsigned i = 0; i < POLICIES; i++) {
			cleanup_free char *path = policy_path(i);

			if (!parse(path))
				return;
		}
		if (!round || race_now() - start < least)
			least = race_now() - start;
	}
	printf("lint, %d files: libyaml alone, on one CPU, takes %.0f ms\n", POLICIES,
	       least / 1e3);
}

static const char schema[] = "policies/vmgen-policy.schema.json";

static bool race_policies(const char *vmgen)
{
	const char *const lint[] = { vmgen, "lint", directory, NULL };
	const char *const yamllint[] = { "yamllint", "-d", "relaxed", directory, NULL };
	const char *const python[] = { "/usr/bin/python3", "tests/bench/schema.py",
				       "SafeLoader",	   schema,
				       directory,	   NULL };
	const char *const python_c[] = { "/usr/bin/python3", "tests/bench/schema.py",
					 "CSafeLoader",	     schema,
					 directory,	     NULL };
	static struct racer racers[] = {
		{ .name = "vmgen" },
		{ .name = "yamllint", .exit = -1 },
		{ .name = "jsonschema with PyYAML" },
		{ .name = "jsonschema with libyaml's loader" },
	};
	const char *const *const argv[] = { lint, yamllint, python, python_c };

	for (size_t i = 0; i < ARRAY_SIZE(racers); i++)
		racers[i].argv = argv[i];
	race(racers, ARRAY_SIZE(racers), ROUNDS);
	for (size_t i = 1; i < ARRAY_SIZE(racers); i++)
		report(&racers[0], &racers[i], POLICIES, POLICIES, "");
	report_floor();
	return !racers[0].broken;
}

static int is_xml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && text_equal(dot, ".xml");
}

/* virt-xml-validate takes one file a call, and reads libvirt's schema anew each time: it
 * is given every so manieth. */
static bool race_domains(const char *vmgen)
{
	const char *const lint[] = { vmgen, "lint", DOMAINS, NULL };
	const char *validate[4 + SAMPLE + 1] = {
		"sh", "-c", "for f; do virt-xml-validate \"$f\" domain; done", "sh"
	};
	static struct racer racers[] = { { .name = "vmgen", .exit = -1 },
					 { .name = "virt-xml-validate", .exit = -1 } };
	struct dirent **entries;
	int count = scandir(DOMAINS, &entries, is_xml, alphasort);

	if (count < SAMPLE) {
		printf("lint: no domains beside virt-xml-validate: " DOMAINS
		       " is not there\n");
		return true;
	}
	for (int i = 0; i < SAMPLE; i++)
		validate[4 + i] = xasprintf(DOMAINS "/%s",
					    entries[i * count / SAMPLE]->d_name);
	racers[0].argv = lint;
	racers[1].argv = validate;
	race(racers, ARRAY_SIZE(racers), ROUNDS);
	cleanup_free char *note = xasprintf(" (%d of them, scaled)", SAMPLE);
	report(&racers[0], &racers[1], count, SAMPLE, note);
	return !racers[0].broken;
}

int main(void)
{
	cleanup_free char *vmgen = xasprintf("%s/vmgen", race_directory());

	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	for (unsigned i = 0; i < POLICIES; i++)
		copy_policy(shipped[i % ARRAY_SIZE(shipped)], i);
	bool policies = race_policies(vmgen), domains = race_domains(vmgen);
	remove_policies();
	return !policies || !domains;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A broken policy concerns the guests that it names or matches, and no other. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/store.h"
#include "tap.h"

static char directory[] = "/tmp/vmgen-store.XXXXXX";

static void write_file(const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, name);
	FILE *stream = fopen(path, "we");

	fputs(text, stream);
	fclose(stream);
	chmod(path, mode);
}

static void remove_file(const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, name);

	unlink(path);
}

/* WANT is the policy's name, "" for none, or NULL for a refusal that says WHY. */
static void chooses(const char *guest, const char *metadata, const char *want,
		    const char *why, const char *name)
{
	cleanup_store struct store store = STORE_INIT;
	cleanup_diag struct diag diag = DIAG_INIT;
	const struct policy *policy = NULL;

	store_load(&store, directory);
	bool chosen = store_choose(&store, guest, metadata, &policy, &diag);
	const char *got = !chosen ? NULL : policy ? policy->name.text : "";
	is(got, want, "%s", name);
	if (why)
		ok(diag.count && strstr(diag.findings[0].text, why), "%s: it says '%s'",
		   name, why);
}

static void policies(void)
{
	write_file("policies/good.yaml", "policy: good\nmatch: {name: \"g*\"}\n", 0644);
	write_file("policies/bad.yaml", "policy: bad\nmatch: {name: \"b*\"}\nsmt: 3\n",
		   0644);
	write_file("policies/rubbish.yaml", "{[}\0\x01\xff", 0644);
	chooses("g1", NULL, "good", NULL, "a sound policy is chosen by its match");
	chooses("x", NULL, "", NULL, "no policy for a guest that none matches");
	chooses("b1", NULL, NULL, "smt", "a broken one refuses what it matches");
	chooses("g1", "bad", NULL, "smt", "and what names it");
	chooses("g1", "rubbish", NULL, "rubbish",
		"one that cannot be read, by its file's name");
	chooses("g1", "nowhere", NULL, "nowhere", "a policy that is not there refuses");
	write_file("policies/open.yaml", "policy: open\nmatch: {name: \"o*\"}\n", 0666);
	chooses("o1", NULL, NULL, "not safe",
		"one that others may write to is not followed");
	chooses("g1", NULL, "good", NULL, "the others are none the worse for it");
}

static void host_policies(void)
{
	write_file("host.yaml", "host: h\npolicies: [other]\n", 0644);
	chooses("g1", "good", NULL, "does not let",
		"metadata may choose only what it is let");
	chooses("g1", NULL, "good", NULL, "a match needs no leave");
	write_file("host.yaml", "host: h\nreserved_cpus: 3-1\n", 0644);
	chooses("g1", NULL, NULL, "downwards",
		"a broken host policy stops guests with a policy");
	chooses("x", NULL, "", NULL, "and no other");
	remove_file("host.yaml");
}

int main(void)
{
	static const char *const files[] = { "policies/good.yaml", "policies/bad.yaml",
					     "policies/rubbish.yaml",
					     "policies/open.yaml" };

	if (!mkdtemp(directory))
		return 1;
	cleanup_free char *below = xasprintf("%s/policies", directory);
	chooses("g1", NULL, "", NULL, "no directory, no policies");
	mkdir(below, 0755);
	policies();
	host_policies();
	chmod(below, 0777);
	chooses("g1", NULL, NULL, "its directory",
		"a directory that others may write to");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		remove_file(files[i]);
	rmdir(below);
	rmdir(directory);
	return tap_done();
}

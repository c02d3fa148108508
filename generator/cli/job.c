/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What render, rewrite and diff share: everything loaded, then compiled. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/job.h"
#include "cli/load.h"
#include "machine/file.h"
#include "machine/scripts.h"
#include "policy/yaml.h"

static const char host_policy_path[] = "/etc/vmgen/host.yaml";

void job_done(struct job *job)
{
	outcome_done(&job->outcome);
	guest_free(job->guest);
	doc_free(job->doc);
	claims_free(job->claims);
	host_policy_free(job->host_policy);
	host_free(job->host);
	for (size_t i = 0; i < job->n_policies; i++)
		policy_free(job->policies[i]);
	free(job->policies);
	diag_done(&job->diag);
}

bool job_load(struct job *job, const struct arguments *arguments)
{
	const char *host = argument_value(arguments, "host");
	const char *host_policy = argument_value(arguments, "host-policy");
	const char *claims = argument_value(arguments, "claims");

	if (!host && !host_policy && access(host_policy_path, F_OK) == 0)
		host_policy = host_policy_path;
	job->host = load_host(host, &job->diag);
	if (host_policy)
		job->host_policy = load_host_policy(host_policy, &job->diag);
	if (claims)
		job->claims = load_claims(claims, &job->diag);
	return !job->diag.errors;
}

static int is_yaml(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       text_equal(entry->d_name + length - 5, ".yaml");
}

/* A directory may also hold host policies and host descriptions. */
static void load_if_policy(struct job *job, const char *path)
{
	size_t length;
	cleanup_diag struct diag quiet = DIAG_INIT;
	cleanup_free char *text = file_read(path, YAML_BYTES, &length, &job->diag);
	cleanup_yaml struct yaml *yaml = text ? yaml_parse(path, text, length, &quiet)
					      : NULL;

	if (!text || (yaml && !yaml_get(yaml, "policy")))
		return;
	struct policy *policy = policy_parse(path, text, length, &job->diag);
	if (policy)
		*append(job->policies, job->n_policies) = policy;
}

static void load_directory(struct job *job, const char *directory)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_yaml, alphasort);

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = xasprintf("%s/%s", directory,
						    entries[i]->d_name);

		load_if_policy(job, path);
		free(entries[i]);
	}
	free(entries);
	if (count < 0)
		diag_error(&job->diag, (struct place){ directory, 0, 0 }, NULL,
			   "cannot be read: %m");
}

bool job_load_policies(struct job *job, const char *path)
{
	struct policy *one = file_is_directory(path) ? NULL
						     : load_policy(path, &job->diag);

	if (one)
		*append(job->policies, job->n_policies) = one;
	else if (file_is_directory(path))
		load_directory(job, path);
	return !job->diag.errors;
}

bool job_choose(struct job *job)
{
	cleanup_free const struct policy **policies = xcalloc(
		job->n_policies, sizeof(const struct policy *));

	for (size_t i = 0; i < job->n_policies; i++)
		policies[i] = job->policies[i];
	return policy_choose(policies, job->n_policies, job->guest->name,
			     job->guest->policy, &job->policy, &job->diag);
}

bool job_next(struct job *job, const char *name, const char *xml)
{
	outcome_done(&job->outcome);
	guest_free(take(job->guest));
	doc_free(take(job->doc));
	job->policy = NULL;
	job->doc = doc_parse(name, xml, strlen(xml), &job->diag);
	job->guest = job->doc ? guest_read(job->doc, &job->diag) : NULL;
	return job->guest != NULL;
}

bool job_load_domain(struct job *job, const char *policy, const char *file)
{
	bool directory = file_is_directory(policy);

	job_load_policies(job, policy);
	job->doc = load_doc(file, &job->diag);
	job->guest = job->doc ? guest_read(job->doc, &job->diag) : NULL;
	if (job->diag.errors)
		return false;
	if (!directory) {
		job->policy = job->policies[0];
		return true;
	}
	if (job_choose(job) && !job->policy)
		diag_error(&job->diag, (struct place){ policy, 0, 0 }, NULL,
			   "none of the %zu policies here matches guest %s",
			   job->n_policies, job->guest->name);
	return job->policy != NULL;
}

/* CONTROL_NONE when not given; false and a report for a name that is none. */
static bool control_of(const char *name, enum control *ret_control, struct diag *diag)
{
	*ret_control = CONTROL_NONE;
	if (!name)
		return true;
	for (unsigned i = CONTROL_NONE + 1; control_words[i]; i++)
		if (text_equal(control_words[i], name)) {
			*ret_control = (enum control)i;
			return true;
		}
	const char *near = text_nearest(name, control_words + 1);
	diag_error(diag, NOWHERE, NULL, "--control: there is no '%s'%s%s%s", name,
		   near ? "; did you mean '" : "; see --help", near ? near : "",
		   near ? "'?" : "");
	return false;
}

static bool write_companions(struct job *job, const char *directory)
{
	cleanup_free char *guest = companion_name(job->guest->name);
	bool good = true;

	for (size_t i = 0; good && i < COMPANIONS; i++) {
		cleanup_free char *file = xasprintf("%s%s", guest, companion_suffixes[i]);

		good = scripts_put(directory, file, job->outcome.companions[i],
				   &job->diag);
	}
	return good;
}

bool job_compile(struct job *job, const struct arguments *arguments, bool made)
{
	const char *directory = argument_value(arguments, "dry-run")
					? NULL
					: argument_value(arguments, "companion");
	enum control control;

	if (!control_of(argument_value(arguments, "control"), &control, &job->diag))
		return false;
	struct input input = {
		.policy = job->policy,
		.host = job->host,
		.host_policy = job->host_policy,
		.claims = job->claims,
		.doc = job->doc,
		.guest = job->guest,
		.replace = argument_value(arguments, "replace") != NULL,
		.fixed = job->fixed,
		.running = job->fixed,
		.records = job->records,
		.usable = cpuset_empty(&job->usable) ? NULL : &job->usable,
		.made = made,
		.companions = directory != NULL,
		.control = control,
	};
	if (!compile(&input, &job->outcome, &job->diag))
		return false;
	return !directory || write_companions(job, directory);
}

int job_report(struct job *job)
{
	return load_report(&job->diag);
}

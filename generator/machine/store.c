/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies of this machine. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/file.h"
#include "machine/store.h"

void store_done(struct store *store)
{
	for (size_t i = 0; i < store->n_policies; i++) {
		policy_free(store->policies[i].policy);
		free(store->policies[i].text);
		free(store->policies[i].fault);
	}
	free(store->policies);
	host_policy_free(store->host_policy);
	free(store->host_fault);
}

/* The first error, with its place, for the one line that a user sees. */
static char *first_error(const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++) {
		const struct finding *finding = &diag->findings[i];

		if (finding->level != DIAG_ERROR)
			continue;
		return finding->line
			       ? xasprintf("%s:%u:%u: %s", finding->file, finding->line,
					   finding->column, finding->text)
			       : xasprintf("%s: %s", finding->file, finding->text);
	}
	return NULL;
}

/* Root's alone to write; a report when not. */
static bool is_safe(const char *path, struct diag *diag)
{
	struct stat status;
	struct place place = { path, 0, 0 };

	if (stat(path, &status)) {
		diag_error(diag, place, NULL, "cannot be read: %s", strerror(errno));
		return false;
	}
	if ((status.st_uid == 0 || status.st_uid == geteuid()) && !(status.st_mode & 022))
		return true;
	diag_error(diag, place, NULL,
		   "is not safe: its owner is uid %u and its mode %04o, others than root "
		   "may "
		   "write to it; chown root and chmod go-w it",
		   status.st_uid, status.st_mode & 07777U);
	return false;
}

static void add_policy(struct store *store, const char *path)
{
	struct store_policy *stored = append(store->policies, store->n_policies);
	cleanup_diag struct diag diag = DIAG_INIT;

	stored->text = file_read(path, YAML_BYTES, &stored->length, &diag);
	stored->policy = policy_skim(path, stored->text ? stored->text : "",
				     stored->length);
	stored->fault = first_error(&diag);
}

static void complete(struct store_policy *stored, bool directory_safe)
{
	struct policy *head = stored->policy;
	cleanup_free char *text = take(stored->text);
	cleanup_diag struct diag diag = DIAG_INIT;
	bool sound;

	if (!text)
		return;
	stored->policy = policy_salvage(head->file, text, stored->length, &sound, &diag);
	if (!directory_safe)
		diag_error(&diag, (struct place){ head->file, 0, 0 }, NULL,
			   "others than root may write to its directory");
	else
		is_safe(head->file, &diag);
	stored->fault = first_error(&diag);
	policy_free(head);
}

static int is_yaml(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       text_equal(entry->d_name + length - 5, ".yaml");
}

static void load_policies(struct store *store, const char *directory)
{
	cleanup_free char *policies = xasprintf("%s/policies", directory);
	cleanup_diag struct diag ignored = DIAG_INIT;
	struct dirent **entries = NULL;
	int count = scandir(policies, &entries, is_yaml, alphasort);

	store->safe = count > 0 && is_safe(policies, &ignored) &&
		      is_safe(directory, &ignored);
	for (int i = 0; i < count; i++) {
		cleanup_free char *path = xasprintf("%s/%s", policies,
						    entries[i]->d_name);

		add_policy(store, path);
		free(entries[i]);
	}
	free(entries);
}

static void load_host_policy(struct store *store, const char *directory)
{
	cleanup_free char *path = xasprintf("%s/host.yaml", directory);
	cleanup_diag struct diag diag = DIAG_INIT;
	struct stat status;
	size_t length;

	if (stat(path, &status) && errno == ENOENT)
		return;
	cleanup_free char *text = is_safe(path, &diag)
					  ? file_read(path, YAML_BYTES, &length, &diag)
					  : NULL;
	if (text)
		store->host_policy = host_policy_parse(path, text, length, &diag);
	store->host_fault = first_error(&diag);
}

void store_load(struct store *store, const char *directory)
{
	load_host_policy(store, directory);
	load_policies(store, directory);
}

void store_complete(struct store *store)
{
	for (size_t i = 0; i < store->n_policies; i++)
		complete(&store->policies[i], store->safe);
}

static bool may_choose(const struct store *store, const char *name)
{
	const struct values *allowed = store->host_policy ? &store->host_policy->policies
							  : NULL;

	if (!allowed || !allowed->place.line)
		return true;
	for (size_t i = 0; i < allowed->count; i++)
		if (text_equal(allowed->items[i].text, name))
			return true;
	return false;
}

/* The whole of the one that is chosen; NULL if none is. */
static const struct store_policy *chosen(struct store *store, const struct policy *policy)
{
	for (size_t i = 0; i < store->n_policies; i++) {
		struct store_policy *stored = &store->policies[i];

		if (stored->policy != policy)
			continue;
		complete(stored, store->safe);
		return stored;
	}
	return NULL;
}

static bool choose(struct store *store, const char *guest, const char *metadata,
		   const struct store_policy **ret_stored, struct diag *diag)
{
	cleanup_free const struct policy **all = xcalloc(store->n_policies,
							 sizeof(const struct policy *));
	const struct policy *policy;

	for (size_t i = 0; i < store->n_policies; i++)
		all[i] = store->policies[i].policy;
	if (!policy_choose(all, store->n_policies, guest, metadata, &policy, diag))
		return false;
	*ret_stored = chosen(store, policy);
	return true;
}

bool store_choose(struct store *store, const char *guest, const char *metadata,
		  const struct policy **ret_policy, struct diag *diag)
{
	const struct store_policy *stored;

	if (metadata && !may_choose(store, metadata)) {
		diag_error(
			diag, store->host_policy->policies.place, NULL,
			"guest %s chooses the policy %s, which the host policy does not "
			"let guests choose",
			guest, metadata);
		return false;
	}
	if (!choose(store, guest, metadata, &stored, diag))
		return false;
	*ret_policy = stored ? stored->policy : NULL;
	if (!stored || (!stored->fault && !store->host_fault))
		return true;
	diag_error(diag, NOWHERE, NULL, "%s",
		   stored->fault ? stored->fault : store->host_fault);
	return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests that libvirt knows, brought to their policies: what apply and worker share. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/conform.h"
#include "cli/images.h"
#include "cli/load.h"
#include "cli/reserve.h"
#include "machine/facts.h"
#include "machine/file.h"
#include "machine/kept.h"
#include "machine/observe.h"
#include "machine/slice.h"
#include "machine/sysfs.h"

void conform_done(struct conform *conform)
{
	job_done(&conform->job);
	for (size_t i = 0; i < conform->planned.count; i++)
		claim_done(&conform->planned.items[i]);
	free(conform->planned.items);
	store_done(&conform->store);
	connect_close(conform->connection);
}

/* Of a host that is elsewhere only libvirt knows. */
static bool load_remote(struct conform *conform)
{
	struct job *job = &conform->job;
	const char *host_policy = argument_value(conform->arguments, "host-policy");
	const char *claims = argument_value(conform->arguments, "claims");
	cleanup_free char *xml = connect_capabilities(conform->connection, &job->diag);

	if (xml)
		job->host = host_from_capabilities("capabilities of the host", xml,
						   strlen(xml), &job->diag);
	if (host_policy)
		job->host_policy = load_host_policy(host_policy, &job->diag);
	if (claims)
		job->claims = load_claims(claims, &job->diag);
	return !job->diag.errors;
}

static bool load_here(struct conform *conform)
{
	struct job *job = &conform->job;

	if (!job_load(job, conform->arguments))
		return false;
	slice_cpus(&job->usable, "");
	if (!job->claims)
		job->claims = reserve_claims(conform->root, &job->diag);
	return job->claims != NULL;
}

bool conform_open(struct conform *conform, const struct arguments *arguments)
{
	struct job *job = &conform->job;
	const char *uri = argument_value(arguments, "connect");

	conform->arguments = arguments;
	conform->policies = argument_value(arguments, "policy");
	conform->one = conform->policies && !argument_value(arguments, "all") &&
		       !file_is_directory(conform->policies);
	if (!conform->policies)
		store_load(&conform->store, STORE_DIRECTORY);
	else if (!job_load_policies(job, conform->policies))
		return false;
	conform->connection = connect_open(uri ? uri : conform->uri, conform->read_only,
					   &job->diag);
	if (!conform->connection)
		return false;
	conform->here = connect_is_here(conform->connection);
	conform->root = conform->here && geteuid() == 0;
	return conform->here ? load_here(conform) : load_remote(conform);
}

/* A running guest's own memory is not free, but it is there for it. */
static void give_back(struct conform *conform, struct domain *domain)
{
	cleanup_diag struct diag quiet = DIAG_INIT;
	cleanup_seen struct seen seen = SEEN_INIT;

	if (!conform->here)
		return;
	facts_memory(conform->job.host, "");
	if (conform_observe(conform, domain, &seen, &quiet))
		observe_give_back(&seen, conform->job.host);
}

bool conform_observe(struct conform *conform, struct domain *domain,
		     struct seen *ret_seen, struct diag *diag)
{
	cleanup_free char *path = connect_pid_file(conform->connection,
						   domain_name(domain));
	uint64_t pid;

	if (conform->here && sysfs_number(&pid, "%s", path) && pid < UINT32_MAX)
		return observe((unsigned)pid, ret_seen, diag);
	diag_error(diag, (struct place){ path, 0, 0 }, NULL,
		   "cannot be read: guest %s does not run on this machine, or is not "
		   "this user's",
		   domain_name(domain));
	return false;
}

static bool choose(struct conform *conform)
{
	struct job *job = &conform->job;

	if (conform->policies && !conform->one)
		return job_choose(job);
	if (!conform->policies)
		return store_choose(&conform->store, job->guest->name, job->guest->policy,
				    &job->policy, &job->diag);
	job->policy = job->policies[0];
	return true;
}

static void add_all(struct claims *claims, const struct claims *more)
{
	for (size_t i = 0; more && i < more->count; i++) {
		struct claim claim = claim_copy(&more->items[i]);

		claims_put(claims, &claim);
	}
}

/* A guest that runs by now has what it has. */
static struct claims *together(const struct claims *running, const struct claims *planned)
{
	struct claims *both = xcalloc(1, sizeof(*both));

	add_all(both, planned);
	add_all(both, running);
	return both;
}

/* The compilation that keeps off what is planned for others; false, and as if it had not
 * been tried, when there is none. */
static bool compile_off_planned(struct conform *conform)
{
	struct job *job = &conform->job;
	struct claims *running = job->claims;
	struct diag diag = job->diag;

	if (!conform->planned.count)
		return false;
	job->claims = together(running, &conform->planned);
	job->diag = (struct diag)DIAG_INIT;
	bool good = job_compile(job, conform->arguments, false);
	if (good)
		diag_move(&diag, &job->diag);
	diag_done(&job->diag);
	job->diag = diag;
	claims_free(job->claims);
	job->claims = running;
	return good;
}

bool conform_compile(struct conform *conform, struct domain *domain,
		     enum domain_view view)
{
	struct job *job = &conform->job;
	cleanup_free char *xml = domain_xml(domain, view, &job->diag);
	cleanup_free char *name = xasprintf("guest %s", domain_name(domain));

	if (!xml || !job_next(job, name, xml))
		return false;
	if (!choose(conform))
		return false;
	if (!job->policy)
		return true;
	give_back(conform, domain);
	job->fixed = view == DOMAIN_LIVE;
	job->records = conform->here;
	return compile_off_planned(conform) ||
	       job_compile(job, conform->arguments, false);
}

void conform_plan(struct conform *conform)
{
	struct claim claim = claim_copy(&conform->job.outcome.claim);

	claims_put(&conform->planned, &claim);
}

/* What comes out, as a guest. */
struct result {
	struct doc *doc;
	struct guest *guest;
};

static void result_done(struct result *result)
{
	guest_free(result->guest);
	doc_free(result->doc);
}

static bool result_read(struct job *job, struct result *result)
{
	const char *xml = job->outcome.xml;

	result->doc = doc_parse(job->doc->file, xml, strlen(xml), &job->diag);
	result->guest = result->doc ? guest_read(result->doc, &job->diag) : NULL;
	return result->guest != NULL;
}

bool conform_pin(struct conform *conform, struct domain *domain)
{
	struct job *job = &conform->job;
	cleanup(result_done) struct result wanted = { NULL, NULL };
	const struct claim *claim = &job->outcome.claim;

	if (!result_read(job, &wanted) ||
	    (conform->root && !reserve_both(claim, job->policy->name.text, &job->diag)) ||
	    !domain_pin(domain, job->guest, wanted.guest, &job->diag))
		return false;
	if (!conform->root)
		return true;
	if (!reserve_new(claim, &job->diag))
		return false;
	claims_free(job->claims);
	job->claims = reserve_claims(true, &job->diag);
	return job->claims != NULL;
}

/* libvirt has no "define if it is still this": what is left between this look and the
 * definition is as short as it can be. */
static bool is_still(struct domain *domain, const char *before, struct diag *diag)
{
	cleanup_free char *now = domain_xml(domain, DOMAIN_DEFINITION, diag);

	if (now && !text_equal(now, before))
		diag_error(
			diag, NOWHERE, NULL,
			"the definition of guest %s was changed meanwhile; nothing was "
			"done, apply again",
			domain_name(domain));
	return now && text_equal(now, before);
}

/* RET_TRIED: libvirt was asked, so nobody knows what it holds by now. */
static bool define(struct conform *conform, struct domain *domain, bool *ret_tried)
{
	struct job *job = &conform->job;
	const char *uuid = domain_uuid(domain);
	const char *before = job->doc->text;

	if (!kept_begin(uuid, before, &job->diag))
		return false;
	*ret_tried = is_still(domain, before, &job->diag);
	if (!*ret_tried ||
	    !connect_define(conform->connection, job->outcome.xml, &job->diag)) {
		kept_cancel(uuid);
		return false;
	}
	cleanup_free char *after = domain_xml(domain, DOMAIN_DEFINITION, &job->diag);
	return after && kept_end(uuid, before, after, &job->diag);
}

static bool is_as_before(struct conform *conform, struct domain *domain)
{
	cleanup_diag struct diag quiet = DIAG_INIT;
	cleanup_free char *now = domain_xml(domain, DOMAIN_DEFINITION, &quiet);

	return text_equal(now, conform->job.doc->text);
}

/* Where a raw disk joins internal snapshots, which it cannot be in. */
static void warn_of_snapshots(struct conform *conform, struct domain *domain,
			      const struct images *images)
{
	struct diag *diag = &conform->job.diag;
	struct domain_state state;

	if (images->raw && domain_state(domain, &state, diag) && state.internal)
		diag_warning(diag, images->raw->place, "disk-snapshot",
			     "guest %s has internal snapshots, and raw disk %s cannot be "
			     "in them: new ones fail, and a revert brings back a "
			     "definition without it; say format: qcow2, or make external "
			     "ones",
			     domain_name(domain), images->raw->name.text);
}

/* A disk that was made and is in no definition would be in the way of the next attempt;
 * one that is in one is not taken away again. */
bool conform_define(struct conform *conform, struct domain *domain)
{
	struct images images;
	bool tried = false, good = images_make(conform, &images);

	if (good && conform->job.outcome.edits.count) {
		warn_of_snapshots(conform, domain, &images);
		good = define(conform, domain, &tried);
		if (!good && (!tried || is_as_before(conform, domain)))
			images_drop(&images);
	}
	images_done(&images);
	return good;
}

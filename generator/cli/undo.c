/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vmgen undo: the definition that a guest had before vmgen changed it. */
#include <stdio.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/load.h"
#include "connect/domain.h"
#include "machine/kept.h"

/* What came after the change is libvirt's text of it: anything else is someone's work. */
static bool unchanged_since(struct domain *domain, uint64_t after, struct diag *diag)
{
	cleanup_free char *now = domain_xml(domain, DOMAIN_DEFINITION, diag);

	if (!now)
		return false;
	if (after && kept_hash(now) == after)
		return true;
	diag_error(
		diag, NOWHERE, NULL,
		"guest %s: %s since vmgen did; --force puts the definition from before "
		"back all the same, and what was changed since is lost",
		domain_name(domain),
		after ? "its definition was changed by someone else"
		      : "vmgen was interrupted, so it is not known what was changed");
	return false;
}

static bool undo(struct connection *connection, const char *guest, bool force,
		 struct diag *diag)
{
	cleanup_domain struct domain *domain = connect_find(connection, guest, diag);
	struct domain_state state;
	uint64_t after;

	if (!domain || !domain_state(domain, &state, diag))
		return false;
	cleanup_free char *before = kept_get(domain_uuid(domain), &after, diag);
	if (!before || (!force && !unchanged_since(domain, after, diag)) ||
	    !connect_define(connection, before, diag))
		return false;
	kept_drop(domain_uuid(domain));
	printf("%s: the definition from before vmgen's change is back%s\n",
	       domain_name(domain), state.active ? ", for its next start" : "");
	return true;
}

static int run(const struct arguments *arguments)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_connection struct connection *connection = connect_open(
		argument_value(arguments, "connect"), false, &diag);

	for (size_t i = 0; connection && i < arguments->n_words; i++)
		undo(connection, arguments->words[i],
		     argument_value(arguments, "force") != NULL, &diag);
	return load_report(&diag);
}

static const struct option_row options[] = {
	OPTION_CONNECT,
	{ "force", 0, NULL, "also if the definition was changed by someone else since" },
	OPTION_END,
};

const struct command command_undo = {
	.name = "undo",
	.words = "GUEST...",
	.min_words = 1,
	.max_words = (size_t)-1,
	.summary = "put back the definition that a guest had before vmgen changed it",
	.options = options,
	.run = run,
};

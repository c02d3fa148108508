/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What commands read, by the names that their users give it. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/load.h"
#include "machine/file.h"
#include "machine/live.h"
#include "policy/yaml.h"

enum { CLAIMS_BYTES = 16 << 20, HOST_BYTES = 64 << 20 };

static const char *shown(const char *path)
{
	return text_equal(path, "-") ? "standard input" : path;
}

struct policy *load_policy(const char *path, struct diag *diag)
{
	size_t length;
	cleanup_free char *text = file_read(path, YAML_BYTES, &length, diag);

	return text ? policy_parse(shown(path), text, length, diag) : NULL;
}

struct host_policy *load_host_policy(const char *path, struct diag *diag)
{
	size_t length;
	cleanup_free char *text = file_read(path, YAML_BYTES, &length, diag);

	return text ? host_policy_parse(shown(path), text, length, diag) : NULL;
}

struct doc *load_doc(const char *path, struct diag *diag)
{
	size_t length;
	cleanup_free char *text = file_read(path, DOC_BYTES, &length, diag);

	return text ? doc_parse(shown(path), text, length, diag) : NULL;
}

struct claims *load_claims(const char *path, struct diag *diag)
{
	size_t length;
	cleanup_free char *text = file_read(path, CLAIMS_BYTES, &length, diag);

	return text ? claims_parse(shown(path), text, length, diag) : NULL;
}

struct host *load_host(const char *host, struct diag *diag)
{
	size_t length;

	if (!host)
		return live_host(diag);
	if (strchr(host, ':') && access(host, F_OK) != 0)
		return host_from_synthetic(host, diag);
	cleanup_free char *text = file_read(host, HOST_BYTES, &length, diag);
	return text ? host_from_text(shown(host), text, length, diag) : NULL;
}

int load_report(struct diag *diag)
{
	diag_sort(diag);
	diag_print(diag, stderr, load_colour(STDERR_FILENO));
	return diag->errors != 0;
}

bool load_colour(int fd)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fd) && !(no && *no);
}

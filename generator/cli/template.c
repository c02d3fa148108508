/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Domain XML skeletons that `render` starts from. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "cli/template.h"
#include "machine/file.h"

/* The directory of PATH with its slash, "" for none; the caller frees it. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash ? (size_t)(slash + 1 - path) : 0);
}

static char *find(const struct policy *policy, const char *directory)
{
	const char *name = policy->domain.template.text;
	cleanup_free char *here = directory_of(policy->file);

	if (directory)
		return xasprintf("%s/%s.xml", directory, name);
	cleanup_free char *beside = xasprintf("%s../templates/%s.xml", here, name);
	if (access(beside, F_OK) == 0)
		return take(beside);
	return xasprintf("%s/templates/%s.xml", DATADIR, name);
}

/* The template asks for what the policy does not give. */
static void need(const struct policy *policy, const struct value *value, const char *key,
		 const char *text, struct diag *diag)
{
	cleanup_free char *placeholder = xasprintf("{%s}", key);

	if (!given(value) && strstr(text, placeholder))
		diag_error(diag, policy->domain.place, "render",
			   "the template has %s, and the policy's domain has no %s",
			   placeholder, key);
}

struct placeholder {
	const char *name;
	const char *value;
};

static const struct placeholder *placeholder_at(const struct placeholder *all,
						const char *text)
{
	for (; all->name; all++)
		if (text_starts(text, all->name))
			return all;
	return NULL;
}

static char *replace(const char *text, const struct placeholder *placeholders)
{
	struct text out = TEXT_INIT;

	while (*text) {
		const struct placeholder *found = *text == '{'
							  ? placeholder_at(placeholders,
									   text)
							  : NULL;

		if (found) {
			text_add(&out, found->value);
			text += strlen(found->name);
		} else {
			size_t plain = 1 + strcspn(text + 1, "{");

			text_add_bytes(&out, text, plain);
			text += plain;
		}
	}
	return text_take(&out);
}

static char *fill(const struct policy *policy, const char *name, const char *text)
{
	const struct value *type = &policy->domain.type;
	const struct value *own = given(&policy->domain.name) ? &policy->domain.name
							      : &policy->name;
	cleanup_free char *guest = text_escape_xml(name ? name : own->text);
	cleanup_free char *vcpus = xasprintf("%" PRIu64, policy->domain.vcpus.number);
	cleanup_free char *memory = xasprintf(
		"%" PRIu64, (policy->domain.memory.number + KIB - 1) / KIB);
	const struct placeholder placeholders[] = {
		{ "{guest}", guest },
		{ "{vcpus}", vcpus },
		{ "{memory}", memory },
		{ "{type}", given(type) ? type->text : "kvm" },
		{ "{cpu}",
		  text_equal(type->text, "qemu") ? "maximum" : "host-passthrough" },
		{ "{policy}", policy->name.text },
		{ NULL, NULL },
	};

	return replace(text, placeholders);
}

struct doc *template_read(const struct policy *policy, const char *directory,
			  const char *name, struct diag *diag)
{
	size_t errors = diag->errors, length;

	if (!given(&policy->domain.template)) {
		diag_error(
			diag, policy->name.place, "render",
			"there is no domain: template to start from; the policy can be "
			"applied to a guest's own XML (vmgen rewrite)");
		return NULL;
	}
	cleanup_free char *path = find(policy, directory);
	cleanup_free char *raw = file_read(path, DOC_BYTES, &length, diag);
	if (!raw) {
		diag_note(diag, policy->domain.template.place,
			  "the template is named here");
		return NULL;
	}
	need(policy, &policy->domain.vcpus, "vcpus", raw, diag);
	need(policy, &policy->domain.memory, "memory", raw, diag);
	if (diag->errors != errors)
		return NULL;
	cleanup_free char *text = fill(policy, name, raw);
	return doc_parse(path, text, strlen(text), diag);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Domain XML skeletons that `render` starts from. */
#ifndef VMGEN_TEMPLATE_H
#define VMGEN_TEMPLATE_H

#include "guest/doc.h"
#include "policy/policy.h"

/*
 * The policy's template as a document, with {guest}, {vcpus}, {memory} (KiB), {type}
 * ("kvm"), {cpu} (a CPU mode that such guests have) and {policy} replaced. It is
 * TEMPLATE.xml in
 * DIRECTORY if that is not NULL, else in ../templates beside the policy's own directory,
 * else where vmgen was installed. NAME, if not NULL, names the guest in place of the
 * policy. NULL and a report on failure.
 */
struct doc *template_read(const struct policy *policy, const char *directory,
			  const char *name, struct diag *diag);

#endif

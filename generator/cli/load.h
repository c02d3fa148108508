/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What commands read, by the names that their users give it. */
#ifndef VMGEN_LOAD_H
#define VMGEN_LOAD_H

#include "guest/doc.h"
#include "host/host.h"
#include "placement/claims.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

/* Each yields NULL and a report on failure. PATH "-" is standard input. */
struct policy *load_policy(const char *path, struct diag *diag);
struct host_policy *load_host_policy(const char *path, struct diag *diag);
struct doc *load_doc(const char *path, struct diag *diag);
struct claims *load_claims(const char *path, struct diag *diag);

/* HOST as --host takes it: a file, or a synthetic string ("package:2 core:4": holds a
 * colon, and no such file); NULL: this machine. */
struct host *load_host(const char *host, struct diag *diag);

/* Prints what was found, sorted, on stderr; yields the command's exit status. */
int load_report(struct diag *diag);

/* FD is a terminal, and NO_COLOR is not set. */
bool load_colour(int fd);

#endif

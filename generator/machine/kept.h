/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Definitions of guests as they were before vmgen changed them, for `vmgen undo`. They
 * hold passwords: only their owner can read them. One for each guest, the last.
 *
 *	/var/lib/vmgen/kept/UUID.xml		root's
 *	~/.local/state/vmgen/kept/UUID.xml	a user's (XDG_STATE_HOME)
 *
 * Each is the definition below a comment that tells what came after it.
 */
#ifndef VMGEN_KEPT_H
#define VMGEN_KEPT_H

#include <stdint.h>

#include "base/diag.h"

/* Of a definition, to know it again. FNV-1a. */
uint64_t kept_hash(const char *xml);

/* Before a change, keeps BEFORE beside what is kept already; once it is made, keeps it
 * instead: AFTER is what libvirt made of the new definition. A change that was not made
 * is cancelled. False and a report when it cannot be kept; then no change may be made. */
bool kept_begin(const char *uuid, const char *before, struct diag *diag);
bool kept_end(const char *uuid, const char *before, const char *after, struct diag *diag);
void kept_cancel(const char *uuid);

/* What was kept, which the caller frees, or NULL and a report. *ret_after is the hash of
 * the definition that replaced it; 0: vmgen was interrupted, it is not known. */
char *kept_get(const char *uuid, uint64_t *ret_after, struct diag *diag);

/* Forgets all of it. */
void kept_drop(const char *uuid);

#endif

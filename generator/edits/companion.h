/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Companions: what the switch at the other end of a guest's vhost-user sockets must be
 * told, as shell scripts. libvirt says nothing of it.
 *
 * Names and paths are hostile text: each is quoted for the shell and for the program
 * behind it, or refused where that program has no way to quote.
 */
#ifndef VMGEN_COMPANION_H
#define VMGEN_COMPANION_H

#include "edits/edits.h"

enum companion { COMPANION_TESTPMD, COMPANION_OVS, COMPANIONS };

/* Ends of their files' names. */
extern const char *const companion_suffixes[COMPANIONS];

/* One script for each kind of switch that the guest's interfaces need, NULL for the
 * others; the caller frees them. An interface of which neither zero_copy nor the host
 * policy says what serves it is a warning, what cannot be written an error in DIAG. */
void companion_make(const struct plan *plan, char *ret_scripts[COMPANIONS],
		    struct diag *diag);

/* NAME as part of a file's or a port's name: what is not a letter, a digit or one of
 * "._-" (the first not "." nor "-") becomes %XX. The caller frees it. */
char *companion_name(const char *name);

#endif

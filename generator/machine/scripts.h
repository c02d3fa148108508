/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts that we leave for others to run. */
#ifndef VMGEN_SCRIPTS_H
#define VMGEN_SCRIPTS_H

#include "base/diag.h"

/*
 * TEXT as the file NAME in DIRECTORY, which is made if its parent is there; executable as
 * far as the umask lets it be. With TEXT NULL there is no such file any more. False and a
 * report when that fails: then the file is what it was. A symbolic link is not followed.
 */
bool scripts_put(const char *directory, const char *name, const char *text,
		 struct diag *diag);

#endif

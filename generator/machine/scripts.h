/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts that we leave for others to run. */
#ifndef VMGEN_SCRIPTS_H
#define VMGEN_SCRIPTS_H

#include "base/diag.h"

/*
 * TEXT as the executable file NAME in DIRECTORY, which is made if its parent is there;
 * with TEXT NULL there is no such file any more. It is replaced whole or left as it was,
 * and a symbolic link of that name is not followed. False and a report when that fails.
 */
bool scripts_put(const char *directory, const char *name, const char *text,
		 struct diag *diag);

#endif

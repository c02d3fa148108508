/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system's log, where the hook and its worker say all that they do. What it does not
 * take at once is lost: it must not hold up a guest. */
#ifndef VMGEN_LOG_H
#define VMGEN_LOG_H

#include <syslog.h>

#include "base/diag.h"

/* LEVEL is syslog's; a line that begins with the guest's name. */
void log_guest(int level, const char *guest, const char *format, ...) printf_like(3, 4);

/* Each finding with its notes, errors as errors. */
void log_diag(const char *guest, const struct diag *diag);

#endif

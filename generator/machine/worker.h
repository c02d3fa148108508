/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starting `vmgen worker`, which may call libvirt where the hook must not. */
#ifndef VMGEN_WORKER_H
#define VMGEN_WORKER_H

#include "guest/guest.h"

extern const char worker_program[]; /* what is started: this machine's vmgen */

enum worker_task {
	WORKER_LIVE,	     /* make the live edits of the guest, which starts now */
	WORKER_DEFINE,	     /* bring the definition up to its policy */
	WORKER_DEFINE_START, /* and start the guest */
};

/*
 * A detached process: a session of its own, /dev/null on 0, 1 and 2 (libvirt waits for
 * the end of the hook's output), nothing else open. It leaves a definition alone that is
 * not GUEST's, which is being started. Its pid, or 0 and a report.
 */
unsigned worker_start(enum worker_task task, const struct guest *guest,
		      struct diag *diag);

#endif

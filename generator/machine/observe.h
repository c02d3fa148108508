/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A running QEMU as the kernel sees it. */
#ifndef VMGEN_OBSERVE_H
#define VMGEN_OBSERVE_H

#include "host/host.h"
#include "verify.h"

/* Threads of process PID with their vhost workers, and its large mappings. False and a
 * report when it is gone. */
bool observe(unsigned pid, struct seen *ret_seen, struct diag *diag);

/* Adds what SEEN has allocated to what HOST has free: for the guest itself it is. */
void observe_give_back(const struct seen *seen, struct host *host);

#endif

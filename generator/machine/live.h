/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine, as a host: hwloc's view of it, and what hwloc does not tell. */
#ifndef VMGEN_LIVE_H
#define VMGEN_LIVE_H

#include "host/host.h"

/* NULL and a report when it cannot be read. */
struct host *live_host(struct diag *diag);

#endif

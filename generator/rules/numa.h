/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Host nodes of a guest's memory and CPUs: for the rules on NUMA and hugepages. */
#ifndef VMGEN_NUMA_H
#define VMGEN_NUMA_H

#include "guest/bindings.h"
#include "rules/rules.h"

/* Host nodes that CPUS are on, as far as the host knows them. */
struct cpuset numa_nodes(const struct host *host, const struct cpuset *cpus);

#endif

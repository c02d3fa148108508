/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * This machine as a host without hwloc: /run/vmgen/host.yaml holds what only a boot,
 * hotplug or an upgrade changes, with a key of what it was made for in its first line.
 */
#ifndef VMGEN_SNAPSHOT_H
#define VMGEN_SNAPSHOT_H

#include "host/host.h"

#define SNAPSHOT_PATH "/run/vmgen/host.yaml"

/* The host from the snapshot, made anew by `vmgen host --snapshot` when its key is not of
 * this boot, these online CPUs and nodes, and these programs; memory and hugepages are
 * read live. NULL and a report when there is none to be had. */
struct host *snapshot_load(struct diag *diag);

/* Writes HOST as the snapshot, replacing it whole. */
bool snapshot_write(const struct host *host, struct diag *diag);

#endif

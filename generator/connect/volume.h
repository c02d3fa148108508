/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes of libvirt's storage pools. */
#ifndef VMGEN_CONNECT_VOLUME_H
#define VMGEN_CONNECT_VOLUME_H

#include "connect/connect.h"
#include "machine/image.h"

/* What there is of volume NAME in POOL, which is looked at anew, and what room the pool
 * has. False and a report when the pool is not there or not active. */
bool volume_look(struct connection *connection, const char *pool, const char *name,
		 struct image_seen *ret_seen, uint64_t *ret_free, struct diag *diag);

/* Makes DISK's volume, for OWNER alone; libvirt refuses one that is there, and leaves
 * nothing of one that it could not make. */
bool volume_make(struct connection *connection, const char *pool, const char *name,
		 const struct policy_disk *disk, const struct image_owner *owner,
		 struct diag *diag);

/* Takes away one that was made and is not needed after all. */
void volume_remove(struct connection *connection, const char *pool, const char *name);

#endif

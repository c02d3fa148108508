/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom QEMU runs as, and so whose its images are. */
#ifndef VMGEN_HOST_OWNER_H
#define VMGEN_HOST_OWNER_H

#include "base/diag.h"

/* User and group that libvirt's capabilities XML gives as the base label of its security
 * model "dac" (qemu.conf's user and group). False when there is none: of a session, where
 * QEMU is whoever asks. */
bool host_owner(const char *capabilities, size_t length, unsigned *ret_user,
		unsigned *ret_group);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands behind the handles of this room; only connect/ sees this. */
#ifndef VMGEN_CONNECT_HANDLE_H
#define VMGEN_CONNECT_HANDLE_H

#include "connect/domain.h"
#include "connect/libvirt.h"

struct connection {
	struct libvirt libvirt;
	virConnectPtr handle;
};

struct domain {
	const struct libvirt *libvirt; /* the connection's */
	virDomainPtr handle;
	const char *name; /* libvirt's */
	char uuid[VIR_UUID_STRING_BUFLEN];
};

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the qemu hook does at each of libvirt's operations.
 *
 * The table says of each what may come of it; hooks/qemu.c runs it in a child, and a
 * child that dies is judged by the same table.
 */
#ifndef VMGEN_EVENT_H
#define VMGEN_EVENT_H

#include "base/diag.h"
#include "placement/claims.h"

struct event {
	const char *name; /* the guest's, as libvirt's first argument says */
	const char *xml;  /* what came on standard input; may be empty */
	size_t length;
	unsigned daemon; /* pid of the libvirt daemon */
};

struct operation {
	const char *name; /* "prepare" */
	bool refuses; /* a failure is a refusal; else it must never be one: at reconnect
			 and started libvirt kills the guest for it */
	bool filters; /* what is printed replaces the XML; nothing: it stays */
	bool (*run)(const struct event *event, struct diag *diag);
};

/* NULL for an operation that the hook has nothing to do with. */
const struct operation *event_operation(const char *name);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What doctor says: a line for each thing that it looked at. */
#ifndef VMGEN_CHECKUP_H
#define VMGEN_CHECKUP_H

#include "host/host.h"
#include "machine/store.h"

struct checkup {
	size_t errors;
	const struct host *host; /* this machine; NULL: it cannot be read */
	struct store store;	 /* its policies */
};

/* "ok       hook: ..."; an error says what to do, and counts. */
void checkup_ok(const char *topic, const char *format, ...) printf_like(2, 3);
void checkup_warning(const char *topic, const char *format, ...) printf_like(2, 3);
void checkup_error(struct checkup *checkup, const char *topic, const char *format, ...)
	printf_like(3, 4);
/* A line for each warning and error; false when there was none. */
bool checkup_diag(struct checkup *checkup, const char *topic, const struct diag *diag);

/* The hook's file, the daemon that runs it, what confines both, and the worker. */
void checkup_hook(struct checkup *checkup);
/* The policies, the host policy, and whether they fit this machine. */
void checkup_policies(struct checkup *checkup);
/* The claims, and what libvirt and QEMU need of the machine. */
void checkup_machine(struct checkup *checkup);

#endif

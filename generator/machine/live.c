/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine, as a host. */
#include <sys/utsname.h>

#include "host/reader.h"
#include "machine/facts.h"
#include "machine/live.h"
#include "machine/programs.h"

struct host *live_host(struct diag *diag)
{
	cleanup_host struct host *host = host_from_machine(diag);
	struct utsname system;

	if (!host)
		return NULL;
	if (uname(&system) == 0) {
		free(host->name);
		host->name = host_name_from(system.nodename);
		host->arch = host_name_from(system.machine);
		struct programs programs = programs_versions(system.machine);
		host->libvirt = programs.libvirt;
		host->qemu = programs.qemu;
	}
	facts_add(host, "");
	if (!host_settle(host, NOWHERE, diag))
		return NULL;
	return take(host);
}

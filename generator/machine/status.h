/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libvirt's status files: what it knows of each guest that runs, in
 * /run/libvirt/qemu/NAME.xml. Written when QEMU has just been started and at each change,
 * by rename(); gone when the guest is.
 */
#ifndef VMGEN_STATUS_H
#define VMGEN_STATUS_H

#include "placement/claims.h"

/* <domstatus> with all that QEMU's capabilities add to a domain of DOC_BYTES. */
enum { STATUS_BYTES = 16 << 20 };

struct status_file {
	char *name;
	struct stamp stamp;
};

struct status_files {
	struct status_file *items; /* by stamp */
	size_t count;
};

#define cleanup_status_files cleanup(status_files_done)

/* The status files in DIRECTORY, opened; none through symbolic links, none half written.
 */
struct status_files status_list(int directory);
void status_files_done(struct status_files *files);
/* NULL when there is none. */
struct status_file *status_find(const struct status_files *files,
				const struct stamp *stamp);

/*
 * What the guest has, as a claim: owner is QEMU, without its start (pid 0: none yet). Its
 * own are the CPUs that one vCPU alone is pinned to; vcpus_on has also that of an
 * emulator pinned to one. Memory that the XML ties to no node is left out; what it ties
 * to several is taken in equal parts.
 */
bool status_parse(const char *file, const char *text, size_t length,
		  struct claim *ret_claim, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to libvirt, and the guests that it knows. What libvirt reports becomes
 * one line each in the diag; no type of libvirt's leaves this room.
 */
#ifndef VMGEN_CONNECT_H
#define VMGEN_CONNECT_H

#include "base/diag.h"

struct connection;
struct domain;

#define cleanup_connection cleanup(connect_close_pointer)

/* READ_ONLY: for whoever only looks, and may do no more.
 * URI as libvirt has it; NULL: libvirt's own choice (LIBVIRT_DEFAULT_URI, then root's or
 * the user's QEMU). NULL and a report when there is nobody there. */
struct connection *connect_open(const char *uri, bool read_only, struct diag *diag);
void connect_close(struct connection *connection);
void connect_close_pointer(struct connection **connection);

/* The QEMU of this machine, as its URI says: its host is this one. */
bool connect_is_here(const struct connection *connection);

/* The pid file of guest NAME, if that is here; the caller frees it. */
char *connect_pid_file(const struct connection *connection, const char *name);

/* What libvirt tells of the machine: capabilities XML, or NULL and a report. The caller
 * frees it. */
char *connect_capabilities(struct connection *connection, struct diag *diag);

/* The guest of that name or UUID; NULL and a report when there is none. The caller frees
 * it with domain_free(), before the connection. */
struct domain *connect_find(struct connection *connection, const char *guest,
			    struct diag *diag);

/* The same by UUID alone. */
struct domain *connect_find_uuid(struct connection *connection, const char *uuid,
				 struct diag *diag);

/* All guests, by name; false and a report. The caller frees each, and the array. */
bool connect_all(struct connection *connection, struct domain ***ret_domains,
		 size_t *ret_count, struct diag *diag);

/* Gives the guest that XML speaks of this definition, checked against libvirt's schema;
 * makes one where there is none. */
bool connect_define(struct connection *connection, const char *xml, struct diag *diag);

#endif

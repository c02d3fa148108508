/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data disks that were made for a guest, as its metadata remembers them:
 *
 *	<vmgen:disks xmlns:vmgen="urn:vmgen:disks:1">
 *	  <vmgen:disk name="data0" file="/srv/g1-data0.raw" format="raw"
 *size="80000000000"/>
 *	</vmgen:disks>
 *
 * A disk that is recorded is never made again. In a namespace of its own: libvirt keeps
 * one top-level element for each, and to choose another policy must not forget the disks.
 */
#ifndef VMGEN_RECORDS_H
#define VMGEN_RECORDS_H

#include "guest/guest.h"

#define RECORDS_NS "urn:vmgen:disks:1"

/* The element with all of them, or NULL. */
struct element *records(const struct guest *guest);

/* The first record; the next one; NULL at the end. */
struct element *records_first(const struct guest *guest);
struct element *records_next(const struct element *record);

/* That of the policy's disk NAME, or NULL. */
struct element *records_find(const struct guest *guest, const char *name);

#endif

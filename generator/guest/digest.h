/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two domain XMLs are the same guest as far as vmgen looks. */
#ifndef VMGEN_DIGEST_H
#define VMGEN_DIGEST_H

#include "guest/guest.h"

/*
 * A number of what vmgen reads of a guest: names, CPUs, memory, their tuning, disks and
 * interfaces. The same for what libvirt hands to a hook at prepare and for the definition
 * that this start came from, though the one has an id and no secrets, and the other may
 * be written differently; another one (FNV-1a, 64 bits) when any of it was edited
 * between.
 */
uint64_t guest_digest(const struct guest *guest);

#endif

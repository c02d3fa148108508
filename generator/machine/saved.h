/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests that may come back with the hardware that they were saved with. */
#ifndef VMGEN_SAVED_H
#define VMGEN_SAVED_H

#include <stdbool.h>

/* The guest has a managed-save image, or a snapshot that holds memory: libvirt runs no
 * `restore` operation for a revert to one, so prepare cannot tell it from a plain start.
 */
bool saved_state(const char *guest);

#endif

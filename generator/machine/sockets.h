/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who listens on a Unix socket, without connecting to it. */
#ifndef VMGEN_SOCKETS_H
#define VMGEN_SOCKETS_H

#include <stdbool.h>

/* Whether a process listens on PATH: /proc/net/unix says so, of our network namespace,
 * then of the others. A probing connect would be a guest to the switch. True also when
 * the former cannot be read. */
bool sockets_listening(const char *path);

#endif

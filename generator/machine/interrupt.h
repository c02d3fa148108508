/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that end a program, put off while something must not be left half done. */
#ifndef VMGEN_INTERRUPT_H
#define VMGEN_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP wait from here on. */
void interrupt_hold(sigset_t *ret_before);

/* One waits: whatever takes long should come to its end. */
bool interrupt_waits(void);

/* As it was before; one that waits is delivered here. */
void interrupt_release(const sigset_t *before);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must be so on this machine the moment a guest starts, read live. */
#ifndef VMGEN_CHECKS_H
#define VMGEN_CHECKS_H

#include "machine/start.h"

/* What start_compile() has in DIAG is nothing on which the start would hang in silence.
 * Sockets that the guest connects to have a listener, those that it makes have a
 * directory, the switch's NICs can read the guest's memory where zero-copy is wanted,
 * data disks that were made for it are there, its CPUs are online and guests may use
 * them, its hugepages are free once those are counted that other guests are about to
 * take. Each refusal names the number that was wanted and the number that is there. */
bool checks_pass(const struct start *start, struct diag *diag);

/* A warning for each socket on which the start will wait for the switch to connect. */
void checks_note_waits(const struct start *start, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that cannot be mistaken for later ones with their number, and the clock that
 * their starts are counted by. PROC is the directory, opened. */
#ifndef VMGEN_PROCESS_H
#define VMGEN_PROCESS_H

#include <stdbool.h>

#include "placement/claims.h"

/* The process that has the number PID now. False where there is none, or only what is
 * left of it until its parent has asked how it ended. */
bool process_find(int proc, unsigned pid, struct process *ret_process);

/* Whether it is still there. Where that cannot be told (no memory, no right to look), it
 * is: too long a claim is better than none. */
bool process_lives(int proc, const struct process *process);

/* Whether there is any process, or thread, of that number: a tenth of the time. */
bool process_number_taken(unsigned pid);

/* The same of this machine: pid 0 where there is none. */
struct process process_here(unsigned pid);
bool process_here_lives(const struct process *process);
/* For how many seconds it has been there. */
uint64_t process_here_age(const struct process *process);
/* Milliseconds since 1970 at which it began, to a tick of proc(5). */
uint64_t process_here_born(const struct process *process);

/* Since boot, time asleep included. */
uint64_t process_boot_seconds(void);

#endif

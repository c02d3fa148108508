/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that end a program, put off while something must not be left half done. */
#include <stddef.h>

#include "machine/interrupt.h"

void interrupt_hold(sigset_t *ret_before)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, ret_before);
}

bool interrupt_waits(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	return sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
	       sigismember(&waiting, SIGHUP);
}

void interrupt_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work done in a child process that may crash, hang or run out of memory without harm.
 *
 * libvirt kills a running guest whose hook fails at reconnect, and waits without a limit
 * for a hook that hangs; so the hook's own process does nothing but this.
 */
#ifndef VMGEN_SUPERVISE_H
#define VMGEN_SUPERVISE_H

#include <stddef.h>

enum supervise_end {
	SUPERVISE_EXITED, /* with code */
	SUPERVISE_KILLED, /* by signal code */
	SUPERVISE_LATE,	  /* killed at the deadline */
	SUPERVISE_FAILED, /* there was no child to be had: code is errno */
};

struct supervised {
	enum supervise_end end;
	int code;
	char *output; /* what it wrote to standard output; owned by the caller */
	size_t length;
};

/*
 * Runs WORK(DATA) in a child and waits for it, MILLISECONDS at most. Its standard output
 * is held back in memory; its standard error is ours. It dies with us, has BYTES of
 * memory, and leaves no core. Children that it leaves behind are not waited for. Free
 * output.
 */
void supervise(int (*work)(void *data), void *data, unsigned milliseconds, size_t bytes,
	       struct supervised *ret);

#endif

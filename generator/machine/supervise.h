/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work done in a child process that may crash, hang or run out of memory without harm.
 *
 * libvirt kills a running guest whose hook fails at reconnect, and waits without a limit
 * for a hook that hangs; so the hook's own process does nothing but this.
 */
#ifndef VMGEN_SUPERVISE_H
#define VMGEN_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>

enum supervise_end {
	SUPERVISE_EXITED,  /* with code */
	SUPERVISE_KILLED,  /* by signal code */
	SUPERVISE_LATE,	   /* killed at the deadline */
	SUPERVISE_STOPPED, /* killed, as the one who watched it wanted */
	SUPERVISE_FAILED,  /* there was no child to be had: code is errno */
};

struct captured {
	char *data; /* NULL: nothing */
	size_t length;
};

struct supervised {
	enum supervise_end end;
	int code;
	struct captured output, errors; /* of its standard output and error */
};

/*
 * Runs WORK(DATA) in a child and waits for it, MILLISECONDS at most, whatever the kernel
 * keeps it from. What it writes is held back in memory, so that neither it nor children
 * that it leaves behind hold what we write to; those are not waited for. It dies with us,
 * has BYTES of memory, and leaves no core.
 */
void supervise(int (*work)(void *data), void *data, unsigned milliseconds, size_t bytes,
	       struct supervised *ret);

/* Who looks at what comes of the work, several times a second. */
struct supervise_watch {
	bool (*look)(void *data); /* false: kill the child */
	void *data;
};

/* The same, without a limit of time or memory, for as long as WATCH likes it. */
void supervise_watched(int (*work)(void *data), void *data,
		       const struct supervise_watch *watch, struct supervised *ret);

void supervised_done(struct supervised *supervised);

#endif

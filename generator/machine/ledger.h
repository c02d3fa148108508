/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The claims on this machine, in a file under a lock: /run/vmgen/claims, /run/vmgen/lock.
 *
 * Read, decide and write under the lock; the file is replaced by rename(), so it is whole
 * at every instant, whoever is killed when. Opening heals: claims of guests that are gone
 * are dropped, guests that run without a claim get one from libvirt's status files, and
 * those whose status file changed since are read again (an administrator's live vcpupin).
 */
#ifndef VMGEN_LEDGER_H
#define VMGEN_LEDGER_H

#include "base/diag.h"
#include "placement/claims.h"

/* Where things are. */
struct ledger_places {
	const char *directory; /* of the claims and the lock */
	const char *status;    /* libvirt's status files */
	const char *proc;
};

/* Those of this machine: /run/vmgen, /run/libvirt/qemu, /proc. */
extern const struct ledger_places ledger_here;

struct ledger {
	int directory; /* opened: no path is walked twice */
	int lock;
	const char *path;      /* of the directory */
	struct claims *claims; /* as healed; change them, then write */
};

#define LEDGER_INIT                \
	{                          \
		-1, -1, NULL, NULL \
	}
#define cleanup_ledger cleanup(ledger_close)

/*
 * Takes the lock within MILLISECONDS and reads the claims. The directory is made (0755)
 * if need be; one that is not root's (or the caller's), or that others may write to, is
 * refused, and so are symbolic links in it. A file that cannot be parsed is put aside as
 * claims.bad, with a warning, and the claims are rebuilt: a guest must not fail to start
 * for ever because a disk was full. So are status files that cannot be read: a warning
 * each. False and a report when there is no lock or no directory to be had.
 *
 * A child that outlives the caller must close the ledger, or it keeps the lock.
 */
bool ledger_open(struct ledger *ledger, const struct ledger_places *places,
		 unsigned milliseconds, struct diag *diag);

/* Replaces the file by what ledger->claims is now; when that fails it is what it was. */
bool ledger_write(struct ledger *ledger, struct diag *diag);

/* Lets the lock go. What was not written is forgotten. */
void ledger_close(struct ledger *ledger);

/* The claims as they stand in the file, for whoever only wants to look: no lock, nothing
 * healed, any user. No file, no claims. NULL and a report when it cannot be read. */
struct claims *ledger_look(const struct ledger_places *places, struct diag *diag);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a start whose guest does not conform: a pure decision. */
#ifndef VMGEN_ENFORCE_H
#define VMGEN_ENFORCE_H

#include "edits/edits.h"

/* What is known of the guest that starts. */
struct situation {
	enum enforce enforce; /* the policy's, or what the host policy allows at most */
	bool saved_state; /* it comes from memory that was saved with the hardware it has
			   */
	bool transient;	  /* there is no definition to mend */
	bool unstartable; /* as it is defined: it is pinned to CPUs that it may not use */
	bool autostart;	  /* by a daemon that is starting: nobody waits for the answer */
	bool mending;	  /* a worker is at it */
	bool mended;	  /* a worker was at it, and it still does not conform */
};

enum verdict {
	VERDICT_PASS,	   /* start it as it is; what differs is logged */
	VERDICT_PASS_LIVE, /* start it; the live edits are made once it runs */
	VERDICT_MENDING,   /* refuse: a worker is at it, start it again */
	VERDICT_MEND, /* refuse, and let a worker bring the definition up to its policy */
	VERDICT_MEND_START, /* as MEND, and the worker starts it again */
	VERDICT_REFUSE,	    /* refuse, saying what differs */
};

enum verdict enforce_verdict(const struct situation *situation,
			     const struct edits *edits);

#endif

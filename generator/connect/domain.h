/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One guest that libvirt knows: its definition, what it is at, its pins. */
#ifndef VMGEN_CONNECT_DOMAIN_H
#define VMGEN_CONNECT_DOMAIN_H

#include "connect/connect.h"
#include "guest/guest.h"

#define cleanup_domain cleanup(domain_free_pointer)

void domain_free(struct domain *domain);
void domain_free_pointer(struct domain **domain);

const char *domain_name(const struct domain *domain);
const char *domain_uuid(const struct domain *domain);

struct domain_state {
	bool active;
	bool persistent; /* false: transient, it has no definition that outlives it */
	bool busy;	 /* a job is under way: migration, save, snapshot ... */
	bool saved;	 /* its next start restores a managed save */
	bool snapshots;	 /* there are some that hold memory and can be reverted to */
	bool internal;	 /* there are some in its images */
};

/* False and a report when the guest is gone. */
bool domain_state(struct domain *domain, struct domain_state *ret_state,
		  struct diag *diag);

enum domain_view {
	DOMAIN_DEFINITION, /* what it will be at its next start, with its secrets */
	DOMAIN_LIVE,	   /* what runs now; the definition if it does not run */
};

/* Its XML, or NULL and a report; the caller frees it. */
char *domain_xml(struct domain *domain, enum domain_view view, struct diag *diag);

bool domain_start(struct domain *domain, struct diag *diag);

/* Moves the threads of a running guest where WANTED says otherwise than NOW, live only;
 * each move that fails is reported, and false returned. */
bool domain_pin(struct domain *domain, const struct guest *now,
		const struct guest *wanted, struct diag *diag);

#endif

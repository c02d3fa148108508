/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is refused before libxml2 sees it. */
#ifndef VMGEN_ACCEPT_H
#define VMGEN_ACCEPT_H

#include "guest/doc.h"

/* False and a report when DOC's text is too long, empty, not UTF-8 by its first bytes or
 * its own word, or such that parsing it would take forever. */
bool accept_text(const struct doc *doc, struct diag *diag);

#endif

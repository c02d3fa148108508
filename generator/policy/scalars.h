/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One scalar of a field: what fields.c is made of. */
#ifndef VMGEN_SCALARS_H
#define VMGEN_SCALARS_H

#include "policy/fields.h"

/* Reads YAML, a scalar, into RET, a zeroed value; false after a report. Either way RET
 * has its place and is to be freed with scalar_done(). */
bool scalar_read(const struct field *field, const struct yaml *yaml, struct value *ret,
		 struct diag *diag);
void scalar_done(struct value *value);

#endif

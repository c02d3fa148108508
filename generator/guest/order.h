/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where among its siblings a new element goes: where libvirt itself would print it. */
#ifndef VMGEN_ORDER_H
#define VMGEN_ORDER_H

#include "guest/element.h"

/*
 * The index among SIBLINGS, the COUNT children of an element PARENT, that CHILD gets. The
 * last sibling of its name is decisive if there is one, and then its number ("vcpu" of
 * vcpupin); else libvirt's order; what that does not know goes last.
 */
size_t order_index(const char *parent, struct element *const *siblings, size_t count,
		   const struct element *child);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How rules read attributes: by meaning, and quietly where there is none. */
#ifndef VMGEN_READ_H
#define VMGEN_READ_H

#include "base/cpuset.h"
#include "guest/guest.h"

/* Where ELEMENT's attribute NAME stands; the element's own place when it has none. */
struct place read_place(const struct guest *guest, const struct element *element,
			const char *name);

/* All false, and nothing returned, when the attribute is absent or of another kind. */
bool read_number(const struct element *element, const char *name,
		 unsigned long long *ret_number);
bool read_cpus(const struct element *element, const char *name, struct cpuset *ret_cpus);
bool read_is(const struct element *element, const char *name, const char *value);

/* ELEMENT's attribute NAME is a number with a unit in the attribute "unit" (none: KiB).
 */
bool read_size(const struct element *element, const char *name, uint64_t *ret_bytes);

/* The same of what stands in ELEMENT, which may be NULL; 0 is no size. */
bool read_content(const struct element *element, unsigned long long *ret_number);
uint64_t read_content_size(const struct element *element);

/* Visits all elements at PATH ("devices/disk/driver", "" is FROM itself) below FROM. */
void read_each(const struct element *from, const char *path,
	       void (*visit)(const struct element *element, void *context),
	       void *context);

#endif

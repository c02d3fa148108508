/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers, sizes and CPU lists of a domain XML, as libvirt reads them. */
#ifndef VMGEN_VALUE_H
#define VMGEN_VALUE_H

#include <stdint.h>

#include "base/cpuset.h"
#include "guest/doc.h"

struct reader {
	const struct doc *doc;
	struct diag *diag;
};

/* What is read of an element: an attribute, or its text. */
struct value {
	const char *text; /* NULL: not given */
	const struct element *element;
	const char *attribute; /* NULL: the text */
};

struct value value_text(const struct element *element); /* of NULL: not given */
struct value value_attribute(const struct element *element, const char *attribute);

/* Reports "vcpu of <vcpupin> is "x"; INSTEAD" at its place, and yields false. */
bool value_wrong(const struct reader *reader, struct value value, const char *instead);

bool value_number(const struct reader *reader, struct value value, unsigned min,
		  unsigned max, unsigned *ret_number);
/* Not given, it leaves *NUMBER alone. */
bool value_optional(const struct reader *reader, struct value value, unsigned min,
		    unsigned max, unsigned *number);
/* In UNIT (NULL: KiB), and rounded up to KiB. */
bool value_size(const struct reader *reader, struct value value, const char *unit,
		uint64_t *ret_bytes);
bool value_cpus(const struct reader *reader, struct value value, struct cpuset *ret_cpus);

#endif

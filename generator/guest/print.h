/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fresh elements as XML. */
#ifndef VMGEN_PRINT_H
#define VMGEN_PRINT_H

#include "base/text.h"
#include "guest/element.h"

struct print_style {
	char quote; /* around values: ' or " */
	/* What goes before each element: a line end and the white space of its depth, and
	 * what a level below adds to that; both NULL: all on one line. */
	const char *indent, *step;
};

/* TEXT as it stands between tags. */
void print_text(struct text *out, const char *text);
/* VALUE as it stands between two of QUOTE; line ends and tabs survive. */
void print_value(struct text *out, const char *value, char quote);
/* ` name="value"` */
void print_attribute(struct text *out, const char *name, const char *value, char quote);

/* ELEMENT and all below it, without an indent before it. Text comes before the children,
 * which then stand on its line. */
void print_element(struct text *out, const struct element *element,
		   struct print_style style);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fresh elements as XML. */
#include <string.h>

#include "guest/print.h"

static const char *const references[128] = {
	['&'] = "&amp;",  ['<'] = "&lt;",  ['>'] = "&gt;",   ['\''] = "&apos;",
	['"'] = "&quot;", ['\t'] = "&#9;", ['\n'] = "&#10;", ['\r'] = "&#13;",
};

/* Each of SPECIAL as a reference, all else as it is. */
static void print_escaped(struct text *out, const char *text, const char *special)
{
	for (;;) {
		size_t plain = strcspn(text, special);

		text_add_bytes(out, text, plain);
		text += plain;
		if (!*text)
			return;
		text_add(out, references[*text++ & 0x7f]);
	}
}

void print_text(struct text *out, const char *text)
{
	print_escaped(out, text, "&<>\r");
}

void print_value(struct text *out, const char *value, char quote)
{
	print_escaped(out, value, quote == '"' ? "&<>\"\t\n\r" : "&<>'\t\n\r");
}

void print_attribute(struct text *out, const char *name, const char *value, char quote)
{
	text_printf(out, " %s=%c", name, quote);
	print_value(out, value, quote);
	text_add_bytes(out, &quote, 1);
}

static void print_children(struct text *out, const struct element *element,
			   struct print_style style)
{
	cleanup_free char *indent = style.indent
					    ? xasprintf("%s%s", style.indent, style.step)
					    : NULL;
	struct print_style below = { style.quote, indent, style.step };

	element_foreach (child, element, NULL) {
		text_add(out, indent ? indent : "");
		print_element(out, child, below);
	}
	text_add(out, style.indent ? style.indent : "");
}

void print_element(struct text *out, const struct element *element,
		   struct print_style style)
{
	bool speaks = element->text[strspn(element->text, " \t\r\n")];

	text_printf(out, "<%s", element->name);
	for (size_t i = 0; i < element->n_attributes; i++)
		print_attribute(out, element->attributes[i].name,
				element->attributes[i].value, style.quote);
	if (!element->first && !*element->text) {
		text_add(out, "/>");
		return;
	}
	text_add(out, ">");
	if (speaks || !element->first)
		print_text(out, element->text);
	if (speaks)
		style.indent = NULL;
	if (element->first)
		print_children(out, element, style);
	text_printf(out, "</%s>", element->name);
}

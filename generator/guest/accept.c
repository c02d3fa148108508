/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is refused before libxml2 sees it. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "guest/accept.h"
#include "guest/tag.h"

static bool refuse(const struct doc *doc, size_t offset, struct diag *diag,
		   const char *why)
{
	diag_error(diag, doc_place(doc, offset), NULL, "%s", why);
	return false;
}

static bool starts(const struct doc *doc, const char *bytes, size_t count)
{
	return doc->length >= count && memcmp(doc->text, bytes, count) == 0;
}

/* UTF-16 and UTF-32 begin with a byte order mark, or have a NUL in "<?" or "<d". */
static bool accept_bytes(const struct doc *doc, struct diag *diag)
{
	if (starts(doc, "\xfe\xff", 2) || starts(doc, "\xff\xfe", 2) ||
	    starts(doc, "\0", 1) || starts(doc, "<\0", 2))
		return refuse(doc, 0, diag,
			      "the document is not in UTF-8 but in UTF-16 or UTF-32; "
			      "convert it, with iconv for example");
	const char *nul = memchr(doc->text, '\0', doc->length);
	if (nul)
		return refuse(doc, (size_t)(nul - doc->text), diag,
			      "the document has a NUL byte, which XML forbids");
	return true;
}

/* Offsets would be those of a conversion: hence no conversion. */
static bool accept_encoding(const struct doc *doc, struct diag *diag)
{
	size_t at = text_mark(doc->text);
	struct tag_attribute pseudo;

	if (!text_starts(doc->text + at, "<?xml"))
		return true;
	at += strlen("<?xml");
	const char *close = strstr(doc->text + at, "?>");
	size_t limit = close ? (size_t)(close - doc->text) : at;
	while (tag_attribute_next(doc->text, &at, limit, &pseudo)) {
		cleanup_free char *value = xstrndup(doc->text + pseudo.value,
						    pseudo.value_end - pseudo.value);

		if (strncmp(doc->text + pseudo.name, "encoding",
			    pseudo.name_end - pseudo.name) != 0 ||
		    !strcasecmp(value, "UTF-8") || !strcasecmp(value, "US-ASCII") ||
		    !strcasecmp(value, "ASCII"))
			continue;
		diag_error(diag, doc_place(doc, pseudo.value), NULL,
			   "the document says that it is in %s; only UTF-8 is read: "
			   "convert it, with iconv for example",
			   value);
		return false;
	}
	return true;
}

/* What follows each "<" is looked at as if it were a tag: between two of them there is at
 * most one. In a comment that is a false alarm, but of nothing that was meant well. */
static bool accept_attributes(const struct doc *doc, struct diag *diag)
{
	const char *text = doc->text, *end = text + doc->length, *next;
	struct tag_attribute attribute;

	for (const char *tag = memchr(text, '<', doc->length); tag; tag = next) {
		next = memchr(tag + 1, '<', (size_t)(end - tag) - 1);
		size_t limit = next ? (size_t)(next - text) : doc->length;
		/* a=""b="" and so on */
		if (limit - (size_t)(tag - text) < 4 * DOC_ATTRIBUTES)
			continue;
		size_t at = tag_skip_name(text, (size_t)(tag - text) + 1, limit);
		unsigned count = 0;

		while (tag_attribute_next(text, &at, limit, &attribute))
			if (++count > DOC_ATTRIBUTES)
				return refuse(doc, attribute.start, diag,
					      "the element has more than 256 attributes");
	}
	return true;
}

bool accept_text(const struct doc *doc, struct diag *diag)
{
	if (doc->length > DOC_BYTES)
		return refuse(doc, 0, diag,
			      "the document is longer than 10 MiB; libvirt takes 4 MiB");
	if (strspn(doc->text, " \t\r\n") == doc->length)
		return refuse(doc, 0, diag,
			      "the document is empty; a domain XML goes here");
	return accept_bytes(doc, diag) && accept_encoding(doc, diag) &&
	       accept_attributes(doc, diag);
}

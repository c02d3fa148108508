/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XML from anyone, read without harm. */
#include <libxml/parser.h>
#include <string.h>

#include "base/text.h"
#include "host/xml.h"

static const xmlChar *as_xml(const char *text)
{
	return (const xmlChar *)text;
}

static const char *from_xml(const xmlChar *text)
{
	return (const char *)text;
}

static void free_parser(xmlParserCtxt **parser)
{
	xmlFreeParserCtxt(*parser);
}

#define cleanup_parser cleanup(free_parser)

/* libxml2 ends its sentences with a newline. */
static void report(xmlParserCtxt *parser, const char *file, struct diag *diag)
{
	const xmlError *error = xmlCtxtGetLastError(parser);
	const char *message = error && error->message ? error->message : "";
	struct place place = { .file = file };

	if (error && error->line > 0) {
		place.line = (unsigned)error->line;
		place.column = error->int2 > 0 ? (unsigned)error->int2 : 1;
	}
	diag_error(diag, place, NULL, "this is not well-formed XML: %.*s",
		   (int)strcspn(message, "\n"), message);
}

static bool acceptable(xmlDoc *doc, const char *file, const char *root, struct diag *diag)
{
	const xmlNode *element = xmlDocGetRootElement(doc);
	struct place place = { .file = file };

	if (doc->intSubset && doc->intSubset->children) {
		diag_error(diag, place, NULL,
			   "declarations inside DOCTYPE are not accepted; remove them");
		return false;
	}
	if (!element || !xmlStrEqual(element->name, as_xml(root))) {
		diag_error(diag, place, NULL, "the root element is <%s>, not <%s>",
			   element ? from_xml(element->name) : "", root);
		return false;
	}
	return true;
}

/* UTF-8 only: libxml2 reports what it cannot convert to stderr, and nowhere else. */
static bool readable(const char *file, const char *text, size_t length, struct diag *diag)
{
	struct place place = { .file = file };

	if (length > HOST_XML_BYTES) {
		diag_error(diag, place, NULL,
			   "this XML has %zu bytes, more than the %d that are read",
			   length, HOST_XML_BYTES);
		return false;
	}
	if (strlen(text) != length || !xmlCheckUTF8((const unsigned char *)text)) {
		diag_error(diag, place, NULL,
			   "this XML is not in UTF-8, or holds a NUL byte; convert it");
		return false;
	}
	return true;
}

xmlDoc *host_xml_parse(const char *file, const char *text, size_t length,
		       const char *root, struct diag *diag)
{
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
			    XML_PARSE_COMPACT | XML_PARSE_IGNORE_ENC;

	if (!readable(file, text, length, diag))
		return NULL;
	cleanup_parser xmlParserCtxt *parser = xmlNewParserCtxt();
	if (!parser)
		abort();
	xmlDoc *doc = xmlCtxtReadMemory(parser, text, (int)length, NULL, NULL, options);
	if (!doc) {
		report(parser, file, diag);
		return NULL;
	}
	if (!acceptable(doc, file, root, diag)) {
		xmlFreeDoc(doc);
		return NULL;
	}
	return doc;
}

struct place host_xml_place(const char *file, const xmlNode *element)
{
	long line = xmlGetLineNo(element);

	return (struct place){ file, line > 0 ? (unsigned)line : 0, 1 };
}

char *host_xml_attribute(const xmlNode *element, const char *name)
{
	xmlChar *value = xmlGetNoNsProp(element, as_xml(name));
	char *copy = value ? xstrdup(from_xml(value)) : NULL;

	xmlFree(value);
	return copy;
}

static xmlNode *named(xmlNode *node, const char *name)
{
	while (node &&
	       (node->type != XML_ELEMENT_NODE || !xmlStrEqual(node->name, as_xml(name))))
		node = node->next;
	return node;
}

xmlNode *host_xml_child(const xmlNode *element, const char *name)
{
	return element ? named(element->children, name) : NULL;
}

xmlNode *host_xml_next(const xmlNode *element, const char *name)
{
	return named(element->next, name);
}

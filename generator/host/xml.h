/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XML from anyone, read without harm: no network, no entities, no huge documents. */
#ifndef VMGEN_HOST_XML_H
#define VMGEN_HOST_XML_H

#include <libxml/tree.h>

#include "base/diag.h"

/* A machine of 1500 cores takes three million. */
enum { HOST_XML_BYTES = 16 << 20 };

/* The document in TEXT, whose root element is ROOT; xmlFreeDoc(). NULL and a report with
 * line and column when it is not well-formed, is another document, or declares entities.
 * A DOCTYPE that only names an external file is harmless, since nothing is loaded. */
xmlDoc *host_xml_parse(const char *file, const char *text, size_t length,
		       const char *root, struct diag *diag);

/* Where an element is; libxml2 knows the line only. */
struct place host_xml_place(const char *file, const xmlNode *element);

/* An attribute's value, or NULL; the caller frees it. */
char *host_xml_attribute(const xmlNode *element, const char *name);

/* The first child element of that name, or NULL; the next sibling of that name. */
xmlNode *host_xml_child(const xmlNode *element, const char *name);
xmlNode *host_xml_next(const xmlNode *element, const char *name);

/* for (xmlNode *child : children of that name) */
#define host_xml_foreach(child, parent, name)                          \
	for (xmlNode *child = host_xml_child((parent), (name)); child; \
	     child = host_xml_next(child, (name)))

#endif

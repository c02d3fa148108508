/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom QEMU runs as. */
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "host/owner.h"
#include "host/xml.h"

static bool is_text(const xmlNode *element, const char *text)
{
	return element && element->children &&
	       text_equal((const char *)element->children->content, text);
}

/* "+64055" */
static bool read_id(const char *text, unsigned *ret_id)
{
	unsigned long long id;

	if (*text != '+' || !text_number(text + 1, &id) || id > UINT_MAX)
		return false;
	*ret_id = (unsigned)id;
	return true;
}

/* "+64055:+64055" */
static bool read_label(const xmlNode *label, unsigned *ret_user, unsigned *ret_group)
{
	const char *content = label && label->children
				      ? (const char *)label->children->content
				      : NULL;
	cleanup_free char *user = content ? xstrdup(content) : NULL;
	char *colon = user ? strchr(user, ':') : NULL;

	if (!colon)
		return false;
	*colon = '\0';
	return read_id(user, ret_user) && read_id(colon + 1, ret_group);
}

bool host_owner(const char *capabilities, size_t length, unsigned *ret_user,
		unsigned *ret_group)
{
	cleanup_diag struct diag quiet = DIAG_INIT;
	xmlDoc *doc = host_xml_parse("capabilities", capabilities, length, "capabilities",
				     &quiet);
	bool found = false;

	if (!doc)
		return false;
	host_xml_foreach(model, host_xml_child(xmlDocGetRootElement(doc), "host"),
			 "secmodel")
	{
		if (is_text(host_xml_child(model, "model"), "dac"))
			found = read_label(host_xml_child(model, "baselabel"), ret_user,
					   ret_group);
	}
	xmlFreeDoc(doc);
	return found;
}

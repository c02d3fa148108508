/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which form a description has; apart from host.c so that the hook links no hwloc. */
#include <string.h>

#include "base/text.h"
#include "host/host.h"

/* Where the first element begins, or NULL; AT is the first tag. */
static const char *first_element(const char *at)
{
	while (at && (at[1] == '?' || at[1] == '!')) {
		const char *end = text_starts(at, "<!--") ? strstr(at, "-->")
							  : strchr(at, '>');
		at = end ? strchr(end, '<') : NULL;
	}
	return at;
}

struct host *host_from_text(const char *file, const char *text, size_t length,
			    struct diag *diag)
{
	const struct place place = { .file = file };
	size_t mark = text_mark(text);

	text += mark, length -= mark; /* hwloc does not know it */
	const char *begin = text + strspn(text, " \t\r\n");
	if (*begin != '<')
		return host_from_yaml(file, text, length, diag);
	const char *element = first_element(begin);

	if (element && text_starts(element, "<topology"))
		return host_from_hwloc_xml(file, text, length, diag);
	if (element && text_starts(element, "<capabilities"))
		return host_from_capabilities(file, text, length, diag);
	diag_error(diag, place, NULL,
		   "this XML describes no host; accepted are <topology> (lstopo --of "
		   "xml) and <capabilities> (virsh capabilities)");
	return NULL;
}

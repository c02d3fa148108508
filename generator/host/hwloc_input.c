/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What hwloc is given, looked at before. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "host/hwloc_input.h"
#include "host/reader.h"
#include "host/xml.h"

/* hwloc's time grows with the square of what it makes up: 4096 CPUs, twice the largest
 * machine of 2024, take a second. */
enum { SYNTHETIC_CPUS_MAX = 4096 };

void hwloc_input_done(struct hwloc_input *input)
{
	free(input->text);
	free(input->version);
	free(input->arch);
}

/* hwloc notes it with the machine, since version 3 beside it; NULL: not noted. */
static char *architecture(const xmlNode *topology)
{
	const xmlNode *const homes[] = { topology, host_xml_child(topology, "object") };

	for (size_t i = 0; i < ARRAY_SIZE(homes); i++)
		host_xml_foreach(info, homes[i], "info")
		{
			cleanup_free char *name = host_xml_attribute(info, "name");
			cleanup_free char *value = host_xml_attribute(info, "value");

			if (text_equal(name, "Architecture") && value)
				return host_name_from(value);
		}
	return NULL;
}

/* hwloc makes bitmaps as long as the highest number: half a gigabyte for one of 32 bits.
 */
static bool numbers_are_sane(const char *file, const xmlNode *parent, struct diag *diag)
{
	host_xml_foreach(object, parent, "object")
	{
		cleanup_free char *type = host_xml_attribute(object, "type");
		cleanup_free char *index = host_xml_attribute(object, "os_index");
		bool numbers = text_equal(type, "PU") || text_equal(type, "NUMANode");
		unsigned long long number = 0;

		if (numbers && index &&
		    (!text_number(index, &number) || number >= CPUSET_MAX)) {
			diag_error(diag, host_xml_place(file, object), NULL,
				   "%s number %s is beyond %d, the highest that libvirt "
				   "takes",
				   type, index, CPUSET_MAX - 1);
			return false;
		}
		if (!numbers_are_sane(file, object, diag))
			return false;
	}
	return true;
}

/* Writes 2 for 3, where that is the version of <topology>. */
static void downgrade(char *text)
{
	char *tag = strstr(text, "<topology");
	char *at = tag ? strstr(tag, "version=") : NULL;

	if (at && at[strlen("version='")] == '3')
		at[strlen("version='")] = '2';
}

bool hwloc_input_xml(const char *file, const char *text, size_t length, bool reads_3,
		     struct hwloc_input *ret_input, struct diag *diag)
{
	xmlDoc *doc = host_xml_parse(file, text, length, "topology", diag);

	if (!doc)
		return false;
	const xmlNode *root = xmlDocGetRootElement(doc);
	bool sane = numbers_are_sane(file, root, diag);
	if (sane) {
		struct hwloc_input input = {
			.text = xstrndup(text, length),
			.version = host_xml_attribute(root, "version"),
			.arch = architecture(root),
		};
		input.bits = input.version && text_starts(input.version, "3.");
		if (input.bits && !reads_3)
			downgrade(input.text);
		*ret_input = input;
	}
	xmlFreeDoc(doc);
	return sane;
}

/* How many of the objects that the next word of *AT speaks of there are below each one
 * before ("core:20" and "20" both say 20; what is attached in brackets does not count);
 * *AT is moved behind the word, *RET_NODES tells whether it is of NUMA nodes. As hwloc
 * reads it: a type is whatever stands before the next colon, blanks and brackets too, and
 * a number may be octal or hexadecimal. */
static unsigned long next_arity(const char **at, bool *ret_nodes)
{
	const char *word = *at + strspn(*at, " \n");
	bool typed = *word && !strchr("0123456789[", *word);
	const char *number = typed ? word + strcspn(word, ":") : word;
	char *end;

	number += *number == ':';
	unsigned long arity = strtoul(number, &end, 0);

	*ret_nodes = !strncasecmp(word, "numa", 4) || !strncasecmp(word, "node", 4);
	*at = end == number && *word != '[' ? number + strlen(number) : end;
	while (**at == '(' || **at == '[') {
		*at += strcspn(*at, **at == '(' ? ")" : "]");
		*at += **at != '\0';
	}
	return arity ? arity : 1;
}

/* The highest number in "(indexes=0,2,1,3)" and the like; sizes of caches and memory may
 * be as high as they are. */
static unsigned long highest_index(const char *description)
{
	unsigned long highest = 0;

	for (const char *at = description; (at = strstr(at, "indexes="));) {
		at += strlen("indexes=");
		for (const char *end = at + strcspn(at, " )"); at < end; at++)
			if (strchr("0123456789", *at)) {
				char *behind;
				unsigned long number = strtoul(at, &behind, 10);

				highest = number > highest ? number : highest;
				at = behind - 1;
			}
	}
	return highest;
}

bool hwloc_input_synthetic(const char *description, struct diag *diag)
{
	unsigned long total = 1;

	if (highest_index(description) >= CPUSET_MAX) {
		diag_error(diag, NOWHERE, NULL,
			   "'%s' has an index beyond %d, the highest that libvirt takes",
			   description, CPUSET_MAX - 1);
		return false;
	}
	for (const char *at = description; *at;) {
		bool nodes;
		unsigned long arity = next_arity(&at, &nodes);
		unsigned long most = nodes ? HOST_NODES_MAX : SYNTHETIC_CPUS_MAX;

		if (arity > most || total * arity > most) {
			diag_error(
				diag, NOWHERE, NULL,
				"'%s' has more than %lu %s, the most that there can be",
				description, most, nodes ? "nodes" : "CPUs");
			return false;
		}
		total *= arity;
		at += strspn(at, " ");
	}
	return true;
}

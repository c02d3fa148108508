/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every domain of the corpus, rewritten for every shipped policy: the edits are those
 * that libxml2's tree would show, the result is valid wherever the input was, conforms,
 * and stays as it is when rewritten again; every byte outside the edits is what it was.
 * What is refused is refused with a reason that is checked to be true.
 */
#include <dirent.h>
#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "compile.h"
#include "machine/file.h"
#include "placement/request.h"
#include "tap.h"

#ifndef __SANITIZE_ADDRESS__
static const char schema_path[] = "/usr/share/libvirt/schemas/domain.rng";
#endif
static const char corpus[] = "../shared/corpus/domains";

/* Everything that one policy's run over the corpus works with. */
struct world {
	struct host *host;
	struct host_policy *host_policy;
	struct policy *policy;
	xmlRelaxNGPtr schema;
	bool grow; /* give each guest 16 vCPUs and 16 GiB first */
	unsigned applied, refused, edits, faults;
	struct {
		const char *rule;
		unsigned count;
	} reasons[16];
};

static void silent(void *context, const char *message, ...)
{
	(void)context;
	(void)message;
}

static void fault(struct world *world, const char *file, const char *what)
{
	if (world->faults++ < 10)
		printf("#   %s, %s: %s\n", world->policy->name.text, file, what);
}

/* The number of ELEMENT in document order, not counting fresh ones; or SIZE_MAX. */
static bool count_until(const struct element *at, const struct element *wanted,
			size_t *number)
{
	if (at == wanted)
		return true;
	if (!at->fresh)
		++*number;
	for (const struct element *child = at->first; child; child = child->next)
		if (count_until(child, wanted, number))
			return true;
	return false;
}

static xmlNodePtr node_number(xmlNodePtr at, size_t *number)
{
	if (at->type != XML_ELEMENT_NODE)
		return NULL;
	if (!(*number)--)
		return at;
	for (xmlNodePtr child = at->children; child; child = child->next) {
		xmlNodePtr found = node_number(child, number);

		if (found)
			return found;
	}
	return NULL;
}

/* A fresh container's node: a child of its parent's, made if need be. */
static xmlNodePtr node_of(xmlDocPtr dom, const struct doc *doc,
			  const struct element *element, xmlNodePtr *nodes)
{
	size_t number = 0;

	if (!element->fresh) {
		count_until(doc->root, element, &number);
		return nodes[number];
	}
	xmlNodePtr parent = node_of(dom, doc, element->parent, nodes);
	for (xmlNodePtr child = parent->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && !child->ns &&
		    !strcmp((const char *)child->name, element->name) && child->_private)
			return child;
	xmlNodePtr made = xmlNewChild(parent, NULL, BAD_CAST element->name, NULL);
	made->_private = made;
	return made;
}

static xmlNodePtr build(const struct element *element)
{
	xmlNodePtr node = xmlNewNode(NULL, BAD_CAST element->name);

	for (size_t i = 0; i < element->n_attributes; i++)
		xmlNewProp(node, BAD_CAST element->attributes[i].name,
			   BAD_CAST element->attributes[i].value);
	if (element->text && *element->text)
		xmlAddChild(node, xmlNewText(BAD_CAST element->text));
	for (const struct element *child = element->first; child; child = child->next)
		xmlAddChild(node, build(child));
	return node;
}

/* What is taken out goes to ATTIC: other edits may still speak of it. */
static void edit_dom(const struct edit *edit, xmlNodePtr node, xmlNodePtr attic)
{
	const struct change *change = &edit->change;

	switch (change->kind) {
	case CHANGE_ATTRIBUTE:
		if (change->value)
			xmlSetProp(node, BAD_CAST change->name, BAD_CAST change->value);
		else
			xmlUnsetProp(node, BAD_CAST change->name);
		break;
	case CHANGE_CONTENT: {
		xmlChar *escaped = xmlEncodeSpecialChars(node->doc,
							 BAD_CAST change->value);

		xmlNodeSetContent(node, escaped);
		xmlFree(escaped);
		break;
	}
	case CHANGE_CHILD:
		xmlAddChild(node, build(change->child));
		break;
	case CHANGE_REMOVE:
		xmlUnlinkNode(node);
		xmlAddChild(attic, node);
		break;
	}
}

static void drop_blanks_and_comments(xmlNodePtr node)
{
	for (xmlNodePtr child = node->children, next; child; child = next) {
		next = child->next;
		if (xmlIsBlankNode(child) || child->type == XML_COMMENT_NODE) {
			xmlUnlinkNode(child);
			xmlFreeNode(child);
		} else {
			drop_blanks_and_comments(child);
		}
	}
}

static char *node_text(xmlNodePtr node)
{
	xmlBufferPtr buffer = xmlBufferCreate();

	xmlNodeDump(buffer, node->doc, node, 0, 0);
	char *text = xstrdup((const char *)xmlBufferContent(buffer));
	xmlBufferFree(buffer);
	return text;
}

struct keyed {
	char *key;
	xmlNodePtr node;
};

static int keyed_order(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

/* Where new elements stand among their siblings is the splicer's affair. */
static void sort_children(xmlNodePtr node)
{
	struct keyed *keyed = NULL;
	size_t count = 0;

	for (xmlNodePtr child = node->children; child; child = child->next)
		sort_children(child);
	for (xmlNodePtr child = node->children, next; child; child = next) {
		next = child->next;
		xmlUnlinkNode(child);
		*append(keyed, count) = (struct keyed){ node_text(child), child };
	}
	if (count)
		qsort(keyed, count, sizeof(*keyed), keyed_order);
	for (size_t i = 0; i < count; i++) {
		xmlAddChild(node, keyed[i].node);
		free(keyed[i].key);
	}
	free(keyed);
}

static char *canonical(xmlDocPtr dom)
{
	xmlChar *text = NULL;

	drop_blanks_and_comments(xmlDocGetRootElement(dom));
	sort_children(xmlDocGetRootElement(dom));
	xmlC14NDocDumpMemory(dom, NULL, XML_C14N_1_0, NULL, 0, &text);
	char *copy = xstrdup((const char *)text);
	xmlFree(text);
	return copy;
}

static xmlDocPtr dom_of(const char *text)
{
	return xmlReadMemory(text, (int)strlen(text), "x.xml", NULL,
			     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
}

/* The edits made on libxml2's tree give what the splices gave. */
static bool equals_dom(const struct doc *doc, const struct outcome *outcome)
{
	xmlDocPtr dom = dom_of(doc->text), spliced = dom_of(outcome->xml);
	xmlNodePtr attic = xmlNewDocNode(dom, NULL, BAD_CAST "attic", NULL);
	size_t count = 0;
	xmlNodePtr *nodes = NULL;

	for (size_t n = 0;; n++) {
		size_t left = n;
		xmlNodePtr node = node_number(xmlDocGetRootElement(dom), &left);

		if (!node)
			break;
		*append(nodes, count) = node;
	}
	for (size_t i = 0; i < outcome->edits.count; i++) {
		const struct edit *edit = &outcome->edits.items[i];

		edit_dom(edit, node_of(dom, doc, edit->change.element, nodes), attic);
	}
	free(nodes);
	xmlFreeNode(attic);
	cleanup_free char *want = canonical(dom);
	cleanup_free char *got = canonical(spliced);
	xmlFreeDoc(dom);
	xmlFreeDoc(spliced);
	return strcmp(want, got) == 0;
}

/* One stretch of the old text that an edit touches. */
struct touched {
	size_t start, end;
};

static int touched_order(const void *a, const void *b)
{
	const struct touched *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return 0;
}

static struct touched touched_by(const struct change *change, const char *text)
{
	const struct element *element = change->element;
	const struct attribute *attribute;
	size_t start;

	while (element->fresh)
		element = element->parent;
	switch (change->kind) {
	case CHANGE_ATTRIBUTE:
		attribute = element_attribute_find(element, change->name);
		return attribute
			       ? (struct touched){ attribute->start, attribute->end }
			       : (struct touched){ element->open_end, element->open_end };
	case CHANGE_CONTENT:
		return (struct touched){ element->open_end, element->close_start };
	case CHANGE_REMOVE:
		for (start = element->start; start && strchr(" \t\r\n", text[start - 1]);)
			start--;
		if (element->parent->first == element && !element->next) /* now <x/> */
			return (struct touched){ element->parent->open_end - 1,
						 element->parent->end };
		return (struct touched){ start, element->end };
	case CHANGE_CHILD:
		break;
	}
	return (struct touched){ element->start, element->start };
}

/* Each byte that no edit touches comes out again, in order; what is added stands between
 * and takes away nothing. */
static bool keeps_bytes(const struct doc *doc, const struct outcome *outcome)
{
	struct touched *touched = NULL;
	size_t count = 0, at = 0, out = 0, length = strlen(outcome->xml);

	for (size_t i = 0; i < outcome->edits.count; i++)
		if (outcome->edits.items[i].change.kind != CHANGE_CHILD)
			*append(touched, count) = touched_by(
				&outcome->edits.items[i].change, doc->text);
	if (count)
		qsort(touched, count, sizeof(*touched), touched_order);
	for (size_t i = 0; at < doc->length; at++) {
		while (i < count && touched[i].end <= at)
			i++;
		if (i < count && at >= touched[i].start)
			continue;
		while (out < length && outcome->xml[out] != doc->text[at])
			out++;
		if (out++ == length)
			break;
	}
	free(touched);
	return at == doc->length;
}

static bool valid(xmlRelaxNGPtr schema, const char *text)
{
	xmlDocPtr dom = dom_of(text);
	xmlRelaxNGValidCtxtPtr context = xmlRelaxNGNewValidCtxt(schema);

	xmlRelaxNGSetValidErrors(context, silent, silent, NULL);
	int result = dom ? xmlRelaxNGValidateDoc(context, dom) : 1;
	xmlRelaxNGFreeValidCtxt(context);
	xmlFreeDoc(dom);
	return result == 0;
}

static bool compile_text(const struct world *world, const char *file, const char *text,
			 struct doc **ret_doc, struct guest **ret_guest,
			 struct outcome *ret_outcome, struct diag *diag)
{
	*ret_doc = doc_parse(file, text, strlen(text), diag);
	*ret_guest = *ret_doc ? guest_read(*ret_doc, diag) : NULL;
	if (!*ret_guest)
		return false;
	const struct input input = {
		.policy = world->policy,
		.host = world->host,
		.host_policy = world->host_policy,
		.doc = *ret_doc,
		.guest = *ret_guest,
		.records = true,
	};
	return compile(&input, ret_outcome, diag);
}

/* Planning the result again gives no edit. */
static bool stays(const struct world *world, const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_doc struct doc *doc = NULL;
	cleanup_guest struct guest *guest = NULL;
	cleanup_outcome struct outcome outcome = OUTCOME_INIT;
	bool compiled = compile_text(world, "again.xml", text, &doc, &guest, &outcome,
				     &diag);

	for (size_t i = 0; i < diag.count && !compiled; i++)
		printf("#     %s\n", diag.findings[i].text);
	for (size_t i = 0; i < outcome.edits.count && i < 3; i++)
		printf("#     again: %s: %s -> %s\n", outcome.edits.items[i].path,
		       outcome.edits.items[i].old ? outcome.edits.items[i].old : "-",
		       outcome.edits.items[i].new ? outcome.edits.items[i].new : "-");
	return compiled && !outcome.edits.count && !strcmp(outcome.xml, text);
}

static bool pinned_right(const struct world *world, const struct guest *guest)
{
	struct cpuset used = CPUSET_INIT;
	struct cpuset nodes = CPUSET_INIT;

	for (unsigned i = 0; i < guest->vcpus; i++) {
		const struct guest_pin *pin = &guest->vcpupin[i];
		unsigned cpu = cpuset_next(&pin->cpus, 0);

		if (!pin->element || cpuset_count(&pin->cpus) != 1 ||
		    cpuset_intersects(&pin->cpus, &used) ||
		    cpuset_has(world->host_policy->reserved_cpus.cpus, cpu) ||
		    cpuset_has(world->host_policy->housekeeping_cpus.cpus, cpu))
			return false;
		cpuset_set(&used, cpu);
		cpuset_set(&nodes, (unsigned)host_cpu(world->host, cpu)->node);
	}
	return guest->emulatorpin.element &&
	       !cpuset_intersects(&guest->emulatorpin.cpus, &used) &&
	       cpuset_count(&nodes) <= (given(&world->policy->numatune.nodes)
						? world->policy->numatune.nodes.number
						: 1);
}

static bool attribute_right(const struct value *said, const struct element *element,
			    const char *name)
{
	return !given(said) || text_equal(element_attribute(element, name), said->text);
}

static bool interface_right(const struct policy_interface *said,
			    const struct element *element)
{
	const struct element *source = element_child(element, "source");
	const struct element *driver = element_child(element, "driver");
	const struct element *host = element_child(driver, "host");

	return attribute_right(&said->source.mode, source, "mode") &&
	       attribute_right(&said->reconnect, element_child(source, "reconnect"),
			       "timeout") &&
	       attribute_right(&said->rx_queue_size, driver, "rx_queue_size") &&
	       attribute_right(&said->tx_queue_size, driver, "tx_queue_size") &&
	       (!given(&said->mrg_rxbuf) ||
		text_equal(element_attribute(host, "mrg_rxbuf"),
			   said->mrg_rxbuf.number ? "on" : "off"));
}

/* Shared as libvirt 11.2 demands it of vhost-user, and on no disk. */
static bool shared_right(const struct guest *guest)
{
	const struct element *backing = element_find(guest->domain, "memoryBacking");
	const struct element *source = element_child(backing, "source");
	bool shared = text_equal(
		element_attribute(element_child(backing, "access"), "mode"), "shared");

	for (size_t i = 0; i < guest->n_cells; i++)
		if (guest->cells[i].access &&
		    !text_equal(guest->cells[i].access, "shared"))
			return false;
	return shared && (element_child(backing, "hugepages") ||
			  !text_equal(element_attribute(source, "type"), "anonymous"));
}

static bool devices_right(const struct policy *policy, const struct guest *guest)
{
	const struct policy_disk *disks = policy->disks.items;
	const struct policy_interface *interfaces = policy->interfaces.items;
	size_t found = 0;

	for (size_t i = 0; i < policy->disks.count; i++) {
		cleanup_free char *alias = guest_alias(disks[i].name.text);

		for (size_t j = 0; j < guest->n_disks; j++)
			found += text_equal(guest->disks[j].alias, alias) &&
				 text_equal(element_attribute(
						    element_child(guest->disks[j].element,
								  "driver"),
						    "cache"),
					    disks[i].cache.text);
	}
	for (size_t i = 0; i < policy->interfaces.count; i++) {
		cleanup_free char *alias = guest_alias(interfaces[i].name.text);

		for (size_t j = 0; j < guest->n_interfaces; j++)
			found += (text_equal(guest->interfaces[j].alias, alias) ||
				  text_equal(guest->interfaces[j].path,
					     interfaces[i].source.path.text)) &&
				 interface_right(&interfaces[i],
						 guest->interfaces[j].element);
	}
	return found == policy->disks.count + policy->interfaces.count;
}

/* The policy's demands, read off the result by another way than the edits went. */
static bool conforms(const struct world *world, const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_doc struct doc *doc = doc_parse("x.xml", text, strlen(text), &diag);
	cleanup_guest struct guest *guest = doc ? guest_read(doc, &diag) : NULL;
	const struct policy *policy = world->policy;

	if (!guest)
		return false;
	struct element *memory = element_find(guest->domain, "numatune/memory");
	struct element *access = element_find(guest->domain, "memoryBacking/access");
	return pinned_right(world, guest) && devices_right(policy, guest) &&
	       (!policy->interfaces.count || shared_right(guest)) &&
	       guest->n_iothreads >= policy->iothreads.number &&
	       text_equal(element_attribute(memory, "mode"),
			  policy->numatune.mode.text) &&
	       element_attribute(memory, "nodeset") &&
	       (!given(&policy->memoryBacking.access) ||
		text_equal(element_attribute(access, "mode"),
			   policy->memoryBacking.access.text)) &&
	       (!given(&policy->memoryBacking.hugepages) ||
		request_page_size(policy, guest) ==
			policy->memoryBacking.hugepages.number);
}

/* The most nodes that the guest's memory can come from. */
static uint64_t span(const struct world *world, const struct guest *guest)
{
	const struct value *nodes = &world->policy->numatune.nodes;
	uint64_t most = given(nodes) ? nodes->number : 1;

	return guest->n_cells && guest->n_cells < most ? guest->n_cells : most;
}

/* The CPUs that the host policy leaves to guests on the first NODES nodes. */
static unsigned pool(const struct world *world, uint64_t nodes)
{
	unsigned most = 0;

	for (size_t i = 0; i < world->host->n_nodes && i < nodes; i++) {
		struct cpuset cpus = world->host->nodes[i].cpus;

		cpuset_andnot(&cpus, world->host_policy->reserved_cpus.cpus);
		cpuset_andnot(&cpus, world->host_policy->housekeeping_cpus.cpus);
		cpuset_andnot(&cpus, world->host_policy->vswitch.pmd_cpus.cpus);
		most += cpuset_count(&cpus);
	}
	return most;
}

static bool uses_memfd(const struct guest *guest)
{
	const struct element *source = element_find(guest->domain,
						    "memoryBacking/source");

	return text_equal(element_attribute(source, "type"), "memfd");
}

/* QEMU 7.2 rounds memory up to whole pages, but not a memfd, and not to the first page.
 */
static bool pages_misfit(const struct world *world, const struct guest *guest)
{
	uint64_t page = request_page_size(world->policy, guest);
	bool memfd = given(&world->policy->memoryBacking.source) || uses_memfd(guest);
	bool misfit = !guest->n_cells &&
		      (guest->memory < page || (memfd && guest->memory % page));

	for (size_t i = 0; i < guest->n_cells; i++)
		misfit |= guest->cells[i].memory < page ||
			  (memfd && guest->cells[i].memory % page);
	return misfit;
}

/* What the host has of memory as this guest wants it, on as many nodes as it may span. */
static uint64_t room(const struct world *world, const struct guest *guest, uint64_t nodes)
{
	uint64_t page = request_page_size(world->policy, guest), room = 0;

	for (size_t i = 0; i < world->host->n_nodes && i < nodes; i++) {
		const struct host_node *node = &world->host->nodes[i];

		room += page ? 0 : node->memory;
		for (size_t j = 0; j < node->n_pages; j++)
			if (node->pages[j].size == page)
				room += node->pages[j].total * page;
	}
	return room;
}

/* One of the guest's own page sizes has fewer pages on a node than the guest has memory.
 */
static bool mixed_pages_short(const struct world *world, const struct guest *guest)
{
	const struct element *pages = element_find(guest->domain,
						   "memoryBacking/hugepages");
	bool few = false;

	element_foreach (page, pages, "page") {
		const char *size = element_attribute(page, "size");
		const struct host_node *node = &world->host->nodes[0];

		for (size_t i = 0; size && i < node->n_pages; i++)
			few |= node->pages[i].size == strtoull(size, NULL, 10) * KIB &&
			       node->pages[i].total * node->pages[i].size < guest->memory;
	}
	return few;
}

/* Whether a refusal under RULE is the truth, judged anew. */
static bool is_true(const struct world *world, const char *rule,
		    const struct guest *guest)
{
	const struct policy *policy = world->policy;
	uint64_t nodes = span(world, guest);

	if (text_equal(rule, "require"))
		return !element_child(guest->domain, "devices") ||
		       guest->vcpus < policy->require.vcpus.min.number ||
		       guest->memory < policy->require.memory.min.number;
	if (text_equal(rule, "hugepages-multiple"))
		return pages_misfit(world, guest);
	if (text_equal(rule, "arch"))
		return text_equal(guest->type, "kvm") &&
		       !text_equal(guest->arch, "x86_64") &&
		       !text_equal(guest->arch, "i686");
	if (text_equal(rule, "hugepages-pool"))
		return mixed_pages_short(world, guest);
	if (text_equal(rule, "placement"))
		return guest->vcpus > pool(world, nodes) ||
		       guest->memory > room(world, guest, nodes);
	return false;
}

static void refused(struct world *world, const char *file, const struct guest *guest,
		    const struct diag *diag)
{
	world->refused++;
	for (size_t i = 0; i < diag->count; i++) {
		const struct finding *finding = &diag->findings[i];
		size_t slot = 0;

		if (finding->level != DIAG_ERROR)
			continue;
		while (world->reasons[slot].rule &&
		       !text_equal(world->reasons[slot].rule, finding->rule))
			slot++;
		world->reasons[slot].rule = finding->rule ? finding->rule : "-";
		world->reasons[slot].count++;
		if (!guest || !is_true(world, finding->rule, guest))
			fault(world, file, finding->text);
	}
}

static void grow_element(struct doc *doc, const char *name, const char *content,
			 struct change *ret_change)
{
	struct element *element = element_child(doc->root, name);

	*ret_change = (struct change){ .kind = CHANGE_CONTENT,
				       .value = xstrdup(content) };
	ret_change->element = element ? element : doc->root->first;
}

/* The domain with 16 vCPUs and 16 GiB (units of KiB), where it has no cells or topology
 * to contradict that: most of the corpus is too small for the larger policies. */
static char *grown(const char *text)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_doc struct doc *doc = doc_parse("grow.xml", text, strlen(text), &diag);
	const struct element *memory = doc ? element_child(doc->root, "memory") : NULL;
	struct change changes[2];
	const struct change *both[] = { &changes[0], &changes[1] };

	if (!memory || element_child(doc->root, "maxMemory") ||
	    !element_child(doc->root, "vcpu") || element_find(doc->root, "cpu/numa") ||
	    element_find(doc->root, "cpu/topology") ||
	    !text_equal(element_attribute(memory, "unit"), "KiB"))
		return NULL;
	grow_element(doc, "vcpu", "16", &changes[0]);
	grow_element(doc, "memory", "16777216", &changes[1]);
	char *result = splice(doc, both, ARRAY_SIZE(both));
	change_done(&changes[0]);
	change_done(&changes[1]);
	return result;
}

static void one_file(struct world *world, const char *file)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *path = xasprintf("%s/%s", corpus, file);
	size_t length;
	cleanup_free char *found = file_read(path, DOC_BYTES, &length, &diag);
	cleanup_free char *larger = world->grow ? grown(found) : NULL;
	const char *text = larger ? larger : found;
	cleanup_doc struct doc *doc = NULL;
	cleanup_guest struct guest *guest = NULL;
	cleanup_outcome struct outcome outcome = OUTCOME_INIT;

	if (!compile_text(world, file, text, &doc, &guest, &outcome, &diag)) {
		refused(world, file, guest, &diag);
		return;
	}
	world->applied++;
	world->edits += (unsigned)outcome.edits.count;
	if (!equals_dom(doc, &outcome))
		fault(world, file, "differs from the edits made on libxml2's tree");
	if (!keeps_bytes(doc, &outcome))
		fault(world, file, "bytes outside the edits are lost");
	if (!stays(world, outcome.xml))
		fault(world, file, "changes when it is rewritten again");
	if (!conforms(world, outcome.xml))
		fault(world, file, "does not conform");
	if (world->schema && valid(world->schema, text) &&
	    !valid(world->schema, outcome.xml))
		fault(world, file, "was valid and is not any more");
}

static int is_xml(const struct dirent *entry)
{
	return strstr(entry->d_name, ".xml") != NULL;
}

static void whole_corpus(struct world *world)
{
	struct dirent **entries = NULL;
	int count = scandir(corpus, &entries, is_xml, alphasort);

	for (int i = 0; i < count; i++) {
		one_file(world, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	note("%s: applied to %u files with %u edits, refused for %u",
	     world->policy->name.text, world->applied, world->edits, world->refused);
	for (size_t i = 0; i < ARRAY_SIZE(world->reasons) && world->reasons[i].rule; i++)
		note("    %s: %u", world->reasons[i].rule, world->reasons[i].count);
	ok(world->faults == 0 && world->applied + world->refused == (unsigned)count,
	   "%s on %d domains: %u applied, %u refused with reason, %u faults",
	   world->policy->name.text, count, world->applied, world->refused,
	   world->faults);
}

static void *load(const char *path,
		  void *(*parse)(const char *, const char *, size_t, struct diag *))
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length;
	cleanup_free char *text = file_read(path, YAML_BYTES, &length, &diag);
	void *object = text ? parse(path, text, length, &diag) : NULL;

	diag_print(&diag, stdout, false);
	return object;
}

static void *parse_policy(const char *file, const char *text, size_t length,
			  struct diag *diag)
{
	return policy_parse(file, text, length, diag);
}

static void *parse_host(const char *file, const char *text, size_t length,
			struct diag *diag)
{
	return host_from_text(file, text, length, diag);
}

static void *parse_host_policy(const char *file, const char *text, size_t length,
			       struct diag *diag)
{
	return host_policy_parse(file, text, length, diag);
}

#ifndef __SANITIZE_ADDRESS__
static xmlRelaxNGPtr load_schema(void)
{
	if (access(schema_path, R_OK) != 0) {
		tap_skip("libvirt's schema is not installed (package libvirt-daemon or "
			 "libvirt0): validity is not checked");
		return NULL;
	}
	xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewParserCtxt(schema_path);
	xmlRelaxNGPtr schema = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	ok(schema != NULL, "libvirt's schema loads");
	return schema;
}
#endif

int main(void)
{
	static const char *const policies[] = {
		"policies/storage-iops.yaml",	    "policies/network-latency.yaml",
		"policies/network-throughput.yaml", "policies/vhost-zerocopy.yaml",
		"policies/realtime.yaml",	    "policies/pinned.yaml",
		"tests/rewrite/broad.yaml",	    "tests/rewrite/switch.yaml",
	};

	if (access(corpus, R_OK) != 0) {
		tap_skip("no ../shared/corpus/domains here");
		return tap_done();
	}
#ifdef __SANITIZE_ADDRESS__
	xmlRelaxNGPtr schema =
		NULL; /* the plain build's to check: here it takes minutes */
#else
	xmlRelaxNGPtr schema = load_schema();
#endif
	for (size_t i = 0; i < 2 * ARRAY_SIZE(policies); i++) {
		const char *file = policies[i % ARRAY_SIZE(policies)];
		struct world world = {
			.grow = i >= ARRAY_SIZE(policies),
			.host = load("policies/hosts/two-socket-40.yaml", parse_host),
			.host_policy = load(
				"policies/hosts/two-socket-40.host-policy.yaml",
				parse_host_policy),
			.policy = load(file, parse_policy),
			.schema = schema,
		};

		if (!ok(world.host && world.host_policy && world.policy, "%s loads%s",
			file, world.grow ? ", for larger guests" : ""))
			continue;
		whole_corpus(&world);
		policy_free(world.policy);
		host_policy_free(world.host_policy);
		host_free(world.host);
	}
	xmlRelaxNGFree(schema);
	xmlCleanupParser();
	return tap_done();
}

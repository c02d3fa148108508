/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guest/splice: what changes ask for is done, where libvirt would put it, and nothing
 * else. */
#include <time.h>

#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "base/text.h"
#include "corpus.h"
#include "guest/order.h"
#include "guest/splice.h"
#include "tap.h"

#define MARK "vmgen-mark"

static const char space[] = " \t\r\n";

static struct doc *parsed(const char *name, const char *xml)
{
	struct diag diag = DIAG_INIT;
	struct doc *doc = doc_parse(name, xml, strlen(xml), &diag);

	diag_print(&diag, stdout, false);
	diag_done(&diag);
	return doc;
}

/* A change in words: at PATH, whose elements are made where they are missing. A child is
 * NAME with VALUE as "attribute=value". */
struct step {
	enum change_kind kind;
	const char *path, *name, *value;
};

static struct element *need(struct element *at, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");
		cleanup_free char *name = xstrndup(path, length);

		at = doc_need(at, name);
		path += length + (path[length] == '/');
	}
	return at;
}

static struct change change_from(const struct doc *doc, const struct step *step)
{
	struct change change = { step->kind, need(doc->root, step->path), NULL, NULL,
				 NULL };

	if (step->kind == CHANGE_CHILD) {
		change.child = element_new(step->name);
		if (step->value) {
			size_t length = strcspn(step->value, "=");
			cleanup_free char *name = xstrndup(step->value, length);

			element_set(change.child, name, step->value + length + 1);
		}
		return change;
	}
	change.name = step->name ? xstrdup(step->name) : NULL;
	change.value = step->value ? xstrdup(step->value) : NULL;
	return change;
}

enum { STEPS = 6 };

static void expect(const char *before, const struct step *steps, const char *after,
		   const char *what)
{
	struct doc *doc = parsed("before", before);
	struct change changes[STEPS];
	const struct change *list[STEPS];
	size_t count = 0;

	for (; count < STEPS && steps[count].path; count++) {
		changes[count] = change_from(doc, &steps[count]);
		list[count] = &changes[count];
	}
	cleanup_free char *got = splice(doc, list, count);
	if (!ok(strcmp(got, after) == 0, "%s", what)) {
		cleanup_free char *shown = text_escape_xml(got);

		for (char *c = shown; *c; c++)
			*c = *c == '\n' ? '$' : *c == '\r' ? '%' : *c == '\t' ? '~' : *c;
		note("got %s", shown);
	}
	for (size_t i = 0; i < count; i++)
		change_done(&changes[i]);
	doc_free(doc);
}

static const struct {
	const char *what, *before;
	struct step steps[STEPS];
	const char *after;
} cases[] = {
	{ "a replaced value keeps its quotes",
	  "<domain a=\"1\" b='2'/>",
	  { { CHANGE_ATTRIBUTE, "", "a", "it's \"<&>\"\n\t" },
	    { CHANGE_ATTRIBUTE, "", "b", "it's" } },
	  "<domain a=\"it's &quot;&lt;&amp;&gt;&quot;&#10;&#9;\" b='it&apos;s'/>" },
	{ "an attribute comes last, in the quotes of its neighbour",
	  "<domain a=\"1\"\n\tb='2' />",
	  { { CHANGE_ATTRIBUTE, "", "d", "4" }, { CHANGE_ATTRIBUTE, "", "c", "3" } },
	  "<domain a=\"1\"\n\tb='2' d='4' c='3' />" },
	{ "an attribute goes with the space before it",
	  "<domain a='1'\n\tb='2'\n\tc='3'><x y='z'/></domain>",
	  { { CHANGE_ATTRIBUTE, "", "b", NULL },
	    { CHANGE_ATTRIBUTE, "x", "y", NULL },
	    { CHANGE_ATTRIBUTE, "x", "w", NULL } },
	  "<domain a='1'\n\tc='3'><x/></domain>" },
	{ "the last attribute goes and another comes",
	  "<domain a='1'/>",
	  { { CHANGE_ATTRIBUTE, "", "a", NULL }, { CHANGE_ATTRIBUTE, "", "b", "2" } },
	  "<domain b='2'/>" },
	{ "content is replaced, all of it",
	  "<domain><vcpu a='1'> 4<!-- four --></vcpu><x></x><y /><z>1</z></domain>",
	  { { CHANGE_CONTENT, "vcpu", NULL, "8" },
	    { CHANGE_CONTENT, "x", NULL, "<&>\r\n" },
	    { CHANGE_CONTENT, "y", NULL, "1" },
	    { CHANGE_CONTENT, "z", NULL, "" } },
	  "<domain><vcpu "
	  "a='1'>8</vcpu><x>&lt;&amp;&gt;&#13;\n</x><y>1</y><z></z></domain>" },
	{ "containers stand where libvirt prints them, whatever came first",
	  "<domain>\n  <name>x</name>\n  <vcpu>1</vcpu>\n  <os/>\n</domain>\n",
	  { { CHANGE_ATTRIBUTE, "numatune/memory", "mode", "strict" },
	    { CHANGE_ATTRIBUTE, "cputune/emulatorpin", "cpuset", "4" },
	    { CHANGE_CONTENT, "iothreads", NULL, "2" },
	    { CHANGE_CHILD, "memoryBacking", "hugepages", NULL },
	    { CHANGE_CHILD, "metadata", "v:p", "xmlns:v=u" } },
	  "<domain>\n  <name>x</name>\n  <metadata>\n    <v:p xmlns:v='u'/>\n"
	  "  </metadata>\n  <memoryBacking>\n    <hugepages/>\n  </memoryBacking>\n"
	  "  <vcpu>1</vcpu>\n  <iothreads>2</iothreads>\n  <cputune>\n"
	  "    <emulatorpin cpuset='4'/>\n  </cputune>\n  <numatune>\n"
	  "    <memory mode='strict'/>\n  </numatune>\n  <os/>\n</domain>\n" },
	{ "fresh containers that hold nothing do not appear",
	  "<domain>\n</domain>",
	  { { CHANGE_ATTRIBUTE, "cputune/emulatorpin", "cpuset", NULL },
	    { CHANGE_ATTRIBUTE, "numatune/memory", "mode", "strict" },
	    { CHANGE_REMOVE, "numatune/memory", NULL, NULL } },
	  "<domain>\n</domain>" },
	{ "pins go by number",
	  "<domain>\n <cputune>\n  <vcpupin vcpu='1'/>\n  <vcpupin vcpu='10'/>\n"
	  "  <emulatorpin/>\n </cputune>\n</domain>",
	  { { CHANGE_CHILD, "cputune", "vcpupin", "vcpu=11" },
	    { CHANGE_CHILD, "cputune", "vcpupin", "vcpu=2" },
	    { CHANGE_CHILD, "cputune", "vcpupin", "vcpu=0" },
	    { CHANGE_CHILD, "cputune", "iothreadpin", "iothread=1" },
	    { CHANGE_CHILD, "cputune", "shares", NULL } },
	  "<domain>\n <cputune>\n  <shares/>\n  <vcpupin vcpu='0'/>\n"
	  "  <vcpupin vcpu='1'/>\n  <vcpupin vcpu='2'/>\n  <vcpupin vcpu='10'/>\n"
	  "  <vcpupin vcpu='11'/>\n  <emulatorpin/>\n  <iothreadpin iothread='1'/>\n"
	  " </cputune>\n</domain>" },
	{ "devices go behind their like, and below them address stays last",
	  "<domain>\n\t<devices>\n\t\t<disk/>\n\t\t<disk>\n\t\t\t<source/>\n"
	  "\t\t\t<address/>\n\t\t</disk>\n\t\t<controller/>\n\t</devices>\n</domain>",
	  { { CHANGE_CHILD, "devices", "disk", "n=1" },
	    { CHANGE_CHILD, "devices", "disk", "n=2" },
	    { CHANGE_CHILD, "devices", "interface", NULL },
	    { CHANGE_CHILD, "devices/disk", "driver", NULL },
	    { CHANGE_CHILD, "devices/controller", "alias", NULL } },
	  "<domain>\n\t<devices>\n\t\t<disk>\n\t\t\t<driver/>\n\t\t</disk>\n"
	  "\t\t<disk>\n\t\t\t<source/>\n\t\t\t<address/>\n\t\t</disk>\n"
	  "\t\t<disk n='1'/>\n\t\t<disk n='2'/>\n"
	  "\t\t<controller>\n\t\t\t<alias/>\n\t\t</controller>\n\t\t<interface/>\n"
	  "\t</devices>\n</domain>" },
	{ "line ends are kept: CRLF, four spaces",
	  "<domain a=\"\">\r\n    <os>\r\n    </os>\r\n</domain>\r\n",
	  { { CHANGE_CHILD, "os", "boot", "dev=hd" },
	    { CHANGE_CONTENT, "vcpu", NULL, "1" },
	    { CHANGE_ATTRIBUTE, "cpu/numa/cell", "id", "0" } },
	  "<domain a=\"\">\r\n    <vcpu>1</vcpu>\r\n    <os>\r\n        <boot "
	  "dev=\"hd\"/>\r\n"
	  "    </os>\r\n    <cpu>\r\n        <numa>\r\n            <cell id=\"0\"/>\r\n"
	  "        </numa>\r\n    </cpu>\r\n</domain>\r\n" },
	{ "without white space none is added",
	  "<domain><name>x</name><os/></domain>\n",
	  { { CHANGE_ATTRIBUTE, "cputune/emulatorpin", "cpuset", "4" },
	    { CHANGE_CHILD, "os", "boot", NULL } },
	  "<domain><name>x</name><cputune><emulatorpin cpuset='4'/></cputune>"
	  "<os><boot/></os></domain>\n" },
	{ "nor where the neighbours have none",
	  "<domain>\n  <os><boot/></os>\n</domain>",
	  { { CHANGE_CHILD, "os", "boot", "dev=hd" } },
	  "<domain>\n  <os><boot/><boot dev='hd'/></os>\n</domain>" },
	{ "a document without indentation is not one without white space",
	  "<domain>\n<os/>\n</domain>",
	  { { CHANGE_CHILD, "os", "boot", NULL } },
	  "<domain>\n<os>\n  <boot/>\n</os>\n</domain>" },
	{ "an empty root is filled",
	  "<domain/>",
	  { { CHANGE_CONTENT, "name", NULL, "x" } },
	  "<domain><name>x</name></domain>" },
	{ "what goes takes the white space before it",
	  "<domain>\n  <a/>\n\n  <b>\n  </b>\n  <c/>\n</domain>",
	  { { CHANGE_REMOVE, "b", NULL, NULL } },
	  "<domain>\n  <a/>\n  <c/>\n</domain>" },
	{ "who loses the last child is empty",
	  "<domain>\n  <a x='1' >\n    <b/>\n    <c/>\n  </a>\n  "
	  "<d><e/>text</d>\n</domain>",
	  { { CHANGE_REMOVE, "a/b", NULL, NULL },
	    { CHANGE_REMOVE, "a/c", NULL, NULL },
	    { CHANGE_REMOVE, "d/e", NULL, NULL } },
	  "<domain>\n  <a x='1'/>\n  <d>text</d>\n</domain>" },
	{ "who still holds a comment is not",
	  "<domain><a><!-- x --><b/></a><c><b/><!-- x --></c></domain>",
	  { { CHANGE_REMOVE, "a/b", NULL, NULL }, { CHANGE_REMOVE, "c/b", NULL, NULL } },
	  "<domain><a><!-- x --></a><c><!-- x --></c></domain>" },
	{ "one goes and one comes in its place",
	  "<domain>\n  <a>\n    <b/>\n  </a>\n</domain>",
	  { { CHANGE_REMOVE, "a/b", NULL, NULL }, { CHANGE_CHILD, "a", "b", "n=2" } },
	  "<domain>\n  <a>\n    <b n='2'/>\n  </a>\n</domain>" },
	{ "what is changed in an element that goes is lost",
	  "<domain><a><b/></a></domain>",
	  { { CHANGE_CHILD, "a/b", "c", NULL },
	    { CHANGE_ATTRIBUTE, "a", "n", "1" },
	    { CHANGE_REMOVE, "a", NULL, NULL } },
	  "<domain/>" },
	{ "a comment behind an element stays with it",
	  "<domain>\n  <vcpu/> <!-- four -->\n  <os/> <!-- old -->\n</domain>",
	  { { CHANGE_CHILD, "", "cputune", NULL }, { CHANGE_REMOVE, "os", NULL, NULL } },
	  "<domain>\n  <vcpu/> <!-- four -->\n  <cputune/>\n  <!-- old -->\n</domain>" },
	{ "a comment alone is not a reason to crowd",
	  "<domain>\n  <os>\n    <!-- nothing -->\n  </os>\n</domain>",
	  { { CHANGE_CHILD, "os", "boot", NULL } },
	  "<domain>\n  <os>\n    <!-- nothing -->\n    <boot/>\n  </os>\n</domain>" },
	{ "an element of namespaces keeps its prefix",
	  "<domain>\n  <q:x xmlns:q='u'/>\n</domain>",
	  { { CHANGE_CHILD, "", "seclabel", NULL } },
	  "<domain>\n  <seclabel/>\n  <q:x xmlns:q='u'/>\n</domain>" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(cases[i].before, cases[i].steps, cases[i].after, cases[i].what);
}

static void test_opened_prefix(void)
{
	struct doc *doc = parsed("q", "<domain><q:x xmlns:q='u' /></domain>");
	struct change change = { CHANGE_CONTENT, element_child_ns(doc->root, "u", "x"),
				 NULL, xstrdup("1"), NULL };
	const struct change *list = &change;
	cleanup_free char *got = splice(doc, &list, 1);

	is(got, "<domain><q:x xmlns:q='u'>1</q:x></domain>",
	   "an opened element is closed by its full name");
	change_done(&change);
	doc_free(doc);
}

/* ---- random changes against libxml2's tree ---- */

enum { CHANGES = 16, ROUNDS = 6 };

struct trial {
	struct doc *doc;
	struct element **elements; /* those in the text, in its order */
	size_t n_elements;
	xmlDoc *tree;
	xmlNode **nodes; /* the same in libxml2's tree */
	size_t n_nodes;
	struct change changes[CHANGES];
	size_t at[CHANGES]; /* index of the element; of a fresh one, its parent's */
	size_t count;
	xmlNode *cut[4 * CHANGES]; /* out of the tree, to be freed */
	size_t n_cut;
};

struct tally {
	size_t files, trials, changes, wrong;
	uint64_t seed;
};

static const char *text(const xmlChar *string)
{
	return (const char *)string;
}

static const xmlChar *chars(const char *string)
{
	return (const xmlChar *)string;
}

/* A multiplier of L'Ecuyer; the same numbers everywhere. */
static size_t random_below(uint64_t *seed, size_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	return (size_t)(*seed >> 33) % limit;
}

static void list_elements(struct trial *trial, struct element *element)
{
	*append(trial->elements, trial->n_elements) = element;
	element_foreach (child, element, NULL)
		list_elements(trial, child);
}

static void list_nodes(struct trial *trial, xmlNode *node)
{
	*append(trial->nodes, trial->n_nodes) = node;
	for (xmlNode *child = node->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			list_nodes(trial, child);
}

static bool has_change(const struct trial *trial, enum change_kind kind,
		       const struct element *element, const char *name)
{
	for (size_t i = 0; i < trial->count; i++)
		if (trial->changes[i].kind == kind &&
		    trial->changes[i].element == element &&
		    (kind != CHANGE_ATTRIBUTE ||
		     text_equal(trial->changes[i].name, name)))
			return true;
	return false;
}

static void add_change(struct trial *trial, size_t at, struct change change)
{
	if (trial->count == CHANGES ||
	    (change.kind != CHANGE_CHILD &&
	     has_change(trial, change.kind, change.element, change.name))) {
		change_done(&change);
		return;
	}
	trial->at[trial->count] = at;
	trial->changes[trial->count++] = change;
}

/* Of those without a namespace, or a new one. */
static const char *some_attribute(const struct element *element, uint64_t *seed)
{
	if (element->n_attributes && random_below(seed, 4)) {
		const char *name =
			element->attributes[random_below(seed, element->n_attributes)]
				.name;

		if (!strchr(name, ':') && strcmp(name, "xmlns") != 0)
			return name;
	}
	return "vmgen-new";
}

static void random_change(struct trial *trial, uint64_t *seed)
{
	static const char *const values[] = { "x",	     "",
					      "a<b>&'\"",    "two\nlines\tand\r",
					      "caf\xc3\xa9", " 1-3,7 " };
	size_t at = random_below(seed, trial->n_elements);
	struct element *element = trial->elements[at];
	char *value = xstrdup(values[random_below(seed, ARRAY_SIZE(values))]);
	char *name = xstrdup(some_attribute(element, seed));
	cleanup_free char *mark = xasprintf("%zu", trial->count);
	struct change change = { CHANGE_ATTRIBUTE, element, NULL, NULL, NULL };

	doc_need(element, "vmgen-never");
	switch (random_below(seed, 6)) {
	case 0:
		change.name = take(name);
		change.value = take(value);
		break;
	case 1:
		change.name = take(name);
		break;
	case 2:
		change.kind = CHANGE_CONTENT;
		change.value = take(value);
		break;
	case 3:
		change.kind = CHANGE_CHILD;
		change.child = element_new("vmgen-child");
		element_set(change.child, MARK, mark);
		element_set_text(element_add(change.child, element_new("inner")), value);
		break;
	case 4:
		change.kind = at ? CHANGE_REMOVE : CHANGE_CONTENT;
		change.value = at ? NULL : take(value);
		break;
	default:
		change.element = doc_need(element, "vmgen-fresh");
		change.name = xstrdup(MARK);
		change.value = xstrdup(mark);
	}
	add_change(trial, at, change);
	free(name);
	free(value);
}

static xmlNode *add_node(xmlNode *parent, const char *name)
{
	xmlNode *node = xmlNewDocNode(parent->doc, NULL, chars(name), NULL);

	xmlAddChild(parent, node);
	xmlSetNs(node, xmlSearchNs(parent->doc, parent, NULL));
	return node;
}

static void cut(struct trial *trial, xmlNode *node)
{
	xmlUnlinkNode(node);
	trial->cut[trial->n_cut++] = node;
}

static void cut_inside(struct trial *trial, xmlNode *node)
{
	xmlNode *bag = xmlNewDocNode(node->doc, NULL, chars("bag"), NULL);

	while (node->children) {
		xmlNode *child = node->children;

		xmlUnlinkNode(child);
		xmlAddChild(bag, child);
	}
	trial->cut[trial->n_cut++] = bag;
}

/* One change on the tree. Contents first, then what is added, at last what goes. */
static void change_tree(struct trial *trial, size_t i, unsigned pass)
{
	const struct change *change = &trial->changes[i];
	xmlNode *node = trial->nodes[trial->at[i]];
	const xmlChar *value = chars(change->value);

	if (pass == 0 && change->kind == CHANGE_CONTENT) {
		cut_inside(trial, node);
		xmlAddChild(node, xmlNewDocText(node->doc, value));
	} else if (pass == 1 && change->kind == CHANGE_CHILD) {
		xmlNode *child = add_node(node, "vmgen-child");
		const struct element *inner = change->child->first;

		xmlSetProp(child, chars(MARK),
			   chars(element_attribute(change->child, MARK)));
		xmlAddChild(add_node(child, "inner"),
			    xmlNewDocText(node->doc, chars(inner->text)));
	} else if (pass == 1 && change->element->fresh) {
		xmlSetProp(add_node(node, "vmgen-fresh"), chars(MARK), value);
	} else if (pass == 1 && change->kind == CHANGE_ATTRIBUTE) {
		if (value)
			xmlSetNsProp(node, NULL, chars(change->name), value);
		else
			xmlUnsetNsProp(node, NULL, chars(change->name));
	} else if (pass == 2 && change->kind == CHANGE_REMOVE) {
		cut(trial, node);
	}
}

static long mark_of(xmlNode *node)
{
	xmlChar *mark = node->type == XML_ELEMENT_NODE ? xmlGetNoNsProp(node, chars(MARK))
						       : NULL;
	long number = mark ? atol(text(mark)) : -1;

	xmlFree(mark);
	return number;
}

/* Without text that is only white space; new children last, in the order of their marks:
 * where they stand is for other tests. */
static void normalise(xmlNode *node)
{
	for (xmlNode *child = node->children, *next; child; child = next) {
		next = child->next;
		if (child->type == XML_TEXT_NODE &&
		    !child->content[strspn(text(child->content), space)]) {
			xmlUnlinkNode(child);
			xmlFreeNode(child);
		} else if (child->type == XML_ELEMENT_NODE) {
			normalise(child);
		}
	}
	for (long mark = 0; mark < CHANGES; mark++)
		for (xmlNode *child = node->children; child; child = child->next)
			if (mark_of(child) == mark) {
				xmlUnlinkNode(child);
				xmlAddChild(node, child);
				break;
			}
}

/* The caller frees it, with xmlFree(). */
static xmlChar *canonical(xmlDoc *tree)
{
	xmlChar *out = NULL;

	normalise(xmlDocGetRootElement(tree));
	xmlC14NDocDumpMemory(tree, NULL, XML_C14N_1_0, NULL, 1, &out);
	return out;
}

static xmlDoc *read_tree(const char *xml)
{
	return xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
			     XML_PARSE_NONET | XML_PARSE_NOENT);
}

static bool same_as_tree(struct trial *trial, const char *got)
{
	for (unsigned pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < trial->count; i++)
			change_tree(trial, i, pass);
	xmlDoc *tree = read_tree(got);
	xmlChar *want = canonical(trial->tree), *have = tree ? canonical(tree) : NULL;
	bool same = have && xmlStrEqual(want, have);

	xmlFree(want);
	xmlFree(have);
	xmlFreeDoc(tree);
	for (size_t i = 0; i < trial->n_cut; i++)
		xmlFreeNode(trial->cut[i]);
	return same;
}

/* ---- every other byte is what it was ---- */

/* A document without the bytes that changes speak of. */
struct rest {
	const struct trial *trial;
	const struct doc *doc;
	bool after;  /* doc is the one with the changes made */
	size_t next; /* index in trial->elements of the next element that is in both */
	size_t copied;
	struct text out;
};

static void keep_to(struct rest *rest, size_t end, size_t next)
{
	if (end > rest->copied)
		text_add_bytes(&rest->out, rest->doc->text + rest->copied,
			       end - rest->copied);
	rest->copied = next > rest->copied ? next : rest->copied;
}

static size_t size_of(const struct element *element)
{
	size_t size = !element->fresh;

	element_foreach (child, element, NULL)
		size += size_of(child);
	return size;
}

static bool goes(const struct rest *rest, const struct element *element)
{
	return rest->after ? element_attribute(element, MARK) != NULL
			   : element->fresh || has_change(rest->trial, CHANGE_REMOVE,
							  element, NULL);
}

/* Nothing stays inside. */
static bool hollow(const struct rest *rest, const struct element *element)
{
	const char *bytes = rest->doc->text;
	size_t at = element->open_end;

	element_foreach (child, element, NULL) {
		if (child->fresh)
			continue;
		if (!goes(rest, child) || strspn(bytes + at, space) < child->start - at)
			return false;
		at = child->end;
	}
	return at >= element->close_start ||
	       strspn(bytes + at, space) >= element->close_start - at;
}

/* Whether children come to or go from the element NEXT. */
static bool stirred(const struct trial *trial, const struct element *element)
{
	element_foreach (child, element, NULL)
		if (has_change(trial, child->fresh ? CHANGE_ATTRIBUTE : CHANGE_REMOVE,
			       child, MARK))
			return true;
	return has_change(trial, CHANGE_CHILD, element, NULL);
}

static void keep(struct rest *rest, const struct element *element)
{
	const struct trial *trial = rest->trial;
	const char *bytes = rest->doc->text;
	size_t before = element->start, tag = element->open_end - 1;

	if (goes(rest, element)) {
		while (before && strchr(space, bytes[before - 1]))
			before--;
		keep_to(rest, bytes[before - 1] == '>' ? before : element->start,
			element->end);
		rest->next += rest->after ? 0 : size_of(element);
		return;
	}
	const struct element *old = trial->elements[rest->next];
	while (bytes[tag - 1] == '/' || strchr(space, bytes[tag - 1]))
		tag--;
	for (size_t i = 0; i < element->n_attributes; i++)
		if (has_change(trial, CHANGE_ATTRIBUTE, old, element->attributes[i].name))
			keep_to(rest, element->attributes[i].start,
				element->attributes[i].end);
	if (has_change(trial, CHANGE_CONTENT, old, NULL) ||
	    (stirred(trial, old) && hollow(rest, element))) {
		keep_to(rest, tag, element->end);
		rest->next += size_of(old);
		return;
	}
	rest->next++;
	element_foreach (child, element, NULL) {
		while (rest->after && rest->next < trial->n_elements &&
		       has_change(trial, CHANGE_REMOVE, trial->elements[rest->next],
				  NULL))
			rest->next += size_of(trial->elements[rest->next]);
		if (rest->after || !child->fresh)
			keep(rest, child);
	}
	while (rest->after && rest->next < trial->n_elements &&
	       trial->elements[rest->next]->parent == old)
		rest->next += size_of(trial->elements[rest->next]);
}

static char *rest_of(const struct trial *trial, const struct doc *doc, bool after)
{
	struct rest rest = { .trial = trial, .doc = doc, .after = after };

	keep(&rest, doc->root);
	keep_to(&rest, doc->length, doc->length);
	return text_take(&rest.out);
}

static bool rest_is_same(const struct trial *trial, const char *got)
{
	struct doc *after = parsed("after", got);

	if (!after)
		return false;
	cleanup_free char *a = rest_of(trial, trial->doc, false);
	cleanup_free char *b = rest_of(trial, after, true);
	bool same = strcmp(a, b) == 0;
	size_t i = 0;
	while (!same && a[i] == b[i])
		i++;
	if (!same)
		note("was %.60s", a + (i > 20 ? i - 20 : 0)),
			note("is %.60s", b + (i > 20 ? i - 20 : 0));
	doc_free(after);
	return same;
}

static void run_trial(const struct corpus_file *file, struct tally *tally)
{
	struct trial trial = { .doc = parsed(file->name, file->text),
			       .tree = read_tree(file->text) };
	const struct change *list[CHANGES];

	list_elements(&trial, trial.doc->root);
	list_nodes(&trial, xmlDocGetRootElement(trial.tree));
	for (size_t i = random_below(&tally->seed, CHANGES); i < CHANGES; i++)
		random_change(&trial, &tally->seed);
	for (size_t i = 0; i < trial.count; i++)
		list[i] = &trial.changes[i];
	cleanup_free char *got = splice(trial.doc, list, trial.count);
	cleanup_free char *again = splice(trial.doc, list, trial.count);
	bool tree = same_as_tree(&trial, got), rest = rest_is_same(&trial, got);
	if (!tree || !rest || strcmp(got, again) != 0) {
		note("%s:%s%s", file->name, tree ? "" : " not as on the tree",
		     rest ? "" : " other bytes differ");
		tally->wrong++;
	}
	tally->trials++;
	tally->changes += trial.count;
	for (size_t i = 0; i < trial.count; i++)
		change_done(&trial.changes[i]);
	free(trial.elements);
	free(trial.nodes);
	xmlFreeDoc(trial.tree);
	doc_free(trial.doc);
}

static void random_corpus(const struct corpus_file *file, void *data)
{
	struct tally *tally = data;
	struct doc *doc = parsed(file->name, file->text);
	cleanup_free char *same = splice(doc, NULL, 0);

	tally->wrong += strcmp(same, file->text) != 0;
	for (unsigned round = 0; round < ROUNDS; round++)
		run_trial(file, tally);
	tally->files++;
	doc_free(doc);
}

/* What the corpus has little of. */
static void test_random_rich(void)
{
	static char xml[] =
		"<?xml version='1.0' encoding='utf-8'?>\r\n<!-- <domain> -->\r\n"
		"<domain type=\"kvm\"\r\n\txmlns:q = 'urn:q' title='a>b'>\r\n"
		"\t<name>caf\xc3\xa9 &amp; <![CDATA[<b>]]></name>\r\n"
		"\t<vcpu   placement = 'static'\t>4</vcpu  ><empty/><empty  /><e></e>\r\n"
		"\t<metadata><v:policy xmlns:v='urn:v' v:name='x' name=' a\tb\r\nc '/>"
		"<app xmlns='urn:app'><in xmlns=''><x/></in><at/></app></metadata>\r\n"
		"\t<os>\r\n\t\t<!-- one -->\r\n\t\t<boot/><?pi <x/>?>\r\n\t</os>\r\n"
		"\t<q:commandline>\r\n\t  <q:arg value='-x'/>\r\n\t</q:commandline>\r\n"
		"</domain>\r\n<!-- after -->\r\n";
	struct corpus_file file = { "rich", xml, sizeof(xml) - 1 };
	struct tally tally = { .seed = 3 };

	for (unsigned round = 0; round < 1000; round++)
		run_trial(&file, &tally);
	ok(tally.wrong == 0, "so are those of a rich document");
	note("%zu changes, %zu wrong", tally.changes, tally.wrong);
}

static void test_random(void)
{
	struct tally tally = { .seed = 2 };

	if (!corpus_each(random_corpus, &tally)) {
		tap_skip("no corpus");
		return;
	}
	ok(tally.wrong == 0,
	   "random changes are as on libxml2's tree, other bytes as before");
	note("%zu files, %zu documents spliced with %zu changes, %zu wrong", tally.files,
	     tally.trials, tally.changes, tally.wrong);
}

/* ---- where new elements go ---- */

struct order_tally {
	size_t right, wrong;
};

/* Whether libvirt's order matters to a reader there. */
static bool is_ordered(const char *parent)
{
	static const char *const parents[] = { "domain",   "cputune",  "memoryBacking",
					       "numatune", "cpu",      "devices",
					       "disk",	   "interface" };

	for (size_t i = 0; i < ARRAY_SIZE(parents); i++)
		if (strcmp(parents[i], parent) == 0)
			return true;
	return false;
}

/* Taken out and put in again, the last of its name comes where it was. */
static void order_below(struct element *parent, struct order_tally *tally)
{
	struct element **rest = NULL;
	size_t n_rest = 0, at = 0;

	element_foreach (child, parent, NULL) {
		bool last = true;

		n_rest = 0;
		for (struct element *other = parent->first; other; other = other->next) {
			if (other == child)
				at = n_rest;
			else
				*append(rest, n_rest) = other;
		}
		for (struct element *other = child->next; other; other = other->next)
			last &= strcmp(other->name, child->name) != 0;
		last &= is_ordered(parent->name);
		if (last && order_index(parent->name, rest, n_rest, child) == at)
			tally->right++;
		else
			tally->wrong += last;
		order_below(child, tally);
		free(rest);
		rest = NULL;
	}
}

static void order_corpus(const struct corpus_file *file, void *data)
{
	struct order_tally *tally = data;
	struct doc *doc = parsed(file->name, file->text);

	order_below(doc->root, tally);
	doc_free(doc);
}

/* Some recorded files are not in libvirt's own order; nearly all are. */
static void test_order(void)
{
	struct order_tally tally = { 0, 0 };

	if (!corpus_each(order_corpus, &tally)) {
		tap_skip("no corpus");
		return;
	}
	ok(tally.right > 49 * tally.wrong, "elements come where libvirt prints them");
	note("%zu where they were, %zu elsewhere", tally.right, tally.wrong);
}

/* A pin for each of the most vCPUs that may be. */
static void test_many(void)
{
	enum { COUNT = 8192 };
	struct doc *doc = parsed("many", "<domain>\n  <vcpu>8192</vcpu>\n</domain>");
	struct change *changes = xcalloc(COUNT, sizeof(*changes));
	cleanup_free const struct change **list = xcalloc(COUNT, sizeof(*list));
	clock_t start = clock();

	for (unsigned i = 0; i < COUNT; i++) {
		cleanup_free char *vcpu = xasprintf("vcpu=%u", i);
		struct step step = { CHANGE_CHILD, "cputune", "vcpupin", vcpu };

		changes[i] = change_from(doc, &step);
		list[i] = &changes[i];
	}
	cleanup_free char *got = splice(doc, list, COUNT);
	clock_t end = clock();
	struct doc *after = parsed("after", got);
	size_t pins = 0;
	element_foreach (pin, element_find(after->root, "cputune"), "vcpupin")
		pins += atol(element_attribute(pin, "vcpu")) == (long)pins;
	ok(pins == COUNT, "8192 pins at once, in order");
	note("%.1f ms", (double)(end - start) * 1e3 / CLOCKS_PER_SEC);
	for (unsigned i = 0; i < COUNT; i++)
		change_done(&changes[i]);
	free(changes);
	doc_free(doc);
	doc_free(after);
}

int main(void)
{
	test_cases();
	test_opened_prefix();
	test_random();
	test_random_rich();
	test_order();
	test_many();
	xmlCleanupParser();
	return tap_done();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guest/doc: every span is what it says it is, and whatever else comes is refused. */
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "base/text.h"
#include "corpus.h"
#include "guest/doc.h"
#include "tap.h"

struct tally {
	size_t files, elements, attributes, wrong;
};

static const char *text(const xmlChar *string)
{
	return (const char *)string;
}

static xmlDoc *read_xml(const char *xml, size_t length)
{
	return xmlReadMemory(xml, (int)length, NULL, NULL,
			     XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR |
				     XML_PARSE_NOWARNING);
}

static xmlNode *next_element(xmlNode *node)
{
	while (node && node->type != XML_ELEMENT_NODE)
		node = node->next;
	return node;
}

/* The element's own text and CDATA. */
static char *own_text(const xmlNode *node)
{
	struct text out = TEXT_INIT;

	for (const xmlNode *child = node->children; child; child = child->next)
		if (child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE)
			text_add(&out, text(child->content));
	return text_take(&out);
}

static char *name_of(const xmlNs *ns, const xmlChar *name)
{
	return ns && ns->prefix ? xasprintf("%s:%s", text(ns->prefix), text(name))
				: xstrdup(text(name));
}

/* BYTES as the only thing inside an element that declares all namespaces in scope of
 * NODE. */
static xmlDoc *in_scope(const xmlNode *node, const char *before, const char *bytes,
			size_t length, const char *after)
{
	struct text xml = TEXT_INIT;
	xmlNs **list = xmlGetNsList(node->doc, node);

	text_add(&xml, "<scope");
	for (size_t i = 0; list && list[i]; i++)
		text_printf(&xml, " xmlns%s%s=\"%s\"", list[i]->prefix ? ":" : "",
			    list[i]->prefix ? text(list[i]->prefix) : "",
			    text(list[i]->href));
	xmlFree(list);
	text_printf(&xml, ">%s", before);
	text_add_bytes(&xml, bytes, length);
	text_printf(&xml, "%s</scope>", after);
	xmlDoc *doc = read_xml(xml.data, xml.length);
	text_done(&xml);
	return doc;
}

static bool same_attributes(const xmlNode *a, const xmlNode *b)
{
	const xmlAttr *x = a->properties, *y = b->properties;

	for (; x && y; x = x->next, y = y->next)
		if (strcmp(text(x->name), text(y->name)) != 0 ||
		    !text_equal(text(x->children ? x->children->content : NULL),
				text(y->children ? y->children->content : NULL)))
			return false;
	return !x && !y;
}

static bool same_tree(const xmlNode *a, const xmlNode *b)
{
	cleanup_free char *x = own_text(a), *y = own_text(b);
	xmlNode *m = next_element(a->children), *n = next_element(b->children);

	if (strcmp(text(a->name), text(b->name)) != 0 || strcmp(x, y) != 0 ||
	    !text_equal(a->ns ? text(a->ns->href) : NULL,
			b->ns ? text(b->ns->href) : NULL) ||
	    !same_attributes(a, b))
		return false;
	for (; m && n; m = next_element(m->next), n = next_element(n->next))
		if (!same_tree(m, n))
			return false;
	return !m && !n;
}

/* The span is the element, and what is left without its inside is the element, empty. */
static bool span_good(const struct doc *doc, const struct element *element, xmlNode *node)
{
	const char *bytes = doc->text + element->start;
	xmlDoc *whole = in_scope(node, "", bytes, element->end - element->start, "");
	cleanup_free char *close = xstrndup(doc->text + element->close_start,
					    element->end - element->close_start);
	xmlDoc *tags = in_scope(node, "", bytes, element->open_end - element->start,
				close);
	bool good = false;

	if (whole && tags) {
		xmlNode *found = xmlDocGetRootElement(whole)->children;
		xmlNode *empty = xmlDocGetRootElement(tags)->children;

		good = found && !found->next && same_tree(found, node) && empty &&
		       !empty->next && !empty->children && same_attributes(empty, node);
	}
	xmlFreeDoc(whole);
	xmlFreeDoc(tags);
	return good;
}

/* The attribute's bytes in a tag of their own, and its value's between quotes, say the
 * same. */
static bool attribute_good(const struct doc *doc, const struct attribute *attribute,
			   xmlNode *node)
{
	const char *bytes = doc->text + attribute->start;
	cleanup_free char *quoted = xstrndup(doc->text + attribute->value_start - 1,
					     attribute->value_end -
						     attribute->value_start + 2);
	cleanup_free char *before = xasprintf("<x vmgen-test=%s", quoted);
	xmlDoc *parsed = in_scope(node, before, bytes, attribute->end - attribute->start,
				  "/>");
	bool good = false;

	if (parsed) {
		xmlNode *x = xmlDocGetRootElement(parsed)->children;
		xmlAttr *a = x->properties, *b = a->next;
		bool declares = text_starts(attribute->name, "xmlns");
		cleanup_free char *name = declares ? xstrdup(attribute->name)
						   : name_of(b->ns, b->name);
		const char *value = declares ? attribute->value
					     : text(b->children ? b->children->content
								: (const xmlChar *)"");

		good = text_equal(name, attribute->name) &&
		       text_equal(value, attribute->value) &&
		       text_equal(text(a->children ? a->children->content
						   : (const xmlChar *)""),
				  attribute->value) &&
		       (declares ? x->nsDef && !x->nsDef->next && !b : !b->next);
	}
	xmlFreeDoc(parsed);
	return good;
}

static bool attributes_good(const struct doc *doc, const struct element *element,
			    xmlNode *node, struct tally *tally)
{
	size_t given = 0, declared = 0;

	for (const xmlAttr *a = node->properties; a; a = a->next)
		given++;
	for (const xmlNs *ns = node->nsDef; ns; ns = ns->next)
		declared++;
	if (element->n_attributes != given + declared)
		return false;
	tally->attributes += element->n_attributes;
	for (size_t i = 0; i < element->n_attributes; i++)
		if (!attribute_good(doc, &element->attributes[i], node))
			return false;
	return true;
}

static bool place_good(const struct doc *doc, const struct element *element)
{
	unsigned line = 1, column = 1;

	for (size_t i = 0; i < element->start; i++) {
		column = doc->text[i] == '\n' ? 1 : column + 1;
		line += doc->text[i] == '\n';
	}
	return element->place.line == line && element->place.column == column;
}

static bool compare(const struct doc *doc, const struct element *element, xmlNode *node,
		    struct tally *tally)
{
	cleanup_free char *own = own_text(node);
	bool good = text_equal(element->name, text(node->name)) &&
		    text_equal(element->ns, node->ns ? text(node->ns->href) : NULL) &&
		    text_equal(element->text, own) && place_good(doc, element) &&
		    span_good(doc, element, node) &&
		    attributes_good(doc, element, node, tally);

	tally->elements++;
	if (!good) {
		tally->wrong++;
		note("%s:%u: <%s>", doc->file, element->place.line, element->name);
	}
	xmlNode *child = next_element(node->children);
	element_foreach (each, element, NULL) {
		if (!child)
			return false;
		good &= compare(doc, each, child, tally);
		child = next_element(child->next);
	}
	return good && !child;
}

/* Against libxml2's tree of the same text. */
static bool spans_good(const char *name, const char *xml, size_t length,
		       struct tally *tally)
{
	struct diag diag = DIAG_INIT;
	struct doc *doc = doc_parse(name, xml, length, &diag);
	xmlDoc *tree = read_xml(xml, length);
	bool good = doc && tree && !diag.count &&
		    compare(doc, doc->root, xmlDocGetRootElement(tree), tally);

	diag_print(&diag, stdout, false);
	diag_done(&diag);
	doc_free(doc);
	xmlFreeDoc(tree);
	tally->files++;
	return good;
}

static void corpus_spans(const struct corpus_file *file, void *data)
{
	struct tally *tally = data;

	if (!spans_good(file->name, file->text, file->length, tally))
		note("%s: not as libxml2 reads it", file->name);
}

static void test_corpus(void)
{
	struct tally tally = { 0 };

	if (!corpus_each(corpus_spans, &tally)) {
		tap_skip("no corpus");
		return;
	}
	ok(tally.wrong == 0 && tally.elements > 10000, "spans of the corpus");
	note("%zu files, %zu elements, %zu attributes checked, %zu wrong", tally.files,
	     tally.elements, tally.attributes, tally.wrong);
}

/* All that the corpus has little of. */
static const char rich[] =
	"<?xml version='1.0' encoding='utf-8'?>\r\n"
	"<!-- <domain> of \"x\" -->\r\n"
	"<?target <domain a='1'> ?>\r\n"
	"<domain type='kvm'\r\n\txmlns:qemu = "
	"\"http://libvirt.org/schemas/domain/qemu/1.0\"\r\n"
	"\tid='a>b' title=\"it's\" description='say \"hi\" &amp; &lt;go&gt;&#10;on'>\r\n"
	"\t<name>caf\xc3\xa9 &amp; <!-- no --> &#x41;<![CDATA[<b>&amp;</b>]]> "
	"bar</name>\r\n"
	"\t<vcpu   placement = 'static'\t>4</vcpu  ><empty/><empty  /><empty a=''/>\r\n"
	"\t<mixed>a<b/>c<b>d</b\r\n>e</mixed>\r\n"
	"\t<metadata><v:policy xmlns:v='urn:vmgen:domain:1' v:name='x' name=' a\tb\r\nc "
	"'/>"
	"<app xmlns='urn:app'><in xmlns=''>x</in><at/></app></metadata>\r\n"
	"\t<qemu:commandline><qemu:arg value='-x'/></qemu:commandline>\r\n"
	"\t<![CDATA[<not/>]]><?pi <x/>?><!-- </domain> -->\r\n"
	"</domain>\r\n<!-- after <x> -->\r\n";

static void test_rich(void)
{
	struct tally tally = { 0 };
	cleanup_free char *marked = xasprintf("\xef\xbb\xbf%s", rich);

	ok(spans_good("rich", rich, strlen(rich), &tally), "spans of a rich document");
	ok(spans_good("marked", marked, strlen(marked), &tally),
	   "spans behind a byte order mark");
	ok(spans_good("bare", "<domain/>", 9, &tally), "spans of the least document");
}

static void test_lines(void)
{
	struct text xml = TEXT_INIT;
	struct diag diag = DIAG_INIT;

	text_add(&xml, "<domain>");
	for (unsigned i = 0; i < 70000; i++)
		text_add(&xml, "<a>\n</a>");
	text_add(&xml, "\n  <late");
	struct doc *doc = doc_parse("long.xml", xml.data, xml.length, &diag);
	ok(!doc && diag.count == 1 && diag.findings[0].line == 70002,
	   "an error beyond line 65535 has its line");
	diag_done(&diag);
	text_add(&xml, "/></domain>");
	doc = doc_parse("long.xml", xml.data, xml.length, &diag);
	struct element *late = doc ? element_child(doc->root, "late") : NULL;
	ok(late && late->place.line == 70002 && late->place.column == 3,
	   "so has an element");
	doc_free(doc);
	text_done(&xml);
	diag_done(&diag);
}

/* Refused, with one error that holds WANT. */
static bool refused(const char *xml, size_t length, const char *want)
{
	struct diag diag = DIAG_INIT;
	struct doc *doc = doc_parse("bad.xml", xml, length, &diag);
	bool good = !doc && diag.count == 1 && diag.findings[0].line > 0 &&
		    strstr(diag.findings[0].text, want) &&
		    !strchr(diag.findings[0].text, '\n');

	if (!good)
		diag_print(&diag, stdout, false);
	doc_free(doc);
	diag_done(&diag);
	return good;
}

static void test_refused(void)
{
	static const struct {
		const char *xml;
		size_t length;
		const char *want;
	} cases[] = {
#define CASE(xml, want) { xml, sizeof(xml) - 1, want }
		CASE("", "is empty"),
		CASE(" \n\t ", "is empty"),
		CASE("garbage", "cannot read the XML"),
		CASE("<network/>", "<network>"),
		CASE("<domstatus><domain/></domstatus>", "<domstatus>"),
		CASE("<domain xmlns='urn:x'/>", "namespace urn:x"),
		CASE("<domain>", "cannot read the XML"),
		CASE("<domain/><domain/>", "cannot read the XML"),
		CASE("<domain></Domain>", "mismatch"),
		CASE("<domain a='1' a='2'/>", "cannot read the XML"),
		CASE("<domain a='<'/>", "cannot read the XML"),
		CASE("<domain>&nbsp;</domain>", "nbsp"),
		CASE("<domain>&#0;</domain>", "cannot read the XML"),
		CASE("<domain>\x01</domain>", "cannot read the XML"),
		CASE("<domain>\xe9</domain>", "UTF-8"),
		CASE("<domain>\xc0\x80</domain>", "UTF-8"),
		CASE("<domain>\xed\xa0\x80</domain>", "cannot read the XML"),
		CASE("<domain>\0</domain>", "NUL"),
		CASE("<\0d\0", "UTF-16"),
		CASE("\0<\0d", "UTF-16"),
		CASE("\xff\xfe<\0d\0", "UTF-16"),
		CASE("\xfe\xff\0<\0d", "UTF-16"),
		CASE("\xff\xfe\0\0<\0\0\0", "UTF-16"),
		CASE("<?xml version='1.0' encoding='ISO-8859-1'?><domain/>",
		     "ISO-8859-1"),
		CASE("<?xml version='1.0' encoding = \"utf-16\" ?><domain/>", "utf-16"),
		CASE("\xef\xbb\xbf<?xml version='1.0' encoding='latin1'?><domain/>",
		     "latin1"),
		CASE("<!DOCTYPE domain><domain/>", "DOCTYPE"),
		CASE("<!DOCTYPE domain SYSTEM 'file:///etc/passwd'><domain/>", "DOCTYPE"),
		CASE("<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
		     "<domain>&x;</domain>",
		     "DOCTYPE"),
		CASE("<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;'>"
		     "<!ENTITY c '&b;&b;&b;&b;&b;'>]><domain>&c;</domain>",
		     "DOCTYPE"),
		CASE("<!DOCTYPE d [<!ATTLIST domain type CDATA 'kvm'>]><domain/>",
		     "DOCTYPE"),
#undef CASE
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ok(refused(cases[i].xml, cases[i].length, cases[i].want),
		   "refused: case %zu, %s", i, cases[i].want);
}

static char *repeated(const char *before, const char *piece, size_t count,
		      const char *after)
{
	struct text out = TEXT_INIT;

	text_add(&out, before);
	for (size_t i = 0; i < count; i++)
		text_add(&out, piece);
	text_add(&out, after);
	return text_take(&out);
}

static char *numbered(const char *before, const char *format, unsigned count)
{
	struct text out = TEXT_INIT;

	text_add(&out, before);
	for (unsigned i = 0; i < count; i++)
		text_printf(&out, "%s%u='x'", format, i);
	text_add(&out, "/>");
	return text_take(&out);
}

static void test_sizes(void)
{
	struct {
		char *xml;
		const char *want, *name;
	} cases[] = {
		{ repeated("<domain>", "<a>", 100000, ""), "deeper than 256",
		  "100000 levels" },
		{ repeated("<domain>", "<a b='1'/>", DOC_BYTES / 10, "</domain>"),
		  "longer than 10 MiB", "a long document" },
		{ repeated("<domain a='", "aaaaaaaaaa", DOC_BYTES / 10 - 10, "'>"),
		  "cannot read the XML", "a huge attribute, and no end" },
		{ numbered("<domain", " a", 500000), "256 attributes",
		  "half a million attributes" },
		{ numbered("<domain", " xmlns:a", 500000), "256 attributes",
		  "half a million namespaces" },
		{ repeated("<domain>", "<a xmlns:a='a' xmlns:b='b'>", 129, ""),
		  "256 namespaces", "more namespaces in scope than 256" },
		{ repeated("", "<", DOC_BYTES / 8, ""), "cannot read the XML",
		  "nothing but <" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ok(refused(cases[i].xml, strlen(cases[i].xml), cases[i].want),
		   "refused: %s", cases[i].name);
		free(cases[i].xml);
	}
}

static bool accepted(const char *xml)
{
	struct diag diag = DIAG_INIT;
	struct doc *doc = doc_parse("good.xml", xml, strlen(xml), &diag);
	bool good = doc && !diag.count;

	diag_print(&diag, stdout, false);
	doc_free(doc);
	diag_done(&diag);
	return good;
}

static void test_accepted(void)
{
	static const char *const cases[] = {
		"<?xml version='1.0' encoding='US-ASCII'?><domain/>",
		"<?xml version='1.0' encoding='Utf-8' standalone='yes'?> <domain/> ",
		"<domain><not:declared a:b='1'/></domain>",
		"<domain xmlns:p=''/>",
		"<domain xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
		"<domain><!-- <!DOCTYPE x> --></domain>",
		"<domain>]]&gt; &quot;&apos;</domain>",
		"<domain a='0' b='1' c='2' d='3' e='4' f='5' g='6' h='7' i='8' j='9'/>",
	};
	cleanup_free char *deep = repeated("<domain>", "<a>", DOC_DEPTH - 1, "");
	struct text nested = TEXT_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ok(accepted(cases[i]), "accepted: %s", cases[i]);
	text_add(&nested, deep);
	for (unsigned i = 1; i < DOC_DEPTH; i++)
		text_add(&nested, "</a>");
	text_add(&nested, "</domain>");
	ok(accepted(nested.data), "accepted: as deep as may be");
	cleanup_free char *many = repeated("<domain>", "<a xmlns:a='a' xmlns:b='b'/>",
					   1000, "</domain>");
	ok(accepted(many), "accepted: many namespaces, one after the other");
	text_done(&nested);
}

/* No beginning of a document is one, unless only what follows it is missing. */
static void test_truncated(void)
{
	size_t end = (size_t)(strstr(rich, "</domain>\r") - rich) + strlen("</domain>");
	size_t wrong = 0;

	for (size_t length = 0; length < end; length++)
		wrong += !refused(rich, length, "");
	ok(wrong == 0, "refused: the first 0 to %zu bytes of a document", end - 1);
}

/* Whether libxml2 alone takes it, and it is not for a reason of our own. */
static bool well_formed(const char *xml, size_t length)
{
	xmlDoc *tree = read_xml(xml, length);
	xmlNode *root = tree ? xmlDocGetRootElement(tree) : NULL;
	bool good = root && !tree->intSubset && !root->ns &&
		    strcmp(text(root->name), "domain") == 0 &&
		    !memchr(xml, '\0', length) &&
		    (!tree->encoding || !strcasecmp(text(tree->encoding), "utf-8"));

	xmlFreeDoc(tree);
	return good;
}

/* A multiplier of L'Ecuyer; the same numbers everywhere. */
static unsigned random_below(uint64_t *seed, size_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	return (unsigned)((*seed >> 33) % limit);
}

static void test_flips(void)
{
	uint64_t seed = 1;
	size_t length = strlen(rich), taken = 0, wrong = 0;
	enum { RUNS = 20000 };

	for (unsigned run = 0; run < RUNS; run++) {
		cleanup_free char *xml = xstrdup(rich);
		struct diag diag = DIAG_INIT;

		for (unsigned i = run % 3; i < 3; i++)
			xml[random_below(&seed, length)] ^= (char)(1 << random_below(
									   &seed, 8));
		struct doc *doc = doc_parse("flipped.xml", xml, length, &diag);
		taken += doc != NULL;
		if ((doc != NULL) != well_formed(xml, length) ||
		    (!doc && diag.count != 1)) {
			wrong++;
			diag_print(&diag, stdout, false);
		}
		doc_free(doc);
		diag_done(&diag);
	}
	ok(wrong == 0, "flipped bits: taken where libxml2 takes it, else refused");
	note("%d documents, %zu taken", RUNS, taken);
}

static void test_elements(void)
{
	static const char xml[] =
		"<domain><devices><disk n='1'/><x:disk xmlns:x='u'/><disk n='2'/>"
		"</devices><name> a\n</name></domain>";
	struct diag diag = DIAG_INIT;
	struct doc *doc = doc_parse("x", xml, strlen(xml), &diag);
	struct element *devices = element_child(doc->root, "devices");
	struct element *second = element_next(element_child(devices, "disk"), "disk");
	cleanup_free char *path = element_path(second);
	cleanup_free char *trimmed = element_text(element_child(doc->root, "name"));
	struct element *fresh = element_new("disk");

	is(element_attribute(second, "n"), "2", "a namespace hides a name");
	ok(!element_next(second, "disk") && element_child_ns(devices, "u", "disk"),
	   "it is found by its namespace");
	is(path, "domain/devices/disk", "element_path");
	is(trimmed, "a", "element_text");
	ok(element_find(doc->root, "devices/disk") == element_child(devices, "disk") &&
		   !element_find(doc->root, "devices/hub/x") && !element_find(NULL, "x"),
	   "element_find");
	struct element *need = doc_need(doc_need(doc->root, "cputune"), "emulatorpin");
	ok(need->fresh && doc_need(need->parent, "emulatorpin") == need &&
		   doc_need(doc->root, "devices") == devices,
	   "doc_need makes what is missing, once");
	element_set(fresh, "a", "<'\"\n\t>");
	element_set(fresh, "b", "old");
	element_set(fresh, "b", "new");
	element_set_text(element_add(fresh, element_new("serial")), "1 & 2");
	cleanup_free char *line = element_format(fresh);
	is(line,
	   "<disk a='&lt;&apos;\"&#10;&#9;&gt;' b='new'><serial>1 &amp; "
	   "2</serial></disk>",
	   "element_format");
	element_free(fresh);
	doc_free(doc);
	diag_done(&diag);
}

int main(void)
{
	test_corpus();
	test_rich();
	test_lines();
	test_refused();
	test_accepted();
	test_sizes();
	test_truncated();
	test_flips();
	test_elements();
	xmlCleanupParser();
	return tap_done();
}

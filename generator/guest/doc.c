/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing a domain XML into elements that know their bytes. */
#include <string.h>

#include <libxml/parser.h>

#include "base/text.h"
#include "guest/accept.h"
#include "guest/doc.h"
#include "guest/tag.h"

#if LIBXML_VERSION >= 21200
typedef const xmlError parse_error;
#else
typedef xmlError parse_error;
#endif

/* Lines are counted as the parse goes on, each byte once. */
struct counter {
	size_t at, line_start;
	unsigned line;
};

struct open {
	struct text text; /* kept from one element to the next at this depth */
	int namespaces;	  /* that it declares */
};

struct parser {
	xmlParserCtxt *ctxt;
	struct doc *doc;
	struct diag *diag;
	struct counter counter;
	struct element *here; /* innermost open element */
	struct open open[DOC_DEPTH];
	size_t depth;	/* how many are open */
	int namespaces; /* in scope */
	size_t reached; /* tags before this byte are done with */
	bool failed;
};

/* What libxml2 tells of a start tag. */
struct start {
	const xmlChar *local, *prefix, *uri;
	size_t n_namespaces;
	const xmlChar **namespaces; /* prefix, URI */
	size_t n_attributes;
	const xmlChar **attributes; /* local name, prefix, URI, value, its end */
};

static struct place count(struct counter *counter, const struct doc *doc, size_t offset)
{
	const char *text = doc->text, *newline;

	while ((newline = memchr(text + counter->at, '\n', offset - counter->at))) {
		counter->line++;
		counter->at = counter->line_start = (size_t)(newline - text) + 1;
	}
	counter->at = offset;
	if (offset < counter->line_start) /* in the mark */
		offset = counter->line_start;
	return (struct place){ doc->file, counter->line,
			       (unsigned)(offset - counter->line_start) + 1 };
}

struct place doc_place(const struct doc *doc, size_t offset)
{
	struct counter counter = { 0, text_mark(doc->text), 1 };

	return count(&counter, doc, offset < doc->length ? offset : doc->length);
}

/* Where the parse stands. */
static size_t position(const struct parser *parser)
{
	size_t length = parser->doc->length;
#if LIBXML_VERSION >= 21500
	unsigned long at;
	bool known = xmlCtxtGetInputPosition(parser->ctxt, 0, NULL, NULL, NULL, &at) == 0;
#else
	long at = xmlByteConsumed(parser->ctxt);
	bool known = at >= 0;
#endif

	return known && (size_t)at < length ? (size_t)at : length;
}

/* Only the first failure counts: it may be the cause of the next. */
static bool fail(struct parser *parser, size_t offset, const char *why)
{
	if (!parser->failed)
		diag_error(parser->diag, doc_place(parser->doc, offset), NULL, "%s", why);
	parser->failed = true;
	return false;
}

/* For SAX callbacks only: that is where libxml2 can be stopped. */
static bool refuse(struct parser *parser, size_t offset, const char *why)
{
	fail(parser, offset, why);
	xmlStopParser(parser->ctxt);
	return false;
}

static bool refuse_span(struct parser *parser, size_t offset)
{
	return refuse(parser, offset, "cannot tell the bytes of this element");
}

/* Errors below fatal are about namespaces; libvirt takes such a document. */
static void on_error(void *data, parse_error *error)
{
	struct parser *parser = data;
	const char *text = error->message ? error->message : "no reason given";

	if (error->level != XML_ERR_FATAL)
		return;
	cleanup_free char *why = xasprintf("cannot read the XML: %.*s",
					   (int)strcspn(text, "\n"), text);
	fail(parser, position(parser), why);
}

static void on_doctype(void *data, const xmlChar *name, const xmlChar *external,
		       const xmlChar *system)
{
	struct parser *parser = data;

	(void)name, (void)external, (void)system;
	refuse(parser, position(parser),
	       "the document has a DOCTYPE, which no domain XML needs; remove it");
}

static bool same_bytes(const struct doc *doc, size_t at, const char *bytes, size_t count)
{
	return at + count <= doc->length && memcmp(doc->text + at, bytes, count) == 0;
}

/* LOCAL with its PREFIX (or NULL); the caller frees it. */
static char *qualified(const xmlChar *prefix, const xmlChar *local)
{
	return prefix ? xasprintf("%s:%s", (const char *)prefix, (const char *)local)
		      : xstrdup((const char *)local);
}

/* The bytes of the start tag; *ret_name_end is the end of the name in it. */
static bool locate_start(struct parser *parser, const struct start *start,
			 struct element *element, size_t *ret_name_end)
{
	const struct doc *doc = parser->doc;
	const char *text = doc->text;
	cleanup_free char *name = qualified(start->prefix, start->local);
	size_t at = position(parser), length = strlen(name);
	bool empty = same_bytes(doc, at, "/>", 2);
	const char *open = memrchr(text, '<', at);

	element->start = open ? (size_t)(open - text) : 0;
	element->open_end = at + (empty ? 2 : 1);
	element->close_start = element->end = element->open_end;
	*ret_name_end = element->start + 1 + length;
	return open && element->start >= parser->reached &&
	       (empty || same_bytes(doc, at, ">", 1)) &&
	       same_bytes(doc, element->start + 1, name, length) &&
	       tag_skip_name(text, element->start + 1, at) == *ret_name_end;
}

/* The URI that is declared as NAME ("xmlns" or "xmlns:prefix"), or NULL. */
static const char *declared(const struct start *start, const char *name)
{
	const char *prefix = name[5] ? name + 6 : NULL;

	for (size_t i = 0; i < start->n_namespaces; i++)
		if (text_equal((const char *)start->namespaces[2 * i], prefix))
			return (const char *)start->namespaces[2 * i + 1];
	return NULL;
}

static bool is_named(const char *name, const xmlChar *prefix, const xmlChar *local)
{
	size_t length = prefix ? strlen((const char *)prefix) : 0;

	if (prefix &&
	    (strncmp(name, (const char *)prefix, length) != 0 || name[length++] != ':'))
		return false;
	return strcmp(name + length, (const char *)local) == 0;
}

/* The value of the attribute NAME, which must be the next of libxml2's attributes (*AT
 * counts them) or a declaration; NULL if it is neither. RAW, of LENGTH, is how it is
 * written: that serves where libxml2 passes over a declaration. */
static char *value_of(const struct start *start, const char *name, const char *raw,
		      size_t length, size_t *at)
{
	/* Five pointers each; none at all is NULL. */
	const xmlChar **next = *at < start->n_attributes ? start->attributes + 5 * *at
							 : NULL;

	if (next && is_named(name, next[1], next[0])) {
		++*at;
		return xstrndup((const char *)next[3], (size_t)(next[4] - next[3]));
	}
	if (!text_equal(name, "xmlns") && !text_starts(name, "xmlns:"))
		return NULL;
	const char *uri = declared(start, name);
	return uri ? xstrdup(uri) : xstrndup(raw, length);
}

/* libxml2 knows the values, the bytes know where they are; they must agree. */
static bool read_attributes(struct parser *parser, const struct start *start,
			    struct element *element, size_t at)
{
	const char *text = parser->doc->text;
	size_t limit = element->open_end - (text[element->open_end - 2] == '/' ? 2 : 1);
	struct tag_attribute span;
	size_t given = 0;

	while (tag_attribute_next(text, &at, limit, &span)) {
		struct attribute *attribute = append(element->attributes,
						     element->n_attributes);

		*attribute = (struct attribute){
			.name = xstrndup(text + span.name, span.name_end - span.name),
			.start = span.start,
			.end = span.end,
			.value_start = span.value,
			.value_end = span.value_end,
		};
		attribute->value = value_of(start, attribute->name, text + span.value,
					    span.value_end - span.value, &given);
		if (!attribute->value)
			return false;
	}
	return given == start->n_attributes && tag_skip_space(text, at, limit) == limit;
}

static bool accept_root(struct parser *parser, const struct element *element)
{
	if (!element->ns && strcmp(element->name, "domain") == 0)
		return true;
	cleanup_free char *why =
		element->ns
			? xasprintf("<%s> is in the namespace %s; libvirt's elements "
				    "are in none",
				    element->name, element->ns)
			: xasprintf("this is a <%s>; a domain XML begins with <domain>",
				    element->name);
	return refuse(parser, element->start, why);
}

/* Each namespace is looked for among all that are in scope. */
static bool enter(struct parser *parser, struct element *element, int namespaces)
{
	parser->namespaces += namespaces;
	if (parser->namespaces > DOC_ATTRIBUTES)
		return refuse(parser, element->start,
			      "more than 256 namespaces are declared here and above");
	parser->open[parser->depth++].namespaces = namespaces;
	parser->here = element;
	parser->reached = element->open_end;
	return true;
}

static struct element *element_from(struct parser *parser, const struct start *start)
{
	struct element *element = xcalloc(1, sizeof(*element));
	size_t name_end;

	if (parser->here)
		element_add(parser->here, element);
	else
		parser->doc->root = element;
	if (start->uri)
		element->ns = (const char *)xmlDictLookup(parser->doc->namespaces,
							  start->uri, -1);
	element->name = qualified(start->uri ? NULL : start->prefix, start->local);
	element->text = xstrdup("");
	if (!locate_start(parser, start, element, &name_end) ||
	    !read_attributes(parser, start, element, name_end)) {
		refuse_span(parser, element->start);
		return NULL;
	}
	element->place = count(&parser->counter, parser->doc, element->start);
	return element;
}

/* NOLINTNEXTLINE(readability-function-size): libxml2 has it so */
static void on_start(void *data, const xmlChar *local, const xmlChar *prefix,
		     const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
		     int n_attributes, int n_defaulted, const xmlChar **attributes)
{
	struct parser *parser = data;
	struct start start = { local,	   prefix,
			       uri,	   (size_t)n_namespaces,
			       namespaces, (size_t)n_attributes,
			       attributes };

	(void)n_defaulted; /* there is no DTD */
	if (parser->failed)
		return;
	if (parser->depth == DOC_DEPTH) {
		refuse(parser, position(parser), "elements are nested deeper than 256");
		return;
	}
	struct element *element = element_from(parser, &start);
	if (!element || (!parser->here && !accept_root(parser, element)))
		return;
	enter(parser, element, n_namespaces);
}

/* The bytes of the end tag: "</", the name as in the start tag, space, ">". */
static bool locate_end(struct parser *parser, struct element *element)
{
	const struct doc *doc = parser->doc;
	const char *text = doc->text, *name = text + element->start + 1;
	size_t end = position(parser);

	if (text[element->open_end - 2] == '/')
		return end == element->open_end && parser->reached == end;
	size_t length = tag_skip_name(name, 0, element->open_end - element->start - 1);
	const char *close = memrchr(text, '<', end);
	element->close_start = close ? (size_t)(close - text) : 0;
	element->end = end;
	size_t name_end = element->close_start + 2 + length;
	return close && element->close_start >= parser->reached &&
	       same_bytes(doc, element->close_start, "</", 2) &&
	       same_bytes(doc, element->close_start + 2, name, length) &&
	       tag_skip_space(text, name_end, end) == end - 1 && text[end - 1] == '>';
}

static void on_end(void *data, const xmlChar *local, const xmlChar *prefix,
		   const xmlChar *uri)
{
	struct parser *parser = data;
	struct element *element = parser->here;

	(void)local, (void)prefix, (void)uri;
	if (parser->failed)
		return;
	if (!element || !locate_end(parser, element)) {
		refuse_span(parser, element ? element->start : 0);
		return;
	}
	struct open *open = &parser->open[--parser->depth];
	if (open->text.length) {
		free(element->text);
		element->text = xstrndup(open->text.data, open->text.length);
		open->text.length = 0;
	}
	parser->namespaces -= open->namespaces;
	parser->reached = element->end;
	parser->here = element->parent;
}

static void on_characters(void *data, const xmlChar *text, int length)
{
	struct parser *parser = data;

	if (!parser->failed && parser->depth)
		text_add_bytes(&parser->open[parser->depth - 1].text, text,
			       (size_t)length);
}

static void set_handlers(xmlParserCtxt *ctxt, struct parser *parser)
{
	memset(ctxt->sax, 0, sizeof(*ctxt->sax));
	ctxt->sax->initialized = XML_SAX2_MAGIC;
	ctxt->sax->internalSubset = on_doctype;
	ctxt->sax->startElementNs = on_start;
	ctxt->sax->endElementNs = on_end;
	ctxt->sax->characters = on_characters;
	ctxt->sax->ignorableWhitespace = on_characters;
	ctxt->sax->cdataBlock = on_characters;
	ctxt->sax->serror = on_error;
	ctxt->userData = parser;
}

/* NOENT: values come with their references resolved; there is no DOCTYPE, hence there are
 * no entities but XML's own five. */
static bool parse(struct doc *doc, struct diag *diag)
{
	enum { OPTIONS = XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_IGNORE_ENC };
	struct parser parser = {
		.ctxt = xmlNewParserCtxt(),
		.doc = doc,
		.diag = diag,
		.counter = { 0, text_mark(doc->text), 1 },
	};

	if (!parser.ctxt)
		return fail(&parser, 0, "libxml2 does not start");
	set_handlers(parser.ctxt, &parser);
	xmlFreeDoc(xmlCtxtReadMemory(parser.ctxt, doc->text, (int)doc->length, NULL, NULL,
				     OPTIONS));
	if (!doc->root || parser.depth)
		fail(&parser, doc->length, "cannot read the XML: it ends too early");
	xmlFreeParserCtxt(parser.ctxt);
	for (size_t i = 0; i < DOC_DEPTH; i++)
		text_done(&parser.open[i].text);
	return !parser.failed;
}

struct doc *doc_parse(const char *file, const char *text, size_t length,
		      struct diag *diag)
{
	cleanup_doc struct doc *doc = xcalloc(1, sizeof(*doc));

	doc->file = xstrdup(file);
	doc->text = xcalloc(length + 1, 1);
	doc->length = length;
	if (length)
		memcpy(doc->text, text, length);
	/* finds out that there are no threads in a static program; dictionaries ask */
	xmlInitParser();
	doc->namespaces = xmlDictCreate();
	return accept_text(doc, diag) && parse(doc, diag) ? take(doc) : NULL;
}

void doc_free(struct doc *doc)
{
	if (!doc)
		return;
	element_free(doc->root);
	xmlDictFree(doc->namespaces);
	free(doc->file);
	free(doc->text);
	free(doc);
}

void doc_free_pointer(struct doc **doc)
{
	doc_free(*doc);
}

struct element *doc_need(struct element *parent, const char *name)
{
	struct element *child = element_child(parent, name);

	return child ? child : element_add(parent, element_new(name));
}

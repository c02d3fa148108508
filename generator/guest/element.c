/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements: looking around in them, and making fresh ones. */
#include <string.h>

#include "base/text.h"
#include "guest/element.h"
#include "guest/print.h"

static const char space[] = " \t\r\n";

/* The first of ELEMENT and the siblings behind it that fits. */
static struct element *first_fit(struct element *element, const char *name)
{
	while (element && name && (element->ns || strcmp(element->name, name) != 0))
		element = element->next;
	return element;
}

struct element *element_child(const struct element *parent, const char *name)
{
	return parent ? first_fit(parent->first, name) : NULL;
}

struct element *element_next(const struct element *element, const char *name)
{
	return element ? first_fit(element->next, name) : NULL;
}

struct element *element_find(const struct element *from, const char *path)
{
	struct element *found = NULL;

	while (from && *path) {
		size_t length = strcspn(path, "/");
		cleanup_free char *name = xstrndup(path, length);

		from = found = element_child(from, name);
		path += length + (path[length] == '/');
	}
	return found;
}

struct element *element_child_ns(const struct element *parent, const char *ns,
				 const char *name)
{
	struct element *child = parent ? parent->first : NULL;

	while (child && !(text_equal(child->ns, ns) && text_equal(child->name, name)))
		child = child->next;
	return child;
}

const struct attribute *element_attribute_find(const struct element *element,
					       const char *name)
{
	for (size_t i = 0; element && i < element->n_attributes; i++)
		if (strcmp(element->attributes[i].name, name) == 0)
			return &element->attributes[i];
	return NULL;
}

const char *element_attribute(const struct element *element, const char *name)
{
	const struct attribute *attribute = element_attribute_find(element, name);

	return attribute ? attribute->value : NULL;
}

char *element_text(const struct element *element)
{
	if (!element)
		return NULL;
	const char *start = element->text + strspn(element->text, space);
	size_t length = strlen(start);
	while (length && strchr(space, start[length - 1]))
		length--;
	return xstrndup(start, length);
}

char *element_path(const struct element *element)
{
	if (!element->parent)
		return xstrdup(element->name);
	cleanup_free char *above = element_path(element->parent);
	return xasprintf("%s/%s", above, element->name);
}

struct element *element_new(const char *name)
{
	struct element *element = xcalloc(1, sizeof(*element));

	element->name = xstrdup(name);
	element->text = xstrdup("");
	element->fresh = true;
	return element;
}

void element_set(struct element *fresh, const char *name, const char *value)
{
	char *copy = xstrdup(value);

	for (size_t i = 0; i < fresh->n_attributes; i++)
		if (strcmp(fresh->attributes[i].name, name) == 0) {
			free(fresh->attributes[i].value);
			fresh->attributes[i].value = copy;
			return;
		}
	*append(fresh->attributes,
		fresh->n_attributes) = (struct attribute){ .name = xstrdup(name),
							   .value = copy };
}

void element_set_text(struct element *fresh, const char *text)
{
	char *copy = xstrdup(text);

	free(fresh->text);
	fresh->text = copy;
}

struct element *element_add(struct element *parent, struct element *child)
{
	child->parent = parent;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	return child;
}

void element_free(struct element *element)
{
	if (!element)
		return;
	for (struct element *child = element->first, *next; child; child = next) {
		next = child->next;
		element_free(child);
	}
	for (size_t i = 0; i < element->n_attributes; i++) {
		free(element->attributes[i].name);
		free(element->attributes[i].value);
	}
	free(element->attributes);
	free(element->name);
	free(element->text);
	free(element);
}

char *element_format(const struct element *element)
{
	struct text out = TEXT_INIT;

	print_element(&out, element, (struct print_style){ .quote = '\'' });
	return text_take(&out);
}

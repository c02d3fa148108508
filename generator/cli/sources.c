/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding files and telling policies, host policies, hosts and domains apart. */
#include <errno.h>
#include <fts.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/sources.h"
#include "guest/doc.h"
#include "machine/file.h"

static bool wanted(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
		strcmp(dot, ".xml") == 0);
}

/* Without "./": annotations name files as the repository does. */
static void add(struct sources *sources, const char *path, bool found)
{
	struct source *source = append(sources->items, sources->count);

	source->path = xstrdup(path + (text_starts(path, "./") ? 2 : 0));
	source->found = found;
}

static void take_entry(struct sources *sources, FTS *fts, FTSENT *entry,
		       struct diag *diag)
{
	struct place place = { .file = entry->fts_path };

	if (entry->fts_level > 0 && entry->fts_name[0] == '.') {
		fts_set(fts, entry, FTS_SKIP);
		return;
	}
	switch (entry->fts_info) {
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE:
	case FTS_DEFAULT:
		if (wanted(entry->fts_name))
			add(sources, entry->fts_path, true);
		break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		diag_error(diag, place, NULL, "cannot be read: %s",
			   strerror(entry->fts_errno));
		break;
	default:
		break;
	}
}

static void walk(struct sources *sources, const char *directory, struct diag *diag)
{
	cleanup_free char *root = xstrdup(directory);
	char *roots[] = { root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	for (size_t end = strlen(root); end > 1 && root[end - 1] == '/'; end--)
		root[end - 1] = '\0';
	while (fts && (entry = fts_read(fts)))
		take_entry(sources, fts, entry, diag);
	if (fts)
		fts_close(fts);
}

static int path_order(const void *left, const void *right)
{
	const struct source *a = left, *b = right;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)a->found - (int)b->found;
}

static void source_done(struct source *source)
{
	free(source->path);
	free(source->text);
	policy_free(source->policy);
	host_policy_free(source->host_policy);
	diag_done(&source->diag);
}

static void unique(struct sources *sources)
{
	size_t kept = 0;

	if (sources->count)
		qsort(sources->items, sources->count, sizeof(*sources->items),
		      path_order);
	for (size_t i = 0; i < sources->count; i++)
		if (kept &&
		    !strcmp(sources->items[kept - 1].path, sources->items[i].path))
			source_done(&sources->items[i]);
		else
			sources->items[kept++] = sources->items[i];
	sources->count = kept;
}

struct sources sources_find(const char *const *words, size_t count, struct diag *diag)
{
	struct sources sources = { NULL, 0 };
	struct stat status;

	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], "-") != 0 && stat(words[i], &status) == 0 &&
		    S_ISDIR(status.st_mode))
			walk(&sources, words[i], diag);
		else
			add(&sources, words[i], false);
	unique(&sources);
	return sources;
}

void sources_done(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		source_done(&sources->items[i]);
	free(sources->items);
}

static int key_order(const void *key, const void *item)
{
	return strcmp(key, ((const struct source *)item)->path);
}

const struct source *source_of(const struct sources *sources, const char *path)
{
	if (!path || !sources->count)
		return NULL;
	return bsearch(path, sources->items, sources->count, sizeof(*sources->items),
		       key_order);
}

static enum source_kind kind_of_xml(const char *text)
{
	const char *at = text;

	while (at && (at[1] == '?' || at[1] == '!')) {
		at = strstr(at, text_starts(at, "<!--") ? "-->" : ">");
		at = at ? strchr(at, '<') : NULL;
	}
	if (at && text_starts(at, "<domain"))
		return SOURCE_DOMAIN;
	if (at && (text_starts(at, "<topology") || text_starts(at, "<capabilities")))
		return SOURCE_HOST;
	return SOURCE_UNKNOWN;
}

static const struct {
	const char *key;
	enum source_kind kind;
} yaml_kinds[] = {
	{ "policy", SOURCE_POLICY },
	{ "host", SOURCE_HOST_POLICY },
	{ "machine", SOURCE_HOST },
};

/* The kind whose key LINE begins with. */
static enum source_kind kind_of_line(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(yaml_kinds); i++) {
		size_t length = strlen(yaml_kinds[i].key);

		if (text_starts(line, yaml_kinds[i].key) &&
		    line[length + strspn(line + length, " ")] == ':')
			return yaml_kinds[i].kind;
	}
	return SOURCE_UNKNOWN;
}

/* By the first key that begins a line; files of an unusual form are parsed for it. */
static enum source_kind kind_of_yaml(const char *path, const char *text, size_t length)
{
	cleanup_diag struct diag quiet = DIAG_INIT;
	enum source_kind kind = kind_of_line(text);

	for (const char *end = strchr(text, '\n'); end && kind == SOURCE_UNKNOWN;
	     end = strchr(end + 1, '\n'))
		kind = kind_of_line(end + 1);
	if (kind != SOURCE_UNKNOWN)
		return kind;
	cleanup_yaml struct yaml *yaml = yaml_parse(path, text, length, &quiet);

	for (size_t i = 0; i < ARRAY_SIZE(yaml_kinds); i++)
		if (yaml && yaml_get(yaml, yaml_kinds[i].key))
			return yaml_kinds[i].kind;
	/* What is no YAML at all is best explained by reading it as a policy. */
	return yaml ? SOURCE_UNKNOWN : SOURCE_POLICY;
}

static void report_unknown(struct source *source, bool xml)
{
	struct place place = { .file = source->path };
	const char *what = xml ? "is XML, but neither a domain nor a host (capabilities, "
				 "topology)"
			       : "is YAML, but has none of the keys policy, host and "
				 "machine that begin a policy, host policy or host";

	if (source->found)
		diag_warning(&source->diag, place, NULL, "%s, and is not looked at",
			     what);
	else
		diag_error(&source->diag, place, NULL, "%s", what);
}

static void source_load(struct source *source)
{
	source->text = file_read(source->path, DOC_BYTES, &source->length, &source->diag);
	source->kind = SOURCE_UNKNOWN;
	if (!source->text)
		return;
	size_t mark = text_mark(source->text);
	const char *begin = source->text + mark;
	const char *first = begin + strspn(begin, " \t\r\n");
	bool xml = *first == '<';

	source->kind = xml ? kind_of_xml(first)
			   : kind_of_yaml(source->path, begin, source->length - mark);
	if (source->kind == SOURCE_POLICY)
		source->policy = policy_parse(source->path, source->text, source->length,
					      &source->diag);
	else if (source->kind == SOURCE_HOST_POLICY)
		source->host_policy = host_policy_parse(source->path, source->text,
							source->length, &source->diag);
	else if (source->kind == SOURCE_UNKNOWN)
		report_unknown(source, xml);
}

/* What the threads that load share. */
struct loading {
	struct sources *sources;
	atomic_size_t next;
};

static void *load_some(void *context)
{
	struct loading *loading = context;
	size_t i;

	while ((i = atomic_fetch_add(&loading->next, 1)) < loading->sources->count)
		source_load(&loading->sources->items[i]);
	return NULL;
}

/* A thread costs as much as some ten files. */
enum { FILES_A_THREAD = 50, HELPERS_MAX = 7 };

static size_t helpers_for(size_t files)
{
	cpu_set_t usable;
	size_t wanted = files / FILES_A_THREAD, most = 0;

	if (!sched_getaffinity(0, sizeof(usable), &usable))
		most = (size_t)CPU_COUNT(&usable) - 1;
	if (most > HELPERS_MAX)
		most = HELPERS_MAX;
	return wanted < most ? wanted : most;
}

void sources_load(struct sources *sources)
{
	struct loading loading = { .sources = sources };
	pthread_t helpers[HELPERS_MAX];
	size_t count = helpers_for(sources->count), started = 0;

	while (started < count &&
	       !pthread_create(&helpers[started], NULL, load_some, &loading))
		started++;
	load_some(&loading);
	while (started)
		pthread_join(helpers[--started], NULL);
}

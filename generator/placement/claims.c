/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which guest owns what of the host, and the text that says so. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "placement/claims.h"

static const char heading[] = "vmgen-claims 1";

static const char *const state_words[] = {
	[CLAIM_HELD] = "held",
	[CLAIM_INCOMING] = "incoming",
	[CLAIM_STARTING] = "starting",
	[CLAIM_RUNNING] = "running",
};

void claim_done(struct claim *claim)
{
	free(claim->name);
	free(claim->memory);
	*claim = (struct claim){ .name = NULL };
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	for (size_t i = 0; i < claims->count; i++)
		claim_done(&claims->items[i]);
	free(claims->items);
	free(claims);
}

void claims_free_pointer(struct claims **claims)
{
	claims_free(*claims);
}

/* Index of the claim with UUID, or where one would go. */
static size_t position(const struct claims *claims, const char *uuid)
{
	size_t low = 0, high = claims->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(claims->items[middle].uuid, uuid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct claim *claims_find(const struct claims *claims, const char *uuid)
{
	size_t at = position(claims, uuid);

	return at < claims->count && !strcmp(claims->items[at].uuid, uuid)
		       ? &claims->items[at]
		       : NULL;
}

const struct claim *claims_find_name(const struct claims *claims, const char *name)
{
	for (size_t i = 0; i < claims->count; i++)
		if (text_equal(claims->items[i].name, name))
			return &claims->items[i];
	return NULL;
}

void claims_put(struct claims *claims, struct claim *claim)
{
	size_t at;

	claims_drop(claims, claim->uuid);
	at = position(claims, claim->uuid);
	(void)append(claims->items, claims->count);
	memmove(&claims->items[at + 1], &claims->items[at],
		(claims->count - 1 - at) * sizeof(*claims->items));
	claims->items[at] = *claim;
	*claim = (struct claim){ .name = NULL };
}

void claims_drop(struct claims *claims, const char *uuid)
{
	size_t at = position(claims, uuid);

	if (!claims_find(claims, uuid))
		return;
	claim_done(&claims->items[at]);
	claims->count--;
	memmove(&claims->items[at], &claims->items[at + 1],
		(claims->count - at) * sizeof(*claims->items));
}

/* Writing. */

static void add_set(struct text *out, const char *key, const struct cpuset *set)
{
	cleanup_free char *list = cpuset_format(set);

	if (*list)
		text_printf(out, " %s=%s", key, list);
}

static void add_memory(struct text *out, const struct claim *claim, bool pages)
{
	bool first = true;

	for (size_t i = 0; i < claim->n_memory; i++) {
		const struct claim_memory *memory = &claim->memory[i];

		if ((memory->page_size != 0) != pages)
			continue;
		text_add(out, !first ? "," : pages ? " pages=" : " memory=");
		first = false;
		if (pages)
			text_printf(out, "%u:%" PRIu64 ":%" PRIu64, memory->node,
				    memory->page_size / 1024,
				    memory->bytes / memory->page_size);
		else
			text_printf(out, "%u:%" PRIu64, memory->node,
				    memory->bytes / 1024);
	}
}

static void add_name(struct text *out, const char *name)
{
	text_add(out, " name=");
	for (; name && *name; name++)
		if ((unsigned char)*name < ' ' || *name == '\\' || *name == 0x7f)
			text_printf(out, "\\x%02x", (unsigned)(unsigned char)*name);
		else
			text_add_bytes(out, name, 1);
}

char *claims_format(const struct claims *claims)
{
	struct text out = TEXT_INIT;

	text_printf(&out, "%s\n", heading);
	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->items[i];

		text_printf(&out, "%s state=%s", claim->uuid, state_words[claim->state]);
		add_set(&out, "cpus", &claim->cpus);
		add_set(&out, "vcpus", &claim->vcpus_on);
		add_set(&out, "nodes", &claim->nodes);
		add_memory(&out, claim, false);
		add_memory(&out, claim, true);
		add_name(&out, claim->name);
		text_add(&out, "\n");
	}
	return text_take(&out);
}

/* Reading. A reader takes the value of its key and yields what is wrong, or NULL. */

static const char *read_state(struct claim *claim, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_words); i++)
		if (text_equal(value, state_words[i])) {
			claim->state = (enum claim_state)i;
			return NULL;
		}
	return "it is not one of held, incoming, starting, running";
}

static const char *read_set(struct cpuset *set, const char *value)
{
	const char *error = NULL;

	return cpuset_parse(value, set, &error, NULL) ? NULL : error;
}

static const char *read_cpus(struct claim *claim, const char *value)
{
	return read_set(&claim->cpus, value);
}

static const char *read_vcpus(struct claim *claim, const char *value)
{
	return read_set(&claim->vcpus_on, value);
}

static const char *read_nodes(struct claim *claim, const char *value)
{
	return read_set(&claim->nodes, value);
}

/* A decimal number in front of END or of the end of the text; *AT is moved behind both.
 */
static bool read_number(char **at, char end, unsigned long long *ret_number)
{
	char *stop = strchr(*at, end);
	bool last = !stop;

	if (stop)
		*stop = '\0';
	char *number = *at;
	*at = last ? number + strlen(number) : stop + 1;
	return text_number(number, ret_number);
}

static const char *add_piece(struct claim *claim, char *piece, bool pages)
{
	unsigned long long node, size = 0, amount;
	struct claim_memory memory;

	if (!strchr(piece, ':') || !read_number(&piece, ':', &node) || node >= CPUSET_MAX)
		return "it begins with the number of a node";
	if (pages && (!strchr(piece, ':') || !read_number(&piece, ':', &size) || !size))
		return "the size of the pages is a number of KiB";
	if (!text_number(piece, &amount))
		return pages ? "it ends with a number of pages"
			     : "it ends with a number of KiB";
	memory.node = (unsigned)node;
	if (__builtin_mul_overflow((uint64_t)size, 1024, &memory.page_size) ||
	    __builtin_mul_overflow((uint64_t)amount, size ? memory.page_size : 1024,
				   &memory.bytes))
		return "the number is too large";
	*append(claim->memory, claim->n_memory) = memory;
	return NULL;
}

static const char *read_pieces(struct claim *claim, const char *value, bool pages)
{
	cleanup_free char *copy = xstrdup(value);
	const char *error = NULL;
	char *rest = copy, *piece;

	do {
		piece = strsep(&rest, ",");
		error = add_piece(claim, piece, pages);
	} while (rest && !error);
	return error;
}

static const char *read_memory(struct claim *claim, const char *value)
{
	return read_pieces(claim, value, false);
}

static const char *read_pages(struct claim *claim, const char *value)
{
	return read_pieces(claim, value, true);
}

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

static const char *read_name(struct claim *claim, const char *value)
{
	struct text name = TEXT_INIT;

	for (; *value; value++) {
		char byte = *value;

		if (byte == '\\') {
			int high = value[1] == 'x' ? hex_digit(value[2]) : -1;
			int low = high < 0 ? -1 : hex_digit(value[3]);

			if (low < 0 || high * 16 + low == 0) {
				text_done(&name);
				return "a backslash is written \\x5c";
			}
			byte = (char)(high * 16 + low);
			value += 3;
		}
		text_add_bytes(&name, &byte, 1);
	}
	claim->name = text_take(&name);
	return NULL;
}

/* In the order in which they stand on a line. */
static const struct key {
	const char *key;
	const char *(*read)(struct claim *claim, const char *value);
	bool required, to_end; /* to_end: the value runs to the end of the line */
} keys[] = {
	{ "state=", read_state, true, false },	  { "cpus=", read_cpus, false, false },
	{ "vcpus=", read_vcpus, false, false },	  { "nodes=", read_nodes, false, false },
	{ "memory=", read_memory, false, false }, { "pages=", read_pages, false, false },
	{ "name=", read_name, true, true },
};

static bool is_uuid(const char *text)
{
	for (unsigned i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
							    : hex_digit(text[i]) < 0)
			return false;
	return text[36] == '\0';
}

static bool fault(struct diag *diag, struct place at, const char *what, const char *why)
{
	diag_error(diag, at, "claims", "%s: %s", what, why);
	return false;
}

/* One key of a line at *REST, which is moved behind it if it is there. */
static bool read_key(const struct key *key, char **rest, struct claim *claim,
		     struct place at, struct diag *diag)
{
	bool there = *rest && text_starts(*rest, key->key);
	const char *error;

	if (!there)
		return !key->required ||
		       fault(diag, at, key->key, "is missing, or not where it belongs");
	char *value = *rest + strlen(key->key);
	*rest = value;
	if (key->to_end)
		*rest = NULL;
	else
		strsep(rest, " ");
	error = key->read(claim, value);
	return !error || fault(diag, at, key->key, error);
}

static bool read_line(struct claims *claims, char *line, struct place at,
		      struct diag *diag)
{
	struct claim claim = { .name = NULL };
	char *rest = line, *uuid = strsep(&rest, " ");
	bool fine = is_uuid(uuid) || fault(diag, at, "claim", "it begins with a UUID");

	if (fine)
		memcpy(claim.uuid, uuid, sizeof(claim.uuid));
	for (size_t i = 0; i < ARRAY_SIZE(keys) && fine; i++)
		fine = read_key(&keys[i], &rest, &claim, at, diag);
	if (fine && claims_find(claims, claim.uuid))
		fine = fault(diag, at, claim.uuid, "this guest has a claim already");
	if (fine)
		claims_put(claims, &claim);
	claim_done(&claim);
	return fine;
}

struct claims *claims_parse(const char *file, const char *text, size_t length,
			    struct diag *diag)
{
	cleanup_claims struct claims *claims = xcalloc(1, sizeof(*claims));
	cleanup_free char *copy = xstrndup(text, length);
	struct place at = { file, 1, 1 };
	char *rest = copy, *line;

	if (strlen(copy) != length || !length || copy[length - 1] != '\n') {
		fault(diag, (struct place){ file, 0, 0 }, "claims",
		      "the text is cut off, or holds a NUL byte");
		return NULL;
	}
	copy[length - 1] = '\0';
	line = strsep(&rest, "\n");
	if (!text_equal(line, heading)) {
		fault(diag, at, "claims", "the first line is not \"vmgen-claims 1\"");
		return NULL;
	}
	while ((line = strsep(&rest, "\n"))) {
		at.line++;
		if (!read_line(claims, line, at, diag))
			return NULL;
	}
	return take(claims);
}

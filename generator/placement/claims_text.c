/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Claims as text. */
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "placement/claims.h"

static const char heading[] = "vmgen-claims 1";

/* Writing. */

static void add_list(struct text *out, const char *key, const struct cpulist *list)
{
	if (!list->count)
		return;
	cleanup_free char *text = cpulist_format(list);
	text_add(out, key);
	text_add(out, text);
}

static void add_pair(struct text *out, uint64_t first, uint64_t second)
{
	text_add_number(out, first);
	text_add(out, ":");
	text_add_number(out, second);
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
		text_add_number(out, memory->node);
		text_add(out, ":");
		if (pages)
			add_pair(out, memory->page_size / 1024,
				 memory->bytes / memory->page_size);
		else
			text_add_number(out, memory->bytes / 1024);
	}
}

/* ALSO: characters that would end the value. */
static void add_escaped(struct text *out, const char *value, const char *also)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == '\\' || *value == 0x7f ||
		    strchr(also, *value))
			text_printf(out, "\\x%02x", (unsigned)(unsigned char)*value);
		else
			text_add_bytes(out, value, 1);
}

static void add_string(struct text *out, const char *key, const char *value,
		       const char *also, const char *end)
{
	if (!value || !*value)
		return;
	text_add(out, key);
	add_escaped(out, value, also);
	text_add(out, end);
}

static void add_claim(struct text *out, const struct claim *claim)
{
	text_add(out, claim->uuid);
	text_add(out, " state=");
	text_add(out, claim_state_words[claim->state]);
	add_list(out, " cpus=", &claim->cpus);
	add_list(out, " vcpus=", &claim->vcpus_on);
	add_list(out, " nodes=", &claim->nodes);
	add_memory(out, claim, false);
	add_memory(out, claim, true);
	add_string(out, " policy=", claim->policy, " ", "");
	if (claim->owner.pid) {
		text_add(out, " owner=");
		add_pair(out, claim->owner.pid, claim->owner.start);
	}
	if (claim->until) {
		text_add(out, " until=");
		text_add_number(out, claim->until);
	}
	if (claim->status.inode) {
		text_add(out, " status=");
		add_pair(out, claim->status.inode, claim->status.mtime);
	}
	add_string(out, " failure=\"", claim->failure, "\"", "\"");
	text_add(out, " name=");
	add_escaped(out, claim->name ? claim->name : "", "");
	text_add(out, "\n");
}

char *claims_format(const struct claims *claims)
{
	struct text out = TEXT_INIT;

	text_printf(&out, "%s\n", heading);
	for (size_t i = 0; i < claims->count; i++)
		add_claim(&out, &claims->items[i]);
	return text_take(&out);
}

/* Reading. A reader takes the value of its key and yields what is wrong, or NULL. */

static const char *read_state(struct claim *claim, const char *value)
{
	for (size_t i = 0; i < CLAIM_STATES; i++)
		if (text_equal(value, claim_state_words[i])) {
			claim->state = (enum claim_state)i;
			return NULL;
		}
	return "it is not one of held, incoming, starting, running, failed";
}

static const char *read_list(struct cpulist *list, const char *value)
{
	const char *error = NULL;

	return cpulist_parse(value, list, &error) ? NULL : error;
}

static const char *read_cpus(struct claim *claim, const char *value)
{
	return read_list(&claim->cpus, value);
}

static const char *read_vcpus(struct claim *claim, const char *value)
{
	return read_list(&claim->vcpus_on, value);
}

static const char *read_nodes(struct claim *claim, const char *value)
{
	return read_list(&claim->nodes, value);
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

/* "FIRST:SECOND"; FIRST is not 0. */
static const char *read_pair(const char *value, uint64_t *ret_first, uint64_t *ret_second)
{
	cleanup_free char *copy = xstrdup(value);
	unsigned long long first, second;
	char *at = copy;

	if (!strchr(at, ':') || !read_number(&at, ':', &first) || !first ||
	    !text_number(at, &second))
		return "two numbers with a colon between go here";
	*ret_first = first;
	*ret_second = second;
	return NULL;
}

static const char *read_owner(struct claim *claim, const char *value)
{
	uint64_t pid = 0;
	const char *error = read_pair(value, &pid, &claim->owner.start);

	if (!error && pid > INT_MAX)
		return "no process has such a number";
	claim->owner.pid = (unsigned)pid;
	return error;
}

static const char *read_until(struct claim *claim, const char *value)
{
	unsigned long long seconds;

	if (!text_number(value, &seconds) || !seconds)
		return "a number of seconds goes here";
	claim->until = seconds;
	return NULL;
}

static const char *read_status(struct claim *claim, const char *value)
{
	return read_pair(value, &claim->status.inode, &claim->status.mtime);
}

static const char *read_escaped(char **ret_string, const char *value)
{
	cleanup_text struct text string = TEXT_INIT;

	for (; *value; value++) {
		char byte = *value;

		if (byte == '\\') {
			int high = value[1] == 'x' ? hex_digit(value[2]) : -1;
			int low = high < 0 ? -1 : hex_digit(value[3]);

			if (low < 0 || high * 16 + low == 0)
				return "a backslash is written \\x5c";
			byte = (char)(high * 16 + low);
			value += 3;
		}
		text_add_bytes(&string, &byte, 1);
	}
	*ret_string = text_take(&string);
	return NULL;
}

static const char *read_policy(struct claim *claim, const char *value)
{
	return *value ? read_escaped(&claim->policy, value) : "it is empty";
}

static const char *read_failure(struct claim *claim, const char *value)
{
	return *value ? read_escaped(&claim->failure, value) : "it is empty";
}

static const char *read_name(struct claim *claim, const char *value)
{
	return read_escaped(&claim->name, value);
}

/* Where a value ends: before a space, with the second quote, with the line. */
enum form { WORD, QUOTED, REST };

/* In the order in which they stand on a line. */
static const struct key {
	const char *key;
	const char *(*read)(struct claim *claim, const char *value);
	bool required;
	enum form form;
} keys[] = {
	{ "state=", read_state, true, WORD },
	{ "cpus=", read_cpus, false, WORD },
	{ "vcpus=", read_vcpus, false, WORD },
	{ "nodes=", read_nodes, false, WORD },
	{ "memory=", read_memory, false, WORD },
	{ "pages=", read_pages, false, WORD },
	{ "policy=", read_policy, false, WORD },
	{ "owner=", read_owner, false, WORD },
	{ "until=", read_until, false, WORD },
	{ "status=", read_status, false, WORD },
	{ "failure=", read_failure, false, QUOTED },
	{ "name=", read_name, true, REST },
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

/* The value at *REST, which is moved behind it and the space that follows; NULL if it
 * does not have its form. */
static char *cut_value(char **rest, enum form form)
{
	char *value = *rest;

	if (form == REST) {
		*rest = NULL;
		return value;
	}
	if (form == WORD)
		return strsep(rest, " ");
	if (*value++ != '"')
		return NULL;
	*rest = value;
	strsep(rest, "\"");
	return *rest && *(*rest)++ == ' ' ? value : NULL;
}

/* One key of a line at *REST, which is moved behind it if it is there. */
static bool read_key(const struct key *key, char **rest, struct claim *claim,
		     struct place at, struct diag *diag)
{
	bool there = *rest && text_starts(*rest, key->key);

	if (!there)
		return !key->required ||
		       fault(diag, at, key->key, "is missing, or not where it belongs");
	*rest += strlen(key->key);
	char *value = cut_value(rest, key->form);
	const char *error = value ? key->read(claim, value)
				  : "it stands between two quotes";
	return !error || fault(diag, at, key->key, error);
}

/* CLAIM is zero, and its owner's whatever happens. */
static bool read_line(struct claim *claim, char *line, struct place at, struct diag *diag)
{
	char *rest = line, *uuid = strsep(&rest, " ");
	bool fine = is_uuid(uuid) || fault(diag, at, "claim", "it begins with a UUID");

	if (fine)
		memcpy(claim->uuid, uuid, sizeof(claim->uuid));
	for (size_t i = 0; i < ARRAY_SIZE(keys) && fine; i++)
		fine = read_key(&keys[i], &rest, claim, at, diag);
	return fine;
}

struct numbered {
	struct claim claim;
	unsigned line;
};

static int by_uuid(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	int order = strcmp(a->claim.uuid, b->claim.uuid);

	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* What vmgen wrote is sorted, what somebody edited need not be. */
static bool is_sorted(const struct claims *claims)
{
	for (size_t i = 1; i < claims->count; i++)
		if (strcmp(claims->items[i - 1].uuid, claims->items[i].uuid) >= 0)
			return false;
	return true;
}

/* The claims are those of the lines from 2 on. */
static bool sort(struct claims *claims, struct place at, struct diag *diag)
{
	bool twice = false;

	if (is_sorted(claims))
		return true;
	cleanup_free struct numbered *all = xcalloc(claims->count, sizeof(*all));
	for (size_t i = 0; i < claims->count; i++)
		all[i] = (struct numbered){ claims->items[i], (unsigned)i + 2 };
	qsort(all, claims->count, sizeof(*all), by_uuid);
	for (size_t i = 0; i < claims->count; i++) {
		claims->items[i] = all[i].claim;
		at.line = all[i].line;
		if (i && !strcmp(all[i - 1].claim.uuid, all[i].claim.uuid))
			twice = !fault(diag, at, all[i].claim.uuid,
				       "this guest has a claim already");
	}
	return !twice;
}

/* Room for as many claims as there are lines, all zero, as append() would leave it. */
static struct claim *room_for(size_t lines)
{
	size_t room = 1;

	while (room < lines)
		room *= 2;
	return xcalloc(room, sizeof(struct claim));
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		lines++;
	}
	return lines;
}

static bool read_lines(struct claims *claims, char *lines, struct place at,
		       struct diag *diag)
{
	size_t count = count_lines(lines);
	char *line;

	if (count > CLAIMS_MAX)
		return fault(diag, at, "claims",
			     "they are of more guests than a host has");
	claims->items = room_for(count);
	while ((line = strsep(&lines, "\n"))) {
		at.line++;
		if (!read_line(&claims->items[claims->count++], line, at, diag))
			return false;
	}
	return sort(claims, (struct place){ at.file, 0, 1 }, diag);
}

struct claims *claims_parse(const char *file, const char *text, size_t length,
			    struct diag *diag)
{
	cleanup_claims struct claims *claims = xcalloc(1, sizeof(*claims));
	cleanup_free char *copy = xstrndup(text, length);
	struct place at = { file, 1, 1 };
	char *rest = copy;

	if (strlen(copy) != length || !length || copy[length - 1] != '\n') {
		fault(diag, (struct place){ file, 0, 0 }, "claims",
		      "the text is cut off, or holds a NUL byte");
		return NULL;
	}
	copy[length - 1] = '\0';
	if (!text_equal(strsep(&rest, "\n"), heading)) {
		fault(diag, at, "claims", "the first line is not \"vmgen-claims 1\"");
		return NULL;
	}
	return !rest || read_lines(claims, rest, at, diag) ? take(claims) : NULL;
}

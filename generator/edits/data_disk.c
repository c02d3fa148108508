/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A data disk of a policy, and what a guest has of it. */
#include "base/text.h"
#include "edits/data_disk.h"
#include "guest/records.h"

static const char *format_of(const struct policy_disk *policy)
{
	return given(&policy->format) ? policy->format.text : "raw";
}

static void source_done(struct data_source *source)
{
	free(source->path);
	free(source->pool);
	free(source->volume);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* DIRECTORY/GUEST-NAME.FORMAT, or a volume of that name. */
static struct data_source by_policy(const struct policy_disk *policy, const char *guest)
{
	bool file = given(&policy->directory), volume = given(&policy->pool),
	     socket = given(&policy->socket);

	if (file + volume + socket != 1 || (!socket && !given(&policy->size)))
		return (struct data_source){ .kind = DATA_UNSAID };
	if (socket)
		return (struct data_source){
			.kind = DATA_SOCKET,
			.path = policy_expand(policy->socket.text, guest,
					      policy->name.text),
		};
	cleanup_free char *name = xasprintf("%s-%s.%s", guest, policy->name.text,
					    format_of(policy));
	if (volume)
		return (struct data_source){
			.kind = DATA_VOLUME,
			.pool = xstrdup(policy->pool.text),
			.volume = take(name),
		};
	return (struct data_source){
		.kind = DATA_FILE,
		.path = xasprintf("%s/%s", policy->directory.text, name),
	};
}

static struct data_source by_record(const struct element *record)
{
	const char *file = element_attribute(record, "file");

	return (struct data_source){
		.kind = file ? DATA_FILE : DATA_VOLUME,
		.path = copy(file),
		.pool = copy(element_attribute(record, "pool")),
		.volume = copy(element_attribute(record, "volume")),
	};
}

static struct data_source by_definition(const struct guest_disk *has)
{
	const struct element *source = element_child(has->element, "source");
	struct data_source found = {
		.kind = DATA_OTHER,
		.path = copy(has->source),
		.pool = copy(element_attribute(source, "pool")),
		.volume = copy(element_attribute(source, "volume")),
	};

	if (text_equal(has->type, "vhostuser"))
		found.kind = found.path ? DATA_SOCKET : DATA_OTHER;
	else if (text_equal(has->type, "volume"))
		found.kind = found.pool && found.volume ? DATA_VOLUME : DATA_OTHER;
	else if (text_equal(has->type, "file") || text_equal(has->type, "block"))
		found.kind = found.path ? DATA_FILE : DATA_OTHER;
	return found;
}

static bool same_source(const struct data_source *a, const struct data_source *b)
{
	return a->kind == b->kind && text_equal(a->path, b->path) &&
	       text_equal(a->pool, b->pool) && text_equal(a->volume, b->volume);
}

static bool is_at(const struct guest_disk *has, const struct data_source *source)
{
	struct data_source found = by_definition(has);
	bool same = same_source(&found, source);

	source_done(&found);
	return same;
}

static const struct guest_disk *disk_of(const struct guest *guest,
					const struct data_disk *disk)
{
	for (size_t i = 0; i < guest->n_disks; i++)
		if (text_equal(guest->disks[i].alias, disk->alias))
			return &guest->disks[i];
	for (size_t i = 0; i < guest->n_disks; i++)
		if (is_at(&guest->disks[i], &disk->source))
			return &guest->disks[i];
	return NULL;
}

/* A file's first bytes say nothing: in a raw disk the guest writes what it likes. */
static const char *read_as(const struct data_disk *disk)
{
	const struct element *driver = element_child(
		disk->has ? disk->has->element : NULL, "driver");
	const char *defined = element_attribute(driver, "type");
	const char *recorded = element_attribute(disk->record, "format");

	return defined ? defined : recorded ? recorded : disk->format;
}

void data_disk_init(struct data_disk *ret, const struct policy_disk *policy,
		    const struct guest *guest)
{
	struct data_disk disk = {
		.policy = policy,
		.record = records_find(guest, policy->name.text),
		.alias = guest_alias(policy->name.text),
		.format = format_of(policy),
	};

	disk.source = disk.record ? by_record(disk.record)
				  : by_policy(policy, guest->name);
	disk.has = disk_of(guest, &disk);
	if (disk.has) {
		source_done(&disk.source);
		disk.source = by_definition(disk.has);
	}
	disk.shown = disk.source.volume ? xasprintf("volume %s of pool %s",
						    disk.source.volume, disk.source.pool)
					: copy(disk.source.path);
	disk.read_as = read_as(&disk);
	*ret = disk;
}

void data_disk_done(struct data_disk *disk)
{
	source_done(&disk->source);
	free(disk->alias);
	free(disk->shown);
}

bool data_disk_is_made(const struct data_disk *disk)
{
	return disk->source.kind == DATA_FILE || disk->source.kind == DATA_VOLUME;
}

bool data_disk_in_place(const struct data_disk *disk, const char *guest)
{
	struct data_source wanted = by_policy(disk->policy, guest);
	bool same = same_source(&wanted, &disk->source);

	source_done(&wanted);
	return same;
}

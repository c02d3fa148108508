/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A data disk of a policy, and what a guest has of it. */
#include "base/text.h"
#include "edits/data_disk.h"
#include "guest/records.h"

static const struct guest_disk *disk_of(const struct guest *guest, const char *alias,
					const char *path)
{
	for (size_t i = 0; i < guest->n_disks; i++)
		if (text_equal(guest->disks[i].alias, alias))
			return &guest->disks[i];
	for (size_t i = 0; i < guest->n_disks; i++)
		if (text_equal(guest->disks[i].source, path))
			return &guest->disks[i];
	return NULL;
}

static const char *format_of(const struct policy_disk *policy)
{
	return given(&policy->format) ? policy->format.text : "raw";
}

char *data_disk_path(const struct policy_disk *policy, const char *guest)
{
	return xasprintf("%s/%s-%s.%s", policy->directory.text, guest, policy->name.text,
			 format_of(policy));
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
	const char *recorded = element_attribute(disk.record, "file");

	disk.path = recorded ? xstrdup(recorded) : data_disk_path(policy, guest->name);
	disk.has = disk_of(guest, disk.alias, disk.path);
	if (disk.has && disk.has->source && !text_equal(disk.has->source, disk.path)) {
		free(disk.path);
		disk.path = xstrdup(disk.has->source);
	}
	disk.read_as = read_as(&disk);
	*ret = disk;
}

void data_disk_done(struct data_disk *disk)
{
	free(disk->alias);
	free(disk->path);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names for the disks that a guest gains. */
#include "base/text.h"
#include "edits/disk_names.h"

void disk_names_init(struct disk_names *names, const struct guest *guest,
		     const struct policy *policy)
{
	*names = (struct disk_names){ .policy = policy };
	for (size_t i = 0; i < guest->n_disks; i++)
		if (guest->disks[i].target)
			*append(names->taken,
				names->count) = xstrdup(guest->disks[i].target);
}

void disk_names_done(struct disk_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->taken[i]);
	free(names->taken);
}

/* "vda", "vdz", "vdaa": the name of disk NUMBER, as the kernel counts them. */
static char *by_letters(const char *prefix, unsigned number)
{
	char letters[8], *at = letters + sizeof(letters);

	*--at = '\0';
	for (unsigned rest = number + 1; rest; rest = (rest - 1) / 26)
		*--at = (char)('a' + (rest - 1) % 26);
	return xasprintf("%s%s", prefix, at);
}

static char *name_of(const char *bus, unsigned number)
{
	if (text_equal(bus, "nvme"))
		return xasprintf("nvme%un1", number);
	return by_letters(text_equal(bus, "virtio") ? "vd" : "sd", number);
}

bool disk_names_take(struct disk_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (text_equal(names->taken[i], name))
			return false;
	*append(names->taken, names->count) = xstrdup(name);
	return true;
}

static bool is_asked_for(const struct policy *policy, const char *name)
{
	const struct policy_disk *disks = policy->disks.items;

	for (size_t i = 0; i < policy->disks.count; i++)
		if (given(&disks[i].target) && text_equal(disks[i].target.text, name))
			return true;
	return false;
}

char *disk_names_next(struct disk_names *names, const char *bus)
{
	for (unsigned i = 0;; i++) {
		char *name = name_of(bus, i);

		if (!is_asked_for(names->policy, name) && disk_names_take(names, name))
			return name;
		free(name);
	}
}

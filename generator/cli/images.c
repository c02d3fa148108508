/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data disks of a guest that was compiled, made where there are none. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/images.h"
#include "host/owner.h"
#include "machine/image.h"
#include "machine/interrupt.h"

static enum provision decide(struct conform *conform, const struct data_disk *disk)
{
	struct job *job = &conform->job;
	const char *format = disk->record || disk->has ? disk->read_as : NULL;
	struct image_seen seen;

	/* a volume or something on a network is not ours; what is elsewhere is not seen
	 */
	if (disk->has && (!disk->has->source || !conform->here))
		return PROVISION_KEEP;
	if (!conform->here) {
		diag_error(&job->diag, disk->policy->place, "disk",
			   "disk %s is made on the guest's own machine; run `vmgen apply "
			   "%s` there",
			   disk->policy->name.text, job->guest->name);
		return PROVISION_REFUSE;
	}
	if (!image_look(disk->path, format, &seen, &job->diag))
		return PROVISION_REFUSE;
	return provision_decide(disk, &seen, job->guest->name, &job->diag);
}

/* False if one is refused. RET_MAKE, as many as the policy's disks, may be NULL. */
static bool decide_all(struct conform *conform, bool *ret_make)
{
	struct job *job = &conform->job;
	const struct policy_disk *disks = job->policy->disks.items;
	bool good = true;

	for (size_t i = 0; i < job->policy->disks.count; i++) {
		cleanup_data_disk struct data_disk disk;

		data_disk_init(&disk, &disks[i], job->guest);
		enum provision what = decide(conform, &disk);
		good &= what != PROVISION_REFUSE;
		if (ret_make)
			ret_make[i] = what == PROVISION_MAKE;
	}
	return good;
}

bool images_check(struct conform *conform)
{
	return decide_all(conform, NULL);
}

static struct image_owner owner(struct conform *conform)
{
	struct image_owner owner = { .known = false };
	cleanup_diag struct diag quiet = DIAG_INIT;
	cleanup_free char *xml = connect_capabilities(conform->connection, &quiet);

	owner.known = xml && host_owner(xml, strlen(xml), &owner.user, &owner.group);
	return owner;
}

static bool make(struct conform *conform, const struct policy_disk *policy,
		 struct images *images)
{
	struct job *job = &conform->job;
	cleanup_free char *path = data_disk_path(policy, job->guest->name);
	const struct image_owner whose = owner(conform);

	if (!image_make(path, policy, &whose, &job->diag))
		return false;
	printf("%s: made %s, %s\n", job->guest->name, path, policy->size.text);
	*append(images->made, images->count) = take(path);
	return true;
}

bool images_make(struct conform *conform, struct images *ret)
{
	const struct groups *disks = &conform->job.policy->disks;
	const struct policy_disk *items = disks->items;
	cleanup_free bool *wanted = xcalloc(disks->count, sizeof(*wanted));

	*ret = (struct images){ .made = NULL };
	interrupt_hold(&ret->before);
	bool good = decide_all(conform, wanted);
	for (size_t i = 0; good && i < disks->count; i++)
		good = !wanted[i] || make(conform, &items[i], ret);
	if (!good)
		images_drop(ret);
	return good;
}

void images_drop(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		image_remove(images->made[i]);
}

void images_done(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->made[i]);
	free(images->made);
	interrupt_release(&images->before);
}

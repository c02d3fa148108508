/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data disks of a guest that was compiled, made where there are none. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/images.h"
#include "connect/volume.h"
#include "host/owner.h"
#include "machine/image.h"
#include "machine/interrupt.h"

static bool look(struct conform *conform, const struct data_disk *disk,
		 struct image_seen *ret_seen)
{
	const char *format = disk->record || disk->has ? disk->read_as : NULL;
	const struct data_source *source = &disk->source;
	struct diag *diag = &conform->job.diag;
	uint64_t left;

	if (source->kind == DATA_FILE)
		return image_look(source->path, format, ret_seen, diag);
	if (!volume_look(conform->connection, source->pool, source->volume, ret_seen,
			 &left, diag))
		return false;
	const struct image_room room = { left, disk->shown };
	return ret_seen->exists || provision_fits(disk->policy, &room, diag);
}

static enum provision decide(struct conform *conform, const struct data_disk *disk)
{
	struct job *job = &conform->job;
	struct image_seen seen;

	/* what is elsewhere is not seen */
	if (!data_disk_is_made(disk) || (disk->has && !conform->here))
		return PROVISION_KEEP;
	if (!conform->here) {
		diag_error(&job->diag, disk->policy->place, "disk",
			   "disk %s is made on the guest's own machine; run `vmgen apply "
			   "%s` there",
			   disk->policy->name.text, job->guest->name);
		return PROVISION_REFUSE;
	}
	if (!look(conform, disk, &seen))
		return PROVISION_REFUSE;
	return provision_decide(disk, &seen, job->guest->name, &job->diag);
}

static struct image_owner owner(struct conform *conform)
{
	struct image_owner owner = { .known = false };
	cleanup_diag struct diag quiet = DIAG_INIT;
	cleanup_free char *xml = connect_capabilities(conform->connection, &quiet);

	owner.known = xml && host_owner(xml, strlen(xml), &owner.user, &owner.group);
	return owner;
}

static bool make(struct conform *conform, const struct data_disk *disk,
		 struct images *images)
{
	struct job *job = &conform->job;
	const struct policy_disk *policy = disk->policy;
	const struct data_source *source = &disk->source;
	const struct image_owner whose = owner(conform);

	if (!(source->kind == DATA_FILE
		      ? image_make(source->path, policy, &whose, &job->diag)
		      : volume_make(conform->connection, source->pool, source->volume,
				    policy, &whose, &job->diag)))
		return false;
	if (!images->raw && text_equal(disk->format, "raw"))
		images->raw = policy;
	printf("%s: made %s, %s\n", job->guest->name, disk->shown, policy->size.text);
	*append(images->made, images->count) = (struct made){
		.path = source->path ? xstrdup(source->path) : NULL,
		.pool = source->pool ? xstrdup(source->pool) : NULL,
		.volume = source->volume ? xstrdup(source->volume) : NULL,
	};
	return true;
}

/* Does what is decided of each, once it is known of all that none is refused. IMAGES
 * NULL: nothing is made. */
static bool for_all(struct conform *conform, struct images *images)
{
	struct job *job = &conform->job;
	const struct policy_disk *policies = job->policy->disks.items;
	size_t count = job->policy->disks.count;
	cleanup_free struct data_disk *disks = xcalloc(count, sizeof(*disks));
	cleanup_free enum provision *what = xcalloc(count, sizeof(*what));
	bool good = true;

	for (size_t i = 0; i < count; i++) {
		data_disk_init(&disks[i], &policies[i], job->guest);
		what[i] = decide(conform, &disks[i]);
		good &= what[i] != PROVISION_REFUSE;
	}
	for (size_t i = 0; images && good && i < count; i++)
		good = what[i] != PROVISION_MAKE || make(conform, &disks[i], images);
	for (size_t i = 0; i < count; i++)
		data_disk_done(&disks[i]);
	return good;
}

bool images_check(struct conform *conform)
{
	return for_all(conform, NULL);
}

bool images_make(struct conform *conform, struct images *ret)
{
	*ret = (struct images){ .connection = conform->connection };
	interrupt_hold(&ret->before);
	bool good = for_all(conform, ret) && !interrupt_waits();
	if (!good)
		images_drop(ret);
	return good;
}

void images_drop(struct images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		const struct made *made = &images->made[i];

		if (made->path)
			image_remove(made->path);
		else
			volume_remove(images->connection, made->pool, made->volume);
	}
}

void images_done(struct images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		free(images->made[i].path);
		free(images->made[i].pool);
		free(images->made[i].volume);
	}
	free(images->made);
	interrupt_release(&images->before);
}

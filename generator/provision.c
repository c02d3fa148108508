/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a policy's data disk. */
#include <inttypes.h>

#include "base/size.h"
#include "base/text.h"
#include "guest/records.h"
#include "provision.h"

enum { QCOW2_SHARE = 4096, QCOW2_LEAST = 1 << 20 };

static const char *name_of(const struct data_disk *disk)
{
	return disk->policy->name.text;
}

void provision_say_lost(const char *disk, const char *path, const char *guest,
			struct place place, struct diag *diag)
{
	diag_error(diag, place, "disk",
		   "disk %s was made for guest %s, and %s is not there: is its file "
		   "system mounted? If its data are lost, `virsh metadata %s " RECORDS_NS
		   " --remove --config` forgets it, and `vmgen apply %s` then makes a "
		   "blank one",
		   disk, guest, path, guest, guest);
}

static enum provision missing(const struct data_disk *disk, const char *guest,
			      struct diag *diag)
{
	struct place place = disk->policy->place;

	if (disk->record) {
		provision_say_lost(name_of(disk), disk->shown, guest, place, diag);
		return PROVISION_REFUSE;
	}
	if (data_disk_in_place(disk, guest))
		return PROVISION_MAKE;
	diag_error(diag, place, "disk",
		   "disk %s: the definition of guest %s says %s, which is not there; put "
		   "it back, or take it out of the definition and one is made where the "
		   "policy says",
		   name_of(disk), guest, disk->shown);
	return PROVISION_REFUSE;
}

static bool is_as_asked(const struct data_disk *disk, const struct image_seen *seen,
			struct diag *diag)
{
	const struct policy_disk *asked = disk->policy;
	cleanup_free char *size = size_format(seen->size);

	if (!text_equal(disk->read_as, disk->format)) {
		diag_error(diag,
			   given(&asked->format) ? asked->format.place : asked->place,
			   "disk",
			   "disk %s: %s is %s, the policy says %s; say format: %s, or "
			   "convert it with qemu-img",
			   name_of(disk), disk->shown, disk->read_as, disk->format,
			   disk->read_as);
		return false;
	}
	if (seen->size >= asked->size.number)
		return true;
	diag_error(diag, asked->size.place, "disk",
		   "disk %s: %s has %s, the policy asks for %s, and a disk that is there "
		   "is never changed; enlarge it with qemu-img resize while the guest is "
		   "off, or ask for less",
		   name_of(disk), disk->shown, size, asked->size.text);
	return false;
}

enum provision provision_decide(const struct data_disk *disk,
				const struct image_seen *seen, const char *guest,
				struct diag *diag)
{
	if (!seen->exists)
		return missing(disk, guest, diag);
	if (disk->record || disk->has)
		return is_as_asked(disk, seen, diag) ? PROVISION_KEEP : PROVISION_REFUSE;
	diag_error(diag, disk->policy->place, "disk",
		   "disk %s: %s is there and was not made for guest %s, so it is left "
		   "alone; move it away, or add it to the guest with <alias name='%s'/> "
		   "if it is this guest's",
		   name_of(disk), disk->shown, guest, disk->alias);
	return PROVISION_REFUSE;
}

static bool says(const struct value *value, const char *word)
{
	return given(value) && text_equal(value->text, word);
}

/* What qemu-img allocates at once, at most: of qcow2 8 bytes in each 64 KiB for the
 * mapping and 2 for the reference count. Source: QEMU, docs/interop/qcow2.txt. */
static uint64_t taken_at_once(const struct policy_disk *disk)
{
	const struct value *preallocation = &disk->preallocation;
	uint64_t tables = says(&disk->format, "qcow2")
				  ? disk->size.number / QCOW2_SHARE + QCOW2_LEAST
				  : 0;

	if (!given(preallocation) || says(preallocation, "off"))
		return 0;
	return says(preallocation, "metadata") ? tables : disk->size.number + tables;
}

bool provision_fits(const struct policy_disk *disk, const struct image_room *room,
		    struct diag *diag)
{
	uint64_t taken = taken_at_once(disk);
	cleanup_free char *free_space = size_format(room->free);

	if (taken > room->free)
		diag_error(diag, disk->size.place, "disk",
			   "disk %s: %s are allocated at once (preallocation: %s), and "
			   "%s has %s free",
			   disk->name.text, disk->size.text, disk->preallocation.text,
			   room->in, free_space);
	else if (disk->size.number > room->free)
		diag_warning(diag, disk->size.place, "disk",
			     "disk %s: it may grow to %s, and %s has %s free: when that "
			     "is full the guest's writes fail",
			     disk->name.text, disk->size.text, room->in, free_space);
	return taken <= room->free;
}

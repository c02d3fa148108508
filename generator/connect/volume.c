/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes of libvirt's storage pools. */
#include <inttypes.h>

#include "base/text.h"
#include "connect/handle.h"
#include "connect/volume.h"

/* NULL and a report; virStoragePoolFree(). */
static virStoragePoolPtr find_pool(struct connection *connection, const char *name,
				   struct diag *diag)
{
	const struct libvirt *libvirt = &connection->libvirt;
	virStoragePoolPtr pool = libvirt->virStoragePoolLookupByName(connection->handle,
								     name);

	if (!pool)
		libvirt_report(libvirt, diag, "storage pool %s cannot be used", name);
	return pool;
}

static bool look(const struct libvirt *libvirt, virStoragePoolPtr pool, const char *name,
		 struct image_seen *ret_seen, uint64_t *ret_free)
{
	virStoragePoolInfo room;
	virStorageVolInfo info;

	if (libvirt->virStoragePoolRefresh(pool, 0) < 0 ||
	    libvirt->virStoragePoolGetInfo(pool, &room) < 0)
		return false;
	virStorageVolPtr volume = libvirt->virStorageVolLookupByName(pool, name);
	bool good = !volume || libvirt->virStorageVolGetInfo(volume, &info) == 0;
	if (good) {
		*ret_seen = (struct image_seen){ volume, volume ? info.capacity : 0 };
		*ret_free = room.available;
	}
	if (volume)
		libvirt->virStorageVolFree(volume);
	return good;
}

bool volume_look(struct connection *connection, const char *pool, const char *name,
		 struct image_seen *ret_seen, uint64_t *ret_free, struct diag *diag)
{
	const struct libvirt *libvirt = &connection->libvirt;
	virStoragePoolPtr handle = find_pool(connection, pool, diag);

	if (!handle)
		return false;
	bool good = look(libvirt, handle, name, ret_seen, ret_free);
	if (!good)
		libvirt_report(libvirt, diag, "storage pool %s cannot be looked at",
			       pool);
	libvirt->virStoragePoolFree(handle);
	return good;
}

static bool says(const struct value *value, const char *word)
{
	return given(value) && text_equal(value->text, word);
}

/* falloc and full are one to libvirt: as much is allocated as the disk is large. */
static char *volume_xml(const char *name, const struct policy_disk *disk,
			const struct image_owner *owner)
{
	const struct value *preallocation = &disk->preallocation;
	bool whole = says(preallocation, "falloc") || says(preallocation, "full");
	cleanup_free char *escaped = text_escape_xml(name);
	cleanup_free char *whose = owner->known ? xasprintf("<owner>%u</owner>"
							    "<group>%u</group>",
							    owner->user, owner->group)
						: xstrdup("");

	return xasprintf("<volume><name>%s</name>"
			 "<capacity unit='bytes'>%" PRIu64 "</capacity>"
			 "<allocation unit='bytes'>%" PRIu64 "</allocation>"
			 "<target><format type='%s'/>"
			 "<permissions><mode>0600</mode>%s</permissions>"
			 "</target></volume>",
			 escaped, disk->size.number, whole ? disk->size.number : 0,
			 given(&disk->format) ? disk->format.text : "raw", whose);
}

bool volume_make(struct connection *connection, const char *pool, const char *name,
		 const struct policy_disk *disk, const struct image_owner *owner,
		 struct diag *diag)
{
	const struct libvirt *libvirt = &connection->libvirt;
	virStoragePoolPtr handle = find_pool(connection, pool, diag);
	cleanup_free char *xml = volume_xml(name, disk, owner);
	unsigned flags = says(&disk->preallocation, "metadata")
				 ? VIR_STORAGE_VOL_CREATE_PREALLOC_METADATA
				 : 0;

	if (!handle)
		return false;
	virStorageVolPtr volume = libvirt->virStorageVolCreateXML(handle, xml, flags);
	if (volume)
		libvirt->virStorageVolFree(volume);
	else
		libvirt_report(libvirt, diag, "volume %s of pool %s cannot be made", name,
			       pool);
	libvirt->virStoragePoolFree(handle);
	return volume;
}

void volume_remove(struct connection *connection, const char *pool, const char *name)
{
	const struct libvirt *libvirt = &connection->libvirt;
	cleanup_diag struct diag quiet = DIAG_INIT;
	virStoragePoolPtr handle = find_pool(connection, pool, &quiet);
	virStorageVolPtr volume = handle ? libvirt->virStorageVolLookupByName(handle,
									      name)
					 : NULL;

	if (volume) {
		libvirt->virStorageVolDelete(volume, VIR_STORAGE_VOL_DELETE_NORMAL);
		libvirt->virStorageVolFree(volume);
	}
	if (handle)
		libvirt->virStoragePoolFree(handle);
}

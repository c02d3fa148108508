/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The claims, and what libvirt and QEMU need of the machine. */
#include <inttypes.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/size.h"
#include "base/text.h"
#include "cli/checkup.h"
#include "connect/connect.h"
#include "machine/ledger.h"

static void check_claims(struct checkup *checkup)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	struct stat status;

	if (lstat(ledger_here.directory, &status)) {
		checkup_ok("claims", "%s is made when the first guest starts",
			   ledger_here.directory);
		return;
	}
	if (!S_ISDIR(status.st_mode) || status.st_uid != 0 || status.st_mode & 022) {
		checkup_error(
			checkup, "claims",
			"%s is not a directory of root's that nobody else may write "
			"to, so no guest with a policy starts; remove it",
			ledger_here.directory);
		return;
	}
	cleanup_claims struct claims *claims = ledger_look(&ledger_here, &diag);
	if (!checkup_diag(checkup, "claims", &diag) && claims)
		checkup_ok("claims", "%zu guest%s", claims->count,
			   claims->count == 1 ? "" : "s");
	for (size_t i = 0; claims && i < claims->count; i++)
		if (claims->items[i].failure)
			checkup_warning("claims", "guest %s: %s", claims->items[i].name,
					claims->items[i].failure);
}

static void check_libvirt(struct checkup *checkup)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_connection struct connection *connection = connect_open("qemu:///system",
									true, &diag);

	if (!checkup_diag(checkup, "libvirt", &diag) && connection)
		checkup_ok("libvirt", "it answers");
}

/* The page size of a hugetlbfs as its mount options say it; 0: they do not. */
static uint64_t mounted_size(const struct mntent *mount)
{
	const char *option = hasmntopt(mount, "pagesize");
	const char *equals = option ? strchr(option, '=') : NULL;
	cleanup_free char *text = equals ? xstrndup(equals + 1, strcspn(equals + 1, ","))
					 : NULL;
	uint64_t bytes = 0;

	return text && size_parse(text, &bytes, NULL) ? bytes : 0;
}

static bool is_mounted(uint64_t size)
{
	FILE *mounts = setmntent("/proc/mounts", "r");
	bool found = false;
	struct mntent *mount;

	while (mounts && (mount = getmntent(mounts)))
		found |= text_equal(mount->mnt_type, "hugetlbfs") &&
			 mounted_size(mount) == size;
	if (mounts)
		endmntent(mounts);
	return found;
}

static void check_hugepages(const struct host_pages *pages)
{
	cleanup_free char *size = size_format(pages->size);

	if (is_mounted(pages->size))
		checkup_ok("hugepages", "a hugetlbfs of %s is mounted", size);
	else
		checkup_warning("hugepages",
				"there are pages of %s, but no hugetlbfs of them is "
				"mounted; mount -t hugetlbfs -o pagesize=%" PRIu64
				"K none /dev/hugepages-%" PRIu64 "K, and restart libvirt",
				size, pages->size / KIB, pages->size / KIB);
}

/* Each size once, of the first node that has such pages. */
static bool seen_before(const struct host *host, size_t node, uint64_t size)
{
	for (size_t i = 0; i < node; i++)
		for (size_t j = 0; j < host->nodes[i].n_pages; j++)
			if (host->nodes[i].pages[j].size == size &&
			    host->nodes[i].pages[j].total)
				return true;
	return false;
}

void checkup_machine(struct checkup *checkup)
{
	const struct host *host = checkup->host;

	check_libvirt(checkup);
	check_claims(checkup);
	for (size_t i = 0; host && i < host->n_nodes; i++)
		for (size_t j = 0; j < host->nodes[i].n_pages; j++) {
			const struct host_pages *pages = &host->nodes[i].pages[j];

			if (pages->total && !seen_before(host, i, pages->size))
				check_hugepages(pages);
		}
}

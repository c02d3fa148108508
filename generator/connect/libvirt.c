/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libvirt's client library, resolved when a command first needs it. */
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>

#include "connect/libvirt.h"

#define SONAME "libvirt.so.0"

#define ROW(function)                                                           \
	{                                                                       \
		.name = #function, .offset = offsetof(struct libvirt, function) \
	}

static const struct {
	const char *name;
	size_t offset;
} rows[] = {
	ROW(virInitialize),
	ROW(virGetLastError),
	ROW(virSetErrorFunc),
	ROW(virConnectOpenAuth),
	ROW(virConnectAuthPtrDefault),
	ROW(virConnectClose),
	ROW(virConnectGetURI),
	ROW(virConnectGetCapabilities),
	ROW(virConnectListAllDomains),
	ROW(virDomainLookupByName),
	ROW(virDomainLookupByUUIDString),
	ROW(virDomainFree),
	ROW(virDomainGetName),
	ROW(virDomainGetUUIDString),
	ROW(virDomainIsActive),
	ROW(virDomainIsPersistent),
	ROW(virDomainGetJobInfo),
	ROW(virDomainHasManagedSaveImage),
	ROW(virDomainListAllSnapshots),
	ROW(virDomainSnapshotFree),
	ROW(virDomainGetXMLDesc),
	ROW(virDomainDefineXMLFlags),
	ROW(virDomainCreate),
	ROW(virDomainPinVcpuFlags),
	ROW(virDomainPinEmulator),
	ROW(virDomainPinIOThread),
	ROW(virStoragePoolLookupByName),
	ROW(virStoragePoolRefresh),
	ROW(virStoragePoolGetInfo),
	ROW(virStoragePoolFree),
	ROW(virStorageVolLookupByName),
	ROW(virStorageVolGetInfo),
	ROW(virStorageVolCreateXML),
	ROW(virStorageVolDelete),
	ROW(virStorageVolFree),
};

_Static_assert(ARRAY_SIZE(rows) * sizeof(void *) == sizeof(struct libvirt),
	       "a function is missing in the table");

static bool resolve(void *library, struct libvirt *libvirt, struct diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		void *found = dlsym(library, rows[i].name);

		if (!found) {
			diag_error(diag, NOWHERE, NULL,
				   "this libvirt's client library is too old: it has no "
				   "%s",
				   rows[i].name);
			return false;
		}
		/* POSIX has dlsym() yield functions as data */
		memcpy((char *)libvirt + rows[i].offset, &found, sizeof(found));
	}
	return true;
}

/* What libvirt says goes where we say; by itself it prints to stderr. */
static void quiet(void *context, virErrorPtr error)
{
	(void)context;
	(void)error;
}

bool libvirt_load(struct libvirt *ret_libvirt, struct diag *diag)
{
	struct libvirt table = { .virInitialize = NULL };
	void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		diag_error(diag, NOWHERE, NULL,
			   "libvirt's client library cannot be loaded (%s); install the "
			   "package that has it (libvirt0, libvirt-libs)",
			   dlerror());
		return false;
	}
	if (!resolve(library, &table, diag))
		return false;
	if (table.virInitialize() < 0) {
		libvirt_report(&table, diag, "libvirt cannot be used");
		return false;
	}
	table.virSetErrorFunc(NULL, quiet);
	*ret_libvirt = table;
	return true;
}

void libvirt_report(const struct libvirt *libvirt, struct diag *diag, const char *what,
		    ...)
{
	virErrorPtr error = libvirt->virGetLastError();
	char tried[512];
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(tried, sizeof(tried), what, arguments);
	va_end(arguments);
	diag_error(diag, NOWHERE, NULL, "%s: %s", tried,
		   error && error->message ? error->message : "libvirt does not say why");
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection to libvirt, and the guests that it knows. */
#include <string.h>

#include "base/text.h"
#include "connect/handle.h"

void connect_close(struct connection *connection)
{
	if (!connection)
		return;
	if (connection->handle)
		connection->libvirt.virConnectClose(connection->handle);
	free(connection);
}

void connect_close_pointer(struct connection **connection)
{
	connect_close(*connection);
}

struct connection *connect_open(const char *uri, bool read_only, struct diag *diag)
{
	cleanup_connection struct connection *connection = xcalloc(1,
								   sizeof(*connection));
	const struct libvirt *libvirt = &connection->libvirt;

	if (!libvirt_load(&connection->libvirt, diag))
		return NULL;
	connection->handle = libvirt->virConnectOpenAuth(
		uri, *libvirt->virConnectAuthPtrDefault, read_only ? VIR_CONNECT_RO : 0);
	if (!connection->handle) {
		libvirt_report(libvirt, diag, "libvirt%s%s cannot be reached",
			       uri ? " at " : "", uri ? uri : "");
		return NULL;
	}
	return take(connection);
}

bool connect_is_here(const struct connection *connection)
{
	char *uri = connection->libvirt.virConnectGetURI(connection->handle);
	const char *server = uri ? strstr(uri, "://") : NULL;
	bool here = server && server[3] == '/' && text_starts(uri, "qemu");

	free(uri);
	return here;
}

/* What libvirt's QEMU driver calls its state directory. */
static char *state_directory(const char *uri)
{
	const char *root = strstr(uri, "?root=");
	const char *user = getenv("XDG_RUNTIME_DIR");

	if (strstr(uri, ":///embed") && root)
		return xasprintf("%s/run/qemu", root + strlen("?root="));
	if (strstr(uri, ":///session"))
		return xasprintf("%s/libvirt/qemu/run", user ? user : "");
	return xstrdup("/run/libvirt/qemu");
}

char *connect_pid_file(const struct connection *connection, const char *name)
{
	char *uri = connection->libvirt.virConnectGetURI(connection->handle);
	cleanup_free char *directory = state_directory(uri ? uri : "");

	free(uri);
	return xasprintf("%s/%s.pid", directory, name);
}

char *connect_capabilities(struct connection *connection, struct diag *diag)
{
	char *xml = connection->libvirt.virConnectGetCapabilities(connection->handle);

	if (!xml)
		libvirt_report(&connection->libvirt, diag,
			       "libvirt does not describe the host");
	return xml;
}

/* Takes HANDLE. */
static struct domain *domain_new(struct connection *connection, virDomainPtr handle)
{
	struct domain *domain = xcalloc(1, sizeof(*domain));

	domain->libvirt = &connection->libvirt;
	domain->handle = handle;
	domain->name = domain->libvirt->virDomainGetName(handle);
	domain->libvirt->virDomainGetUUIDString(handle, domain->uuid);
	return domain;
}

struct domain *connect_find(struct connection *connection, const char *guest,
			    struct diag *diag)
{
	const struct libvirt *libvirt = &connection->libvirt;
	virDomainPtr handle = libvirt->virDomainLookupByName(connection->handle, guest);

	if (!handle)
		handle = libvirt->virDomainLookupByUUIDString(connection->handle, guest);
	if (handle)
		return domain_new(connection, handle);
	diag_error(diag, NOWHERE, NULL,
		   "libvirt knows no guest '%s'; `virsh list --all` lists them", guest);
	return NULL;
}

struct domain *connect_find_uuid(struct connection *connection, const char *uuid,
				 struct diag *diag)
{
	virDomainPtr handle = connection->libvirt.virDomainLookupByUUIDString(
		connection->handle, uuid);

	if (handle)
		return domain_new(connection, handle);
	diag_error(diag, NOWHERE, NULL, "libvirt knows no guest %s any more", uuid);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	struct domain *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

bool connect_all(struct connection *connection, struct domain ***ret_domains,
		 size_t *ret_count, struct diag *diag)
{
	virDomainPtr *handles = NULL;
	int count = connection->libvirt.virConnectListAllDomains(connection->handle,
								 &handles, 0);

	if (count < 0) {
		libvirt_report(&connection->libvirt, diag, "the guests cannot be listed");
		return false;
	}
	struct domain **domains = xcalloc((size_t)count, sizeof(struct domain *));
	for (int i = 0; i < count; i++)
		domains[i] = domain_new(connection, handles[i]);
	free(handles);
	qsort(domains, (size_t)count, sizeof(*domains), by_name);
	*ret_domains = domains;
	*ret_count = (size_t)count;
	return true;
}

bool connect_define(struct connection *connection, const char *xml, struct diag *diag)
{
	const struct libvirt *libvirt = &connection->libvirt;
	virDomainPtr handle = libvirt->virDomainDefineXMLFlags(
		connection->handle, xml, VIR_DOMAIN_DEFINE_VALIDATE);

	if (!handle) {
		libvirt_report(libvirt, diag, "libvirt refuses the new definition");
		return false;
	}
	libvirt->virDomainFree(handle);
	return true;
}

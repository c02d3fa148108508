/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libvirt's client library, resolved when a command first needs it: loading it costs
 * 12 ms, and most of vmgen does without. Only connect/ sees this.
 */
#ifndef VMGEN_CONNECT_LIBVIRT_H
#define VMGEN_CONNECT_LIBVIRT_H

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "base/diag.h"

/* libvirt.virDomainCreate(domain), as if it were linked. */
struct libvirt {
	__typeof__(&virInitialize) virInitialize;
	__typeof__(&virGetLastError) virGetLastError;
	__typeof__(&virSetErrorFunc) virSetErrorFunc;
	__typeof__(&virConnectOpenAuth) virConnectOpenAuth;
	__typeof__(&virConnectAuthPtrDefault) virConnectAuthPtrDefault;
	__typeof__(&virConnectClose) virConnectClose;
	__typeof__(&virConnectGetURI) virConnectGetURI;
	__typeof__(&virConnectGetCapabilities) virConnectGetCapabilities;
	__typeof__(&virConnectListAllDomains) virConnectListAllDomains;
	__typeof__(&virDomainLookupByName) virDomainLookupByName;
	__typeof__(&virDomainLookupByUUIDString) virDomainLookupByUUIDString;
	__typeof__(&virDomainFree) virDomainFree;
	__typeof__(&virDomainGetName) virDomainGetName;
	__typeof__(&virDomainGetUUIDString) virDomainGetUUIDString;
	__typeof__(&virDomainIsActive) virDomainIsActive;
	__typeof__(&virDomainIsPersistent) virDomainIsPersistent;
	__typeof__(&virDomainGetJobInfo) virDomainGetJobInfo;
	__typeof__(&virDomainHasManagedSaveImage) virDomainHasManagedSaveImage;
	__typeof__(&virDomainListAllSnapshots) virDomainListAllSnapshots;
	__typeof__(&virDomainSnapshotFree) virDomainSnapshotFree;
	__typeof__(&virDomainGetXMLDesc) virDomainGetXMLDesc;
	__typeof__(&virDomainDefineXMLFlags) virDomainDefineXMLFlags;
	__typeof__(&virDomainCreate) virDomainCreate;
	__typeof__(&virDomainPinVcpuFlags) virDomainPinVcpuFlags;
	__typeof__(&virDomainPinEmulator) virDomainPinEmulator;
	__typeof__(&virDomainPinIOThread) virDomainPinIOThread;
	__typeof__(&virStoragePoolLookupByName) virStoragePoolLookupByName;
	__typeof__(&virStoragePoolRefresh) virStoragePoolRefresh;
	__typeof__(&virStoragePoolGetInfo) virStoragePoolGetInfo;
	__typeof__(&virStoragePoolFree) virStoragePoolFree;
	__typeof__(&virStorageVolLookupByName) virStorageVolLookupByName;
	__typeof__(&virStorageVolGetInfo) virStorageVolGetInfo;
	__typeof__(&virStorageVolCreateXML) virStorageVolCreateXML;
	__typeof__(&virStorageVolDelete) virStorageVolDelete;
	__typeof__(&virStorageVolFree) virStorageVolFree;
};

/* False and a report when the library is not installed, or is too old to have all. */
bool libvirt_load(struct libvirt *ret_libvirt, struct diag *diag);

/* Reports what libvirt said last, in one line: WHAT is what was tried, formatted, as
 * "guest db1 cannot be started". */
void libvirt_report(const struct libvirt *libvirt, struct diag *diag, const char *what,
		    ...) printf_like(3, 4);

#endif

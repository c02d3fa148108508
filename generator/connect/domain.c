/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One guest that libvirt knows: its definition, what it is at, its pins. */
#include "connect/handle.h"

void domain_free(struct domain *domain)
{
	if (!domain)
		return;
	domain->libvirt->virDomainFree(domain->handle);
	free(domain);
}

void domain_free_pointer(struct domain **domain)
{
	domain_free(*domain);
}

const char *domain_name(const struct domain *domain)
{
	return domain->name;
}

const char *domain_uuid(const struct domain *domain)
{
	return domain->uuid;
}

/* Drivers without jobs or snapshots refuse to be asked: then there are none. */
static bool has_job(struct domain *domain)
{
	virDomainJobInfo job;

	return domain->libvirt->virDomainGetJobInfo(domain->handle, &job) == 0 &&
	       job.type != VIR_DOMAIN_JOB_NONE;
}

static bool has_snapshots(struct domain *domain, unsigned kind)
{
	virDomainSnapshotPtr *snapshots = NULL;
	int count = domain->libvirt->virDomainListAllSnapshots(domain->handle, &snapshots,
							       kind);

	for (int i = 0; i < count; i++)
		domain->libvirt->virDomainSnapshotFree(snapshots[i]);
	free(snapshots);
	return count > 0;
}

bool domain_state(struct domain *domain, struct domain_state *ret_state,
		  struct diag *diag)
{
	const struct libvirt *libvirt = domain->libvirt;
	int active = libvirt->virDomainIsActive(domain->handle);
	int persistent = libvirt->virDomainIsPersistent(domain->handle);

	if (active < 0 || persistent < 0) {
		libvirt_report(libvirt, diag, "guest %s cannot be looked at",
			       domain->name);
		return false;
	}
	*ret_state = (struct domain_state){
		.active = active,
		.persistent = persistent,
		.busy = has_job(domain),
		.saved = libvirt->virDomainHasManagedSaveImage(domain->handle, 0) == 1,
		.snapshots = has_snapshots(domain, VIR_DOMAIN_SNAPSHOT_LIST_ACTIVE),
		.internal = has_snapshots(domain, VIR_DOMAIN_SNAPSHOT_LIST_INTERNAL),
	};
	return true;
}

char *domain_xml(struct domain *domain, enum domain_view view, struct diag *diag)
{
	unsigned flags = view == DOMAIN_DEFINITION
				 ? VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_SECURE
				 : 0;
	char *xml = domain->libvirt->virDomainGetXMLDesc(domain->handle, flags);

	if (!xml)
		libvirt_report(domain->libvirt, diag,
			       "the definition of guest %s cannot be read", domain->name);
	return xml;
}

bool domain_start(struct domain *domain, struct diag *diag)
{
	if (domain->libvirt->virDomainCreate(domain->handle) == 0)
		return true;
	libvirt_report(domain->libvirt, diag, "guest %s cannot be started", domain->name);
	return false;
}

/* A set as libvirt's calls take it: bytes, the lowest CPU in the lowest bit. */
struct map {
	unsigned char bytes[CPUSET_MAX / 8];
	int length;
};

static struct map map_of(const struct cpuset *cpus)
{
	struct map map = { .length = 0 };

	cpuset_foreach (cpu, cpus) {
		map.bytes[cpu / 8] |= (unsigned char)(1u << cpu % 8);
		map.length = (int)(cpu / 8 + 1);
	}
	return map;
}

static bool moves(const struct guest_pin *now, const struct guest_pin *wanted)
{
	return wanted->element &&
	       !(now->element && cpuset_equal(&now->cpus, &wanted->cpus));
}

/* Passes STATUS of a call on; THREAD is "vCPU 3". */
static bool moved(struct domain *domain, int status, const char *thread,
		  const struct guest_pin *wanted, struct diag *diag)
{
	cleanup_free char *cpus = cpuset_format(&wanted->cpus);

	if (status == 0)
		return true;
	libvirt_report(domain->libvirt, diag, "guest %s: %s cannot be moved to CPUs %s",
		       domain->name, thread, cpus);
	return false;
}

static bool pin_vcpu(struct domain *domain, unsigned vcpu, const struct guest_pin *wanted,
		     struct diag *diag)
{
	cleanup_free char *thread = xasprintf("vCPU %u", vcpu);
	struct map map = map_of(&wanted->cpus);
	int status = domain->libvirt->virDomainPinVcpuFlags(
		domain->handle, vcpu, map.bytes, map.length, VIR_DOMAIN_AFFECT_LIVE);

	return moved(domain, status, thread, wanted, diag);
}

static bool pin_emulator(struct domain *domain, const struct guest_pin *wanted,
			 struct diag *diag)
{
	struct map map = map_of(&wanted->cpus);
	int status = domain->libvirt->virDomainPinEmulator(
		domain->handle, map.bytes, map.length, VIR_DOMAIN_AFFECT_LIVE);

	return moved(domain, status, "the emulator", wanted, diag);
}

static bool pin_iothread(struct domain *domain, unsigned id,
			 const struct guest_pin *wanted, struct diag *diag)
{
	cleanup_free char *thread = xasprintf("I/O thread %u", id);
	struct map map = map_of(&wanted->cpus);
	int status = domain->libvirt->virDomainPinIOThread(
		domain->handle, id, map.bytes, map.length, VIR_DOMAIN_AFFECT_LIVE);

	return moved(domain, status, thread, wanted, diag);
}

static const struct guest_iothread *iothread_of(const struct guest *guest, unsigned id)
{
	for (size_t i = 0; i < guest->n_iothreads; i++)
		if (guest->iothreads[i].id == id)
			return &guest->iothreads[i];
	return NULL;
}

bool domain_pin(struct domain *domain, const struct guest *now,
		const struct guest *wanted, struct diag *diag)
{
	bool good = true;

	/* one that is not plugged in too: libvirt keeps the pin for when it is */
	for (unsigned i = 0; i < wanted->vcpus && i < now->vcpus; i++)
		if (moves(&now->vcpupin[i], &wanted->vcpupin[i]))
			good &= pin_vcpu(domain, i, &wanted->vcpupin[i], diag);
	if (moves(&now->emulatorpin, &wanted->emulatorpin))
		good &= pin_emulator(domain, &wanted->emulatorpin, diag);
	for (size_t i = 0; i < now->n_iothreads; i++) {
		const struct guest_iothread *has = &now->iothreads[i];
		const struct guest_iothread *gets = iothread_of(wanted, has->id);

		if (gets && moves(&has->pin, &gets->pin))
			good &= pin_iothread(domain, has->id, &gets->pin, diag);
	}
	return good;
}

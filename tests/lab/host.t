#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen host on a machine with two sockets, two nodes, SMT and devices on one node.
. "${0%/*}/lab.sh"

lab_begin
is "$("$VMGEN" host --host "$TMP/lab.yaml")" "$(cat "$TMP/lab.yaml")" \
	"reads back what it said"

# told KEY...: what it said, line by line.
told() { grep -E "$1" "$TMP/lab.yaml" | sed 's/^ *//'; }

is "$(told cpus:; told cores:)" "cpus:
cpus:
- {package: 0, l3: 0, cores: 0+1 2+3}
- {package: 1, l3: 1, cores: 4+5 6+7}" "packages, L3 domains and siblings"
is "$(told distances:)" "distances: [10, 21]
distances: [21, 10]" "distances"
is "$(told 'size: 2 MiB')" "- {size: 2 MiB, total: 0, free: 0}
- {size: 2 MiB, total: 160, free: 160}" "hugepages on node 1 only"
is "$(told 'memory:' | tr -dc '0-9\n')" \
	"$(sed -n 's/.*MemTotal: *\([0-9]*\).*/\1/p' "$NODE"/node[01]/meminfo)" "memory of the nodes"
is "$(told 'kind: (nvme|nic)' | sed 's/pci: [^,]*, //')" \
	"- {kind: nvme, node: 1, names: [nvme0n1], mounts: [/var/lib/libvirt/images]}
- {kind: nic, node: 1, names: [eth0]}" "the drive, with its mount, and the NIC are on node 1"
is "$(told '^(machine|arch|isolated|libvirt|qemu):')" "machine: lab
arch: x86_64
libvirt: $(libvirtd --version | grep -oE '[0-9.]+$')
qemu: $(qemu-system-x86_64 --version | grep -oE '[0-9]+\.[0-9.]+' | head -n 1)
isolated: none" "name, architecture and versions"

virsh capabilities >"$TMP/capabilities.xml"
is "$("$VMGEN" host --host "$TMP/capabilities.xml" | grep -E 'cpus:|cores:|distances:')" \
	"$(grep -E 'cpus:|cores:|distances:' "$TMP/lab.yaml")" "libvirt says the same of it"
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hook and vhost-user sockets: what libvirt starts without traffic, or hangs in for ever,
# is refused before it starts, and its near relation starts. The switch is a stub.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system
ok "the hook is there" hook_begin
mkdir /run/vhost

shared="<memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>"
policy net <<<'description: says nothing of the network'
vswitch() { printf 'host: h\nvswitch: {kind: %s%s}\n' "$1" "${2:-}" >/etc/vmgen/host.yaml; }

# net NAME MODE [IN_SOURCE [DRIVER [DOMAIN]]]: a guest with an interface on NAME.sock.
net() {
	define "net-$1" "${5-$shared}<vcpu>4</vcpu>" "<interface type='vhostuser'>
		<source type='unix' path='/run/vhost/$1.sock' mode='$2'>${3:-}</source>
		<model type='virtio'/>${4:+<driver $4/>}</interface>"
}

# peer listen|connect NAME QUEUES: the switch's end, until peers_end.
PEERS=()
peer() {
	"$O/tests/libvirt/vhost-peer" "$1" "/run/vhost/$2.sock" "$3" >/dev/null 2>&1 &
	PEERS+=($!)
	[ "$1" = connect ] || within 10 test -S "/run/vhost/$2.sock"
}
peers_end() {
	kill "${PEERS[@]}"
	wait "${PEERS[@]}"
	PEERS=()
} 2>/dev/null

# starts NAME TEXT: and stops again.
starts() {
	ok "$2" virsh start "net-$1" && virsh destroy "net-$1"
}

# The guest is the client.
vswitch dpdk ', max_queues: 2'
reconnect="<reconnect enabled='yes' timeout='1'/>"
net client client
net again client "$reconnect"
refused net-client 'nothing listens on /run/vhost/client.sock.*start the switch' \
	"nobody listens, no reconnect"
refused net-again 'nothing listens on /run/vhost/again.sock' \
	"... with reconnect, where libvirt waits for ever"
peer listen client 2
peer listen again 2
starts client "the switch listens"
starts again "... with reconnect, too"
peers_end
ok "the dead switch left its socket" test -S /run/vhost/again.sock
refused net-again 'nothing listens' "... on which nobody listens any more"

# The same socket by another path, and of a container.
rm -f /run/vhost/*
ln -s vhost /run/linked
sed 's|/run/vhost|/run/linked|' <(virsh dumpxml --inactive net-client) |
	virsh define /dev/stdin >/dev/null
peer listen client 2
starts client "through a symbolic link"
peers_end
rm -f /run/vhost/*
unshare -n "$O/tests/libvirt/vhost-peer" listen /run/vhost/again.sock 2 &
PEERS+=($!)
within 10 test -S /run/vhost/again.sock
starts again "of a switch in a network namespace of its own"
peers_end
rm -f /run/vhost/*

# The queues of a port.
net three client '' "queues='3'"
net two client '' "queues='2'"
peer listen three 2
peer listen two 2
refused net-three '3 queues, but the switch takes 2' "a queue more than a port has hangs"
starts two "... as many as it has do not"

# Both ends are clients, or servers.
vswitch ovs ', port: dpdkvhostuserclient'
refused net-two "ports are dpdkvhostuserclient: both ends connect and neither listens" \
	"the port is a client, too"
vswitch ovs ', port: dpdkvhostuser'
starts two "... a server"
net server server
refused net-server "both ends listen and neither connects" "the guest and the port listen"

# A guest that is the server waits.
vswitch ovs ', port: dpdkvhostuserclient'
peer connect server 2
starts server "the switch connects"
ok "... and for what it waited is in the log" logged \
	'net-server: the start waits until Open vSwitch \(a port of type dpdkvhostuserclient\) connects to /run/vhost/server.sock'
ok "... which is silent on clients" \
	test "$(grep -c 'the start waits until' /var/log/syslog)" = 1

# Memory that the switch cannot reach.
vswitch dpdk
net private client '' '' ''
peer listen private 2
refused net-private 'needs shared memory' "without shared memory no packet passes"
echo 'enforce_at_most: report' >>/etc/vmgen/host.yaml
starts private "... with enforce report it starts"
ok "... and the log says so" logged 'net-private: .*needs shared memory'

# Disks of the same kind.
vswitch dpdk
define net-disk "$shared" "<disk type='vhostuser' device='disk'><driver name='qemu' type='raw'/>
	<source type='unix' path='/run/vhost/disk.sock'>$reconnect</source>
	<target dev='vdb' bus='virtio'/></disk>"
refused net-disk 'nothing listens on /run/vhost/disk.sock' "a disk's socket without a listener"

# What the policy itself brings, beside NICs of each kind.
policy zero <<-'END2'
	memoryBacking: {hugepages: 2 MiB}
	interfaces:
	  - name: net0
	    type: vhostuser
	    source: {path: "/run/vhost/{guest}-{name}.sock", mode: client}
	    reconnect: 10
	    zero_copy: {backend: dpdk, version: "19.11.5"}
END2
pci=/sys/bus/pci/devices
mount -t tmpfs none $pci
for nic in 0000:01:00.0 0000:02:00.0; do
	mkdir -p $pci/$nic/iommu_group
	ln -s ../../../bus/pci/drivers/vfio-pci $pci/$nic/driver
done
echo vfio-noiommu >$pci/0000:02:00.0/iommu_group/name
define zero-1
pages 16 || daemon_end "16 hugepages of 2 MiB are there"
vswitch dpdk ', nics: ["0000:02:00.0", "0000:01:00.0"]'
refused zero-1 'NIC 0000:01:00.0 is on vfio-pci with an IOMMU' "zero-copy and a NIC behind an IOMMU"
vswitch dpdk ', nics: ["0000:02:00.0"]'
refused zero-1 'being brought up to policy zero' "... in no-IOMMU mode"
idle
refused zero-1 'nothing listens on /run/vhost/zero-1-net0.sock' "it has its interface now"
peer listen zero-1-net0 2
ok "... and starts with its switch" virsh start zero-1
virsh destroy zero-1

# A fault that the policy mends is no reason to leave the definition as it is.
policy mended <<-'END2'
	memoryBacking: {source: memfd}
	interfaces:
	  - name: net0
	    type: vhostuser
	    source: {path: "/run/vhost/{guest}.sock", mode: server}
END2
define mended-1 '' "<interface type='vhostuser'>
	<source type='unix' path='/run/vhost/mended-1.sock' mode='client'/><model type='virtio'/>
	</interface>"
refused mended-1 'being brought up to policy mended' "the wrong end and private memory"
idle
peer connect mended-1 2
ok "... are mended" virsh start mended-1
virsh destroy mended-1
umount $pci
peers_end
daemon_end

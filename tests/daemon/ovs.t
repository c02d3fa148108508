#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest that vmgen made, server of its socket, against Open vSwitch with DPDK, whose
# port the companion made: the packets with which its boot ROM asks for an address arrive.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
OVS=/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
need ovsdb-server ovsdb-tool ovs-vsctl "$OVS"
[ -e /usr/lib/ipxe/qemu/pxe-virtio.rom ] ||
	lacks "needs a boot ROM for virtio (package ipxe-qemu)"
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system
pages 64 || daemon_end "64 hugepages of 2 MiB are there"

mkdir /etc/vmgen/policies /run/vhost /run/openvswitch
export OVS_RUNDIR=/run/openvswitch
version=$("$OVS" --version | sed -nE 's/.*Open vSwitch\) ([0-9.]+).*/\1/p')
cat >/etc/vmgen/host.yaml <<-END2
	host: here
	housekeeping_cpus: 0
	vswitch: {kind: ovs, version: "$version", pmd_cpus: 1, port: dpdkvhostuserclient}
END2
cat >/etc/vmgen/policies/net.yaml <<-END2
	policy: net
	match: {name: ["net-*"]}
	memoryBacking: {source: memfd, access: shared}
	interfaces:
	  - name: net0
	    type: vhostuser
	    source: {path: "/run/vhost/{guest}-{name}.sock", mode: server}
	    rx_queue_size: 1024
	    tx_queue_size: 1024
END2

schema=/usr/share/openvswitch/vswitch.ovsschema
ovsdb-tool create "$DIR/conf.db" $schema
spawn ovsdb-server --remote=punix:$OVS_RUNDIR/db.sock "$DIR/conf.db"
within 20 ovs-vsctl --no-wait --timeout=5 init 2>/dev/null
ovs-vsctl --no-wait set Open_vSwitch . other_config:dpdk-init=true \
	other_config:dpdk-extra="--no-pci --in-memory" other_config:dpdk-socket-mem=64
setsid "$OVS" unix:$OVS_RUNDIR/db.sock >"$DIR/ovs.log" 2>&1 </dev/null &
SWITCH=$!
initialized() { [ "$(ovs-vsctl --timeout=5 get Open_vSwitch . dpdk_initialized)" = true ]; }
ok "Open vSwitch $version with DPDK runs" within 60 initialized

guest net-0 | sed "s|hvm</type>|&<boot dev='network'/>|" | virsh define /dev/stdin
ok "the guest is brought to its policy" "$VMGEN" apply --companion "$DIR/companions" net-0
script=$DIR/companions/net-0.ovs-vsctl.sh
ok "Open vSwitch accepts the companion" timeout 60 sh "$script" br9
ok "... and again" timeout 60 sh "$script" br9
is "$(ovs-vsctl list-ports br9) $(ovs-vsctl get Interface net-0-net0 type) $(ovs-vsctl get \
	Open_vSwitch . other_config:pmd-cpu-mask)" 'net-0-net0 dpdkvhostuserclient "0x2"' \
	"... with a port and its CPUs"
is "$(ovs-vsctl get Interface net-0-net0 options:vhost-server-path)" \
	'"/run/vhost/net-0-net0.sock"' "... at the guest's socket"
ok "the guest starts" virsh start net-0
received() { ovs-vsctl --timeout=5 get Interface net-0-net0 statistics:rx_packets; }
arrived() { [ "$(received)" -gt 0 ] 2>/dev/null; }
ok "... and its packets arrive" within 120 arrived || tail -n 20 "$DIR/ovs.log" | sed 's/^/#   /'
note "rx_packets: $(received)"
virsh destroy net-0 >/dev/null
kill "$SWITCH"
daemon_end

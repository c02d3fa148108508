#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest that vmgen made against DPDK's testpmd, started by the companion's own command
# line: the packets with which its boot ROM asks for an address arrive there.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
need dpdk-testpmd
[ -e /usr/lib/ipxe/qemu/pxe-virtio.rom ] ||
	lacks "needs a boot ROM for virtio (package ipxe-qemu)"
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system

pages 64 || daemon_end "64 hugepages of 2 MiB are there"
mkdir /etc/vmgen/policies /run/vhost
printf 'host: here\nhousekeeping_cpus: 0\nvswitch: {kind: dpdk, max_queues: 8}\n' \
	>/etc/vmgen/host.yaml

# policy MODE: of guests net-MODE.
policy() {
	cat >"/etc/vmgen/policies/$1.yaml" <<-END2
		policy: $1
		match: {name: ["net-$1"]}
		memoryBacking: {source: memfd, access: shared}
		interfaces:
		  - name: net0
		    type: vhostuser
		    source: {path: "/run/vhost/{guest}-{name}.sock", mode: $1}
		    rx_queue_size: 256
		    tx_queue_size: 256
	END2
}

# packets: that testpmd has received, as it last said.
packets() { sed -nE 's/.*RX-packets: *([0-9]+).*/\1/p' "$DIR/testpmd.log" | tail -n 1; }
arrived() { [ "$(packets)" -gt 0 ] 2>/dev/null; }

peer() {
	TESTPMD_OPTIONS='--total-num-mbufs=4096 --forward-mode=macswap --stats-period=1' \
		setsid sh "$DIR/companions/$1.testpmd.sh" --no-pci --in-memory -m 64 \
		>"$DIR/testpmd.log" 2>&1 </dev/null &
	PEER=$!
}

for mode in client server; do
	guest=net-$mode
	policy $mode
	guest $guest | sed "s|hvm</type>|&<boot dev='network'/>|" | virsh define /dev/stdin
	ok "$mode: brought to its policy" "$VMGEN" apply --companion "$DIR/companions" $guest
	ok "... with a companion" test -x "$DIR/companions/$guest.testpmd.sh"
	peer $guest
	[ $mode = server ] || within 60 test -S "/run/vhost/$guest-net0.sock"
	ok "... starts with testpmd at the other end" virsh start $guest
	ok "... and its packets arrive" within 120 arrived
	note "RX-packets: $(packets)"
	arrived ||
		tail -n 20 "$DIR/testpmd.log" /var/log/libvirt/qemu/$guest.log | sed 's/^/#   /'
	virsh destroy $guest >/dev/null
	kill "$PEER"
	wait "$PEER"
	rm -f "$DIR/testpmd.log"
done

daemon_end

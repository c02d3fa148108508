#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests that vmgen made against DPDK's testpmd, started by the companion's own command line:
# the packets with which their boot ROM asks for an address arrive there.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
need dpdk-testpmd
[ -e /usr/lib/ipxe/qemu/pxe-virtio.rom ] ||
	lacks "needs a boot ROM for virtio (package ipxe-qemu)"
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system

pages 96 || daemon_end "96 hugepages of 2 MiB are there"
mkdir /etc/vmgen/policies /run/vhost
printf 'host: here\nhousekeeping_cpus: 0\nvswitch: {kind: dpdk, max_queues: 8}\n' \
	>/etc/vmgen/host.yaml

# policy MODE QUEUES MEMORY: of guests net-MODE-QUEUES.
policy() {
	cat >"/etc/vmgen/policies/$1-$2.yaml" <<-END2
		policy: $1-$2
		match: {name: ["net-$1-$2"]}
		memoryBacking: {$3}
		interfaces:
		  - name: net0
		    type: vhostuser
		    source: {path: "/run/vhost/{guest}-{name}.sock", mode: $1}
		    queues: auto
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

# reaches MODE QUEUES DOMAIN SHARED: a guest with as many vCPUs, in SHARED pieces of memory.
reaches() {
	local guest=net-$1-$2 log=/var/log/libvirt/qemu/net-$1-$2.log

	guest $guest "$3" | sed "s|hvm</type>|&<boot dev='network'/>|" | virsh define /dev/stdin
	ok "$1, $2 queues: brought to its policy" \
		"$VMGEN" apply --companion "$DIR/companions" $guest
	ok "... with a companion" test -x "$DIR/companions/$guest.testpmd.sh"
	peer $guest
	[ $1 = server ] || within 60 test -S "/run/vhost/$guest-net0.sock"
	ok "... starts with testpmd at the other end" virsh start $guest
	is "$(grep -o '"share":true' $log | wc -l) $(grep -c '"queues":2' $log)" "$4 $(($2 - 1))" \
		"... all of its memory is shared, its queues are $2"
	ok "... and its packets arrive" within 120 arrived
	note "RX-packets: $(packets)"
	arrived || tail -n 20 "$DIR/testpmd.log" $log | sed 's/^/#   /'
	virsh destroy $guest >/dev/null
	kill "$PEER"
	wait "$PEER"
	rm -f "$DIR/testpmd.log"
}

cells="<vcpu>2</vcpu><cpu><numa><cell id='0' cpus='0' memory='16' unit='MiB'/>
	<cell id='1' cpus='1' memory='16' unit='MiB'/></numa></cpu>"
for mode in client server; do
	policy $mode 1 'source: memfd'
	reaches $mode 1 '' 1
	policy $mode 2 'hugepages: 2 MiB'
	reaches $mode 2 "$cells" 2
done
daemon_end

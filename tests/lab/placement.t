#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where vmgen puts guests on a machine with two sockets: as rendered, and as the kernel says
# once they run.
. "${0%/*}/lab.sh"
lab_begin

pins() { values "$1" '//vcpupin/@cpuset' | paste -sd' '; }
topology() {
	for n in sockets cores threads; do
		values "$1" "//topology/@$n"
	done | paste -sd' '
}
nodes() { values "$1" '//numatune/memory/@nodeset'; }

# rendered NAME POLICY-ARGUMENT...: to $TMP/NAME.xml.
rendered() {
	policy "$@" >"$TMP/$1.yaml"
	render "$TMP/$1.yaml" >"$TMP/$1.xml"
}

# Left to itself a guest takes node 0, so all that is on node 1 has a reason.
rendered plain 1
is "$(nodes "$TMP/plain.xml")" 0 "without a wish: node 0"
for near in disks interfaces eth0 nvme0n1 0000:82:00.0 /var/lib/libvirt/images; do
	policy near 1 '' "near: [\"$near\"]" >"$TMP/near.yaml"
	render "$TMP/near.yaml" >"$TMP/near.xml"
	is "$(nodes "$TMP/near.xml") $(pins "$TMP/near.xml")" "1 4" "near: [$near] is node 1"
done

rendered isolate 1 'smt: isolate' 'near: [disks]' \
	'disks: [{name: data0, size: 1 MiB, directory: /var/lib/libvirt/images, format: raw}]'
is "$(pins "$TMP/isolate.xml")" 4 "isolate: a core of node 1"
like "$(values "$TMP/isolate.xml" //emulatorpin/@cpuset)" '^[67]$' \
	"isolate: the emulator on the other core"
seated isolate "$TMP/isolate.xml"
is "$(resident "$PID")" "1: 32768" "isolate: every page on node 1"
stop

free=$(free_pages 1)
rendered huge 2 'smt: require' '' 'memoryBacking: {hugepages: 2 MiB}'
is "$(nodes "$TMP/huge.xml")" 1 "hugepages: on the node that has them"
is "$(pins "$TMP/huge.xml") $(topology "$TMP/huge.xml")" "4 5 1 1 2" \
	"require: siblings, and the guest knows"
seated huge "$TMP/huge.xml"
is "$(resident "$PID")" "1: 32768" "hugepages: every page on node 1"
is "$(($(free_pages 1) - free)) $(free_pages 0)" "-16 0" "hugepages: 16 of node 1 are taken"
stop
is "$(free_pages 1)" "$free" "hugepages: and given back"

rendered cells 4 'smt: require' 'nodes: 2'
is "$(pins "$TMP/cells.xml") $(topology "$TMP/cells.xml")" "0 1 4 5 2 1 2" \
	"two cells: a core on each socket"
is "$(values "$TMP/cells.xml" "//cell/@cpus | //sibling/@value" | paste -sd' ')" "0-1 10 21 2-3 21 10" \
	"two cells: the guest's distances are the host's"
like "$(values "$TMP/cells.xml" //emulatorpin/@cpuset)" '^[23],[67]$' \
	"two cells: the emulator on both nodes, as libvirt before 9.4 needs it"
seated cells "$TMP/cells.xml"
is "$(resident "$PID")" "0: 16384
1: 16384" "two cells: half of the pages on each node"
ok "two cells: vmgen verify agrees" "$VMGEN" verify --connect qemu:///system \
	--policy "$TMP/cells.yaml" cells
stop

# One that runs already: its memory cannot go to the drive, so its vCPUs do not either.
policy late 1 '' 'near: [disks]' >"$TMP/late.yaml"
guest late '<numatune><memory mode="strict" nodeset="0"/></numatune>' >"$TMP/late.xml"
ok "running: starts" start "$TMP/late.xml"
ok "running: vmgen apply pins it" "$VMGEN" apply --connect qemu:///system \
	--policy "$TMP/late.yaml" late
is "$(threads_seen "$PID" | paste -sd,) $(memory_seen "$PID" 32768)" \
	"emulator: 2,CPU 0: 0 32768 4 bind:0" "running: beside its memory"
ok "running: vmgen verify agrees" "$VMGEN" verify --connect qemu:///system \
	--policy "$TMP/late.yaml" late
stop

# Why it is on both.
sed 's/<emulatorpin[^>]*>/<emulatorpin cpuset="1"\/>/' "$TMP/cells.xml" >"$TMP/narrow.xml"
fails 1 "an emulator that may not run on a cell's node" start "$TMP/narrow.xml"
like "$(cat "$TMP/ok.log")" 'Setting CPU affinity failed' "is why QEMU cannot allocate there"
lab_virsh undefine cells >/dev/null

# refused NAME POLICY-ARGUMENT...: nothing on standard output.
refused() {
	policy "$@" >"$TMP/refused.yaml"
	fails 1 "$1: is refused" render "$TMP/refused.yaml"
	is "$(render "$TMP/refused.yaml" 2>/dev/null)" "" "$1: and not half done"
}
MEMORY=322 refused pages-of-two-nodes 1 '' '' 'memoryBacking: {hugepages: 2 MiB}'
refused pages-on-both-nodes 4 'smt: require' 'nodes: 2' 'memoryBacking: {hugepages: 2 MiB}'
refused two-cores-and-emulator 2 'smt: isolate'
done_testing

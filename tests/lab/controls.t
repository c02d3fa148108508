#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests that are wrong on purpose: the kernel shows it, and vmgen verify sees it.
. "${0%/*}/lab.sh"
lab_begin

policy twin 2 '' 'near: [disks]' >"$TMP/twin.yaml"
render "$TMP/twin.yaml" >"$TMP/twin.xml"

verify() { "$VMGEN" verify --connect qemu:///system --policy "$TMP/twin.yaml" twin; }
cpus() { threads_seen "$PID" | sed -n "s/^$1: //p"; }

# started CONTROL: the twin runs. Its memory comes when it is touched: libvirt before 9.4
# cannot have it at once on a node where the emulator may not run.
started() {
	render "$TMP/twin.yaml" --control "$1" 2>/dev/null |
		sed 's,<allocation[^>]*>,,' >"$TMP/$1.xml"
	ok "$1: starts" start "$TMP/$1.xml"
}

# caught CONTROL REGEX: vmgen verify, which knows what is right, says what is wrong.
caught() {
	fails 1 "$1: vmgen verify fails" verify
	like "$(cat "$TMP/ok.log")" "$2.*WRONG" "$1: and says what is wrong"
	stop
}

seated right "$TMP/twin.xml"
ok "right: vmgen verify is content" verify
stop

started remote-memory
is "$(memory_seen "$PID" 32768)" "32768 4 bind:0" "remote-memory: bound to the other node"
caught remote-memory 'memory.* wanted node 1 .* got node 0'

started remote-cpu
is "$(cpus 'CPU 0') $(cpus 'CPU 1'), $(memory_seen "$PID" 32768)" "0 1, 32768 4 bind:0" \
	"remote-cpu: all of it on the other node"
# Worse, but not wrong: what stands, stays, until a better place is asked for.
ok "remote-cpu: vmgen verify lets it stand" verify
"$VMGEN" apply --replace --dry-run --connect qemu:///system --policy "$TMP/twin.yaml" twin \
	>"$TMP/better" 2>&1
like "$(cat "$TMP/better")" 'vcpu=.0.*: 0 -> 4' "remote-cpu: and vmgen apply --replace knows better"
stop

started emulator-on-vcpu
is "$(cpus emulator)" "4 5" "emulator-on-vcpu: on both vCPUs' CPUs"
caught emulator-on-vcpu 'emulator .*wanted [67].* got 4-5'

started float
is "$(cpus 'CPU 0'), $(cpus 'CPU 1')" "$(echo {0..7}), $(echo {0..7})" \
	"float: vCPUs run anywhere"
caught float 'CPU 0.*wanted 4 .*got 0-7'

# Siblings share a core: a policy that wants two cores, and is given one.
policy twin 2 'smt: isolate' 'near: [disks]' |
	sed 's/emulatorpin: housekeeping/emulatorpin: "0"/' >"$TMP/twin.yaml"
render "$TMP/twin.yaml" >"$TMP/isolated.xml" 2>/dev/null
is "$(values "$TMP/isolated.xml" //vcpupin/@cpuset | paste -sd' ')" "4 6" \
	"share-smt: which wants two whole cores"
started share-smt
is "$(cpus 'CPU 0') $(cpus 'CPU 1')" "4 5" "share-smt: both on one core"
caught share-smt 'CPU 1.*wanted 6 .*got 5'

policy twin 2 '' 'near: [disks]' 'memoryBacking: {hugepages: 2 MiB}' >"$TMP/twin.yaml"
free=$(free_pages 1)
started no-hugepages
is "$(memory_seen "$PID" 32768), $(free_pages 1)" "32768 4 bind:1, $free" \
	"no-hugepages: normal pages"
caught no-hugepages 'memory.*wanted .*2 MiB.* got .*4 KiB'
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hook on a machine with two sockets: what starts comes to sit as its policy says, as the
# kernel shows it, and what the machine cannot honour is refused. Without housekeeping CPUs a
# guest has one CPU more than vCPUs, for its emulator.
. "${0%/*}/lab.sh"
. tests/daemon/hook.sh
lab_begin
lab_hook

# dedicated NAME NUMATUNE [CPUTUNE [LINE]]: a policy for the guests NAME-*.
dedicated() {
	policy "$1" <<-END
		cputune: {vcpupin: dedicated, emulatorpin: housekeeping${3:+, $3}}
		numatune: {mode: strict${2:+, $2}}
		${4:-}
	END
}
dedicated plain ''
dedicated nvme 'near: [nvme0n1]'
dedicated nic 'near: [eth0]'
dedicated cells 'nodes: 2' 'smt: require'
dedicated isolate 'near: [nvme0n1]' 'smt: isolate'
dedicated pair '' 'smt: require' 'memoryBacking: {hugepages: 2 MiB}'

# up GUEST: starts; each call that has it brought up to its policy asks for one more.
up() {
	within 200 answered "$1"
	PID=$(qemu_pid "$1") && [ -d "/proc/$PID" ]
}
# With a reason to refuse it that is not this one, there is nothing to wait for.
answered() { said virsh start --paused "$1" || [[ $SAID != *'start it again'* ]]; }
down() {
	local name

	for name; do
		virsh destroy "$name" >/dev/null
	done
}

# stays_down GUEST REGEX NAME: it is refused for this reason.
stays_down() {
	if up "$1"; then
		result 1 "$3 (it started)"
	else
		like "$SAID" "$2" "$3"
	fi
}

# on GUEST NODE: its vCPU and all its memory are there, says the kernel.
on() {
	[ $(($(pinned "$1") / 4)) = "$2" ] &&
		[ "$(memory_seen "$(qemu_pid "$1")" 32768)" = "32768 4 bind:$2" ]
}
pins() {
	local n

	for ((n = 0; n < $2; n++)); do
		pinned "$1" $n
	done | paste -sd' '
}
siblings() { cat "/sys/devices/system/cpu/cpu$1/topology/thread_siblings_list"; }
# Of its definition, which the hook has rewritten.
defined_on() {
	virsh dumpxml --inactive "$1" >"$TMP/defined.xml"
	values "$TMP/defined.xml" //vcpupin/@cpuset
}
cpus_of() { expand "$(claim_field "$1" cpus)"; }

# Left to itself a guest takes node 0, so what is on node 1 has a reason.
for name in plain nvme nic; do
	define $name-1
	ok "$name: starts" up $name-1
	ok "$name: vmgen verify agrees" within 200 "$VMGEN" verify --connect qemu:///system $name-1
done
ok "without a wish: node 0" on plain-1 0
ok "near the drive: node 1" on nvme-1 1
ok "near the NIC: node 1" on nic-1 1
is "$(expand "$(cpus_of nvme-1),$(cpus_of nic-1)")" "4 5 6 7" "each CPU there has one owner"
down plain-1 nic-1

# What the administrator moves is where it is at the next start. The definition of the other
# guest has that CPU, and would keep it.
moved_to=$(defined_on nic-1)
left=$(pinned nvme-1)
virsh vcpupin nvme-1 0 "$moved_to" --live >/dev/null
is "$(pinned nvme-1)" "$moved_to" "vcpupin: the vCPU runs where the administrator says"
ok "vcpupin: the guest that was there starts" up nic-1
ok "vcpupin: where it is free now" within 100 pinned_to nic-1 "$left"
is "$(expand "$(cpus_of nvme-1),$(cpus_of nic-1)")" "4 5 6 7" "vcpupin: each CPU has one owner"
down nvme-1 nic-1

# What siblings are, the kernel says.
define isolate-1
ok "isolate: starts" up isolate-1
core=$(siblings "$(pinned isolate-1)")
like " $(cpus_of isolate-1) " " $(expand "$core") " "isolate: the idle sibling is its own, too"
is "$(cpus_of isolate-1 | wc -w)" 3 "isolate: and a CPU for the emulator"
dedicated crowd 'near: [nvme0n1]'
define crowd-1
ok "isolate: another guest starts" up crowd-1
ok "isolate: elsewhere, though it wants the drive near" within 100 on crowd-1 0
down crowd-1 isolate-1
define crowd-2
ok "isolate: one more starts" up crowd-2
ok "isolate: there, where now is room" within 100 on crowd-2 1
down crowd-2

free=$(free_pages 1)
define pair-1 '<vcpu>2</vcpu>'
ok "pair: starts" up pair-1
is "$(memory_seen "$PID" 32768)" "32768 2048 bind:1" "pair: on the node that has hugepages"
is "$(free_pages 1)" "$((free - 16))" "pair: which it takes there"
is "$(pins pair-1 2)" "$(expand "$(siblings "$(pinned pair-1)")")" \
	"pair: on the siblings of one core"
ok "pair: vmgen verify agrees" within 200 "$VMGEN" verify --connect qemu:///system pair-1
down pair-1
is "$(free_pages 1) $(claim pair-1)" "$free " "pair: pages and CPUs are given back"

define cells-1 '<vcpu>4</vcpu><memoryBacking><allocation mode="immediate"/></memoryBacking>'
ok "two cells: starts" up cells-1
is "$(pins cells-1 4)" "0 1 4 5" "two cells: two vCPUs on a core of each node"
is "$(memory_seen "$PID" 16384)" "16384 4 bind:0
16384 4 bind:1" "two cells: each bound to its node"
is "$(resident "$PID")" "0: 16384
1: 16384" "two cells: and all its pages are there"
down cells-1

# Hugepages, by node.
pages=/hugepages/hugepages-2048kB/nr_hugepages
node_has() { echo "$2" >"$NODE/node$1$pages" && [ "$(cat "$NODE/node$1$pages")" = "$2" ]; }
ok "hugepages: 8 on node 1" node_has 1 8
stays_down pair-1 'needs .*32 MiB in pages of 2 MiB.*node 0 .* 0 free .*node 1 .* 8 free' \
	"hugepages: too few is a refusal, with the numbers of each node"
ok "hugepages: 15 on node 0" node_has 0 15
stays_down pair-1 'node 0 .* 15 free .*node 1 .* 8 free' \
	"hugepages: nor do 23 on two nodes make 16 on one"
ok "hugepages: 16 on node 0" node_has 0 16
ok "hugepages: with enough it starts" up pair-1
is "$(memory_seen "$PID" 32768) $(free_pages 0)" "32768 2048 bind:0 0" "hugepages: there"
down pair-1
node_has 0 0
node_has 1 160

# machine.slice, which without systemd is called machine.
slice=/sys/fs/cgroup/machine/cpuset.cpus
policy free <<<'enforce: report'
policy list <<<'cputune: {vcpupin: "6"}'
policy helper <<<'cputune: {vcpupin: "4", emulatorpin: "6"}'
define nvme-2 '<cputune><vcpupin vcpu="0" cpuset="6"/><emulatorpin cpuset="7"/></cputune>'
define free-1 '<cputune><vcpupin vcpu="0" cpuset="6"/></cputune>'
define list-1
define helper-1
ok "slice: with all CPUs a guest on CPU 6 starts" up free-1
down free-1
echo 0-5 >$slice
stays_down free-1 'cannot set CPU affinity' "slice: the kernel has no CPU 6 for guests now"
ok "slice: a guest that was on CPUs 6 and 7 starts" up nvme-2
is "$(cpus_of nvme-2)" "4 5" "slice: on others of that node"
is "$(cpus=$(pinned nvme-2); expand "$cpus,$(allowed "/proc/$PID")")" "4 5" "slice: as the kernel says"
down nvme-2
stays_down list-1 'machine.slice may use CPUs 0-5 only, not 6-7' "slice: a list for vCPUs"
stays_down helper-1 'machine.slice may not use CPU 6, only 0-5' "slice: a list for the emulator"
define plain-7 '<vcpu>4</vcpu>'
stays_down plain-7 'machine.slice may use CPUs 0-5 only' "slice: what takes all of a node and more"
echo 0-7 >$slice
ok "slice: with all CPUs again it starts" up list-1
down list-1

# A CPU that goes away.
echo 0 >/sys/devices/system/cpu/cpu6/online
stays_down free-1 'cannot set CPU affinity' "offline: the kernel has no CPU 6 now"
stays_down list-1 'CPU 6 is (not online|offline)' "offline: a list"
define nvme-3 '<cputune><vcpupin vcpu="0" cpuset="6"/><emulatorpin cpuset="7"/></cputune>'
ok "offline: a guest that was there starts" up nvme-3
like "$(cpus_of nvme-3)" '^([457]) ([457])$' "offline: on others of that node"
down nvme-3
echo 1 >/sys/devices/system/cpu/cpu6/online
ok "offline: and when it is back, the list" up list-1
down list-1
done_testing

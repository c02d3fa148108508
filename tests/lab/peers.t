#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests that belong together, on two sockets: with the hook, those named in `with` land on the
# socket of a peer that runs already, and those of the vswitch where it polls. Without
# housekeeping CPUs each has one CPU more than vCPUs, for its emulator, so a node has room for
# two of them.
. "${0%/*}/lab.sh"
. tests/daemon/hook.sh
lab_begin
lab_hook

# on_node NAME NUMATUNE [LINE...]: a policy for the guests NAME-*.
on_node() {
	{
		echo 'cputune: {vcpupin: dedicated}'
		echo "numatune: {mode: strict${2:+, $2}}"
		printf '%s\n' "${@:3}"
	} | policy "$1"
}

# up GUEST: starts; each call that has it brought up to its policy asks for one more.
up() {
	within 200 answered "$1"
	PID=$(qemu_pid "$1") && [ -d "/proc/$PID" ]
}
answered() { said virsh start --paused "$1" || [[ $SAID != *'start it again'* ]]; }
down() {
	local name

	for name; do
		virsh destroy "$name" >/dev/null
	done
}
settled() { [[ $(pinned "$1") =~ ^[0-9]+$ ]]; }
node_of() {
	within 200 settled "$1"
	echo $(($(pinned "$1") / 4))
}

# In turn on either node: the first comes where it is sent, the second to it.
on_node first0 'nodeset: 0'
on_node first1 'nodeset: 1'
for node in 0 1; do
	on_node friend$node "with: [first$node-1]"
	on_node stranger$node "apart: [first$node-1]"
	for name in first friend stranger; do
		define $name$node-1
		ok "$name of node $node: starts" up $name$node-1
	done
	is "$(node_of first$node-1) $(node_of friend$node-1) $(node_of stranger$node-1)" \
		"$node $node $((1 - node))" "with on its peer's node, apart on the other"
	down {first,friend,stranger}$node-1
done

# Both are named by the other: whichever comes first, and the one that stays is followed.
on_node left 'with: [right-1]'
on_node right 'with: [left-1]'
define left-1
define right-1
on_node block 'nodeset: 0'
define block-1 '<vcpu>2</vcpu>'
ok "a guest that takes most of node 0" up block-1
ok "left starts" up left-1
ok "right starts" up right-1
is "$(node_of left-1) $(node_of right-1)" "1 1" "both where there was room for one"
down block-1 left-1
ok "left starts again, though node 0 is empty" up left-1
is "$(node_of left-1)" 1 "... beside right, which runs"
down left-1 right-1

# The switch polls on a core of node 1: its guests come there, beside the polling CPUs.
mkdir -p /run/vhost
printf 'host: lab\nvswitch: {kind: ovs, pmd_cpus: "6-7", port: dpdkvhostuserclient}\n' \
	>/etc/vmgen/host.yaml
switched='interfaces: [{name: net0, type: vhostuser, source: {path: "/run/vhost/{guest}.sock", mode: server}}]'
on_node switched '' "$switched"
on_node both 'with: [first0-1]' "$switched"
define switched-1
define both-1
for name in switched both; do
	"$O/tests/libvirt/vhost-peer" connect /run/vhost/$name-1.sock 1 >/dev/null 2>&1 &
done
ok "a guest of the switch starts" up switched-1
is "$(node_of switched-1)" 1 "... on the node where that polls"
is "$(expand "$(claim_field switched-1 cpus)")" "4 5" "... off its CPUs"
ok "... and verify agrees" within 200 "$VMGEN" verify --connect qemu:///system switched-1
down switched-1
ok "its peer runs on node 0" up first0-1
ok "one that has a peer starts" up both-1
is "$(node_of both-1)" 0 "... beside its peer, away from the switch"
down both-1 first0-1
rm /etc/vmgen/host.yaml
done_testing

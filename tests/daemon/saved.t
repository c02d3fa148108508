#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests that come with the hardware they had: saved, snapshots, migrated. They are placed
# anew and never refused for what cannot change.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
daemon_enter "$0"
ok "the hook is there" hook_begin
hook_recording
tainted() { virsh dominfo "$1" | grep -c hook; }
live() { virsh dumpxml "$1" | grep -c -- "$2"; }

# Saved before there was a policy.
define g-saved
define g-file
qemu-img create -q -f qcow2 "$DIR/disk.qcow2" 16M
define g-snap '' "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
	<source file='$DIR/disk.qcow2'/><target dev='vda' bus='virtio'/></disk>"
for guest in g-saved g-file g-snap; do
	virsh start $guest
done
virsh managedsave g-saved
virsh save g-file "$DIR/saved"
virsh snapshot-create-as g-snap s1 >/dev/null
virsh destroy g-snap
policy g <<-END
	cputune: {vcpupin: "0"}
	memoryBacking: {source: memfd, access: shared}
END
for guest in g-saved g-file; do
	if [ $guest = g-saved ]; then
		ok "$guest: starts from its managed save" virsh start $guest
	else
		ok "$guest: is restored" virsh restore "$DIR/saved"
	fi
	is "$(live $guest "vcpupin vcpu='0' cpuset='0'")" 1 "... with pins, by the filter"
	is "$(live $guest memfd)" 0 "... and the memory it had"
	ok "... which is logged" logged "$guest.*memoryBacking"
	ok "... and is on its CPU" within 10 pinned_to $guest 0
	like "$(claim $guest)" '^running' "... with a claim"
	virsh destroy $guest
done
ok "g-snap: reverts to its snapshot" virsh snapshot-revert g-snap s1
ok "... and comes to its CPU" within 10 pinned_to g-snap 0
is "$(live g-snap memfd)" 0 "... with the memory it had"
idle
virsh destroy g-snap
idle

# Silence where nothing changes.
policy quiet <<<'cputune: {vcpupin: "0", emulatorpin: "0-1"}'
define quiet-1 "<cputune><vcpupin vcpu='0' cpuset='0'/><emulatorpin cpuset='0-1'/></cputune>"
virsh start quiet-1
virsh managedsave quiet-1
ok "what conforms is restored" virsh start quiet-1
is "$(tainted quiet-1)" 0 "... and nothing is printed"
virsh destroy quiet-1
define plain
virsh start plain
virsh managedsave plain
ok "so is a guest without a policy" virsh start plain
is "$(tainted plain)" 0 "... silently"
virsh destroy plain

# A policy that cannot be met keeps the saved state.
define tight-1
virsh start tight-1
virsh managedsave tight-1
policy tight <<<'require: {vcpus: {min: 64}}'
refused tight-1 '64' "a restore whose policy cannot be met is refused with the number"
rm /etc/vmgen/policies/tight.yaml
calls >/dev/null
ok "... the saved state is kept" virsh start tight-1
like "$(calls tight-1)" '^restore ' "... and restored"
virsh destroy tight-1

# <driver> where there was none would fail libvirt's check.
net() {
	echo "<interface type='vhostuser'><mac address='52:54:00:00:00:01'/>
		<source type='unix' path='$DIR/net.sock' mode='client'/>
		<model type='virtio'/><alias name='ua-vmgen-net0'/>$1</interface>"
}
memory="<memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>"
define net-1 "$memory" "$(net '')"
define net-2 "$memory" "$(net "<driver rx_queue_size='256'/>" | sed 's/:01/:02/; s/net.sock/net2.sock/')"
"$O/tests/libvirt/vhost-peer" listen "$DIR/net.sock" 1 &
"$O/tests/libvirt/vhost-peer" listen "$DIR/net2.sock" 1 &
within 10 test -S "$DIR/net2.sock"
for guest in net-1 net-2; do
	ok "$guest: starts" virsh start $guest
	virsh managedsave $guest
done
policy net <<-END
	interfaces:
	  - {name: net0, type: vhostuser, source: {path: "$DIR/net{guest}.sock", mode: client}, rx_queue_size: 512}
END
sed -i "s,net{guest},net," /etc/vmgen/policies/net.yaml
ok "net-1: is restored without <driver>" virsh start net-1
is "$(live net-1 rx_queue_size)" 0 "... as it had none"
virsh destroy net-1
sed -i "s,net\.sock,net2.sock," /etc/vmgen/policies/net.yaml
ok "net-2: is restored" virsh start net-2
note "$(virsh dumpxml net-2 | grep -A8 '<interface')"
virsh destroy net-2

# Migration: the second host wants other CPUs.
policy move <<<'cputune: {vcpupin: dedicated, smt: any, emulatorpin: "0-1"}'
printf 'host: first\ndedicated_cpus: "0"\n' >/etc/vmgen/host.yaml
ok "a second host" second_begin
second_hook() {
	. tests/daemon/hook.sh
	VMGEN=$O/vmgen
	hook_begin && hook_recording || return
	policy move <<<'cputune: {vcpupin: dedicated, smt: any, emulatorpin: "0-1"}'
	printf 'host: second\ndedicated_cpus: "1"\n' >/etc/vmgen/host.yaml
}
export -f second_hook
ok "... with the hook" second second_hook
on_second() { second bash -c '. tests/daemon/daemon.sh; . tests/daemon/hook.sh; "$@"' - "$@"; }
define move-1 '' "<graphics type='vnc' passwd='s3cret' port='-1'/>"
virsh start move-1
ok "on the first it is on CPU 0" within 10 pinned_to move-1 0
ok "it migrates" migrate move-1
ok "... to CPU 1" within 10 on_second pinned_to move-1 1
like "$(on_second claim move-1)" '^running 1$' "... where it has a claim"
is "$(claim move-1)" "" "... and none behind it"
is "$(second grep -rlF s3cret /run/vmgen /var/log /etc/vmgen)" "" \
	"no log and no claim has its secret"
second virsh destroy move-1
on_second policy move <<<'require: {vcpus: {min: 64}}'
virsh start move-1
said migrate move-1
like "$SAID" '64' "a host that cannot take it says why"
ok "... and it runs on" running move-1
is "$(on_second claim move-1)" "" "... without a claim there"

daemon_end

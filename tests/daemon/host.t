#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a guest needs of the host the moment it starts: each refusal has the number wanted and
# the number there.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
daemon_enter "$0"
ok "the hook is there" hook_begin

# instead_of PATH TEXT: a file of the kernel's says this, to those in this namespace.
instead_of() {
	printf '%s\n' "$2" >"$TMP/instead"
	cp "$TMP/instead" "$DIR/instead.${1//\//_}"
	mount --bind "$DIR/instead.${1//\//_}" "$1"
}

fail() { ! "$@"; }

# Hugepages: 16 of 2 MiB for 32 MiB.
node=/sys/devices/system/node/node0/hugepages/hugepages-2048kB
policy huge <<<'memoryBacking: {hugepages: 2 MiB}'
huge='<memoryBacking><hugepages><page size="2048" unit="KiB"/></hugepages></memoryBacking>'
define huge-1 "$huge"
define huge-2 "$huge"
pages 32 || note "not all hugepages are to be had"
instead_of $node/free_hugepages 3
refused huge-1 '32 MiB in pages of 2 MiB.* 3 free pages' "hugepages: 32 MiB wanted, 3 pages free"
umount $node/free_hugepages
ok "... with enough it starts" virsh start huge-1
like "$(claim_field huge-1 pages)" '^0:2048:16$' "... and claims them"
instead_of $node/free_hugepages 15
refused huge-2 '32 MiB in pages of 2 MiB.* 15 free pages' "hugepages: 32 MiB wanted, 15 pages free"
umount $node/free_hugepages
ok "... both have them" virsh start huge-2
virsh destroy huge-1
virsh destroy huge-2
umount /dev/hugepages
refused huge-1 'hugetlbfs|mount' "no hugetlbfs is mounted"
mount -t hugetlbfs -o pagesize=2M none /dev/hugepages

# CPUs.
policy on1 <<<'cputune: {vcpupin: "1", emulatorpin: "0"}'
pins="<cputune><vcpupin vcpu='0' cpuset='1'/><emulatorpin cpuset='0'/></cputune>"
define on1-1 "$pins"
ok "a guest on CPU 1" virsh start on1-1
virsh destroy on1-1
instead_of /sys/devices/system/cpu/online 0
refused on1-1 'CPU 1 is (not online|offline)' "CPU 1 is offline"
umount /sys/devices/system/cpu/online
mount -t tmpfs none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/machine.slice
echo 0 >/sys/fs/cgroup/machine.slice/cpuset.cpus.effective
refused on1-1 'machine.slice may use CPUs 0 only, not 1' "machine.slice has CPU 0 only"
echo 0-1 >/sys/fs/cgroup/machine.slice/cpuset.cpus.effective
ok "... with both it starts" virsh start on1-1
virsh destroy on1-1
umount /sys/fs/cgroup

# Sockets.
policy net <<-END
	memoryBacking: {source: memfd, access: shared}
	interfaces:
	  - {name: net0, type: vhostuser, source: {path: "$DIR/switch/{guest}.sock", mode: client}}
END
net() {
	guest "$1" "<memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>" \
		"<interface type='vhostuser'><source type='unix' path='$DIR/switch/$1.sock'
		mode='${2:-client}'/><model type='virtio'/><alias name='ua-vmgen-net0'/></interface>"
}
net net-1 | virsh define /dev/stdin
refused net-1 "nothing listens on $DIR/switch/net-1.sock" "no socket"
mkdir "$DIR/switch"
python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$DIR/switch/net-1.sock"
refused net-1 "nothing listens on $DIR/switch/net-1.sock" "a socket without a listener"
rm "$DIR/switch/net-1.sock"
"$O/tests/libvirt/vhost-peer" listen "$DIR/switch/net-1.sock" 1 &
within 10 test -S "$DIR/switch/net-1.sock"
ok "... with one it starts" virsh start net-1
virsh destroy net-1
policy net <<-END
	memoryBacking: {source: memfd, access: shared}
	interfaces:
	  - {name: net0, type: vhostuser, source: {path: "$DIR/gone/{guest}.sock", mode: server}}
END
net net-2 server | sed "s,/switch/,/gone/," | virsh define /dev/stdin
refused net-2 "$DIR/gone" "a socket that the guest would make in a directory that is not there"

# Memory and what the policy requires.
policy big <<<'numatune: {mode: strict, nodes: 1}'
guest big-1 | sed "s,<memory unit='MiB'>32<,<memory unit='TiB'>64<," | virsh define /dev/stdin
refused big-1 '.' "64 TiB of memory"
like "$SAID" '64 TiB.*[0-9]+' "... which names both"
policy need <<<'require: {vcpus: {min: 4}, memory: {min: 1 GiB}}'
define need-1
refused need-1 'has 1 .*at least 4' "the policy requires more vCPUs"

daemon_end

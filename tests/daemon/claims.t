#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Claims: no CPU in two hands, none lost and none left over, whatever ends or dies.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
daemon_enter "$0"
ok "the hook is there" hook_begin
printf 'host: h\ndedicated_cpus: "0,1"\n' >/etc/vmgen/host.yaml
policy pin <<<'cputune: {vcpupin: dedicated, smt: any, emulatorpin: "0-1"}'
for n in 1 2 3; do
	define pin-$n
done
cpus() { for n in "$@"; do claim "$n"; done | sort | paste -sd' '; }
none_left() { [ "$(tail -n +2 "$CLAIMS" | wc -l)" = 0 ]; }

# Two at once.
virsh start pin-1 &
one=$!
virsh start pin-2 &
two=$!
ok "two guests start at once: one" wait $one
ok "... and the other" wait $two
idle
refused pin-3 '.*' "a third has no room"
like "$SAID" '1.*0' "... and is told what it needs and what there is"
is "$(pinned pin-1; pinned pin-2)" "$(pinned pin-1; pinned pin-2 | grep -vx "$(pinned pin-1)")" \
	"no CPU is in two hands"
is "$(cpus pin-1 pin-2 pin-3)" "running 0 running 1" "... say the claims, too"

# Stops.
virsh suspend pin-1
refused pin-3 '.*' "a suspended guest keeps its CPU"
virsh resume pin-1
virsh managedsave pin-1
ok "a saved one frees it" virsh start pin-3
idle
refused pin-1 '.*' "... and does not come back where there is no room"
virsh destroy pin-3
ok "... but where there is" virsh start pin-1
virsh destroy pin-1
kill -KILL "$(qemu_pid pin-2)"
ok "kill -9 of QEMU gives back its CPU" within 20 none_left

# An administrator's pins.
virsh start pin-1
idle
cpu=$(pinned pin-1)
virsh vcpupin pin-1 0 $((1 - cpu)) --live >/dev/null
ok "after a live vcpupin the CPU that was left is free" virsh start pin-2
idle
is "$(pinned pin-1) $(pinned pin-2)" "$((1 - cpu)) $cpu" "... and the other is not"
define plain '' ''
virsh destroy pin-2
virsh start plain
virsh vcpupin plain 0 "$cpu" --live >/dev/null
refused pin-2 '.*' "a CPU where an administrator pinned a guest without policy is taken"
virsh destroy plain
virsh start pin-2
idle

# The daemon dies, /run is lost.
daemon_stop KILL
kill -KILL "$(qemu_pid pin-2)"
daemon_start
unclaimed() { [ -z "$(claim "$1")" ]; }
within 20 unclaimed pin-2
is "$(cpus pin-1 pin-2)" "$(claim pin-1)" \
	"kill -9 of the daemon and of QEMU: the claim of the one that is gone is, too"
ok "... its CPU is free" virsh start pin-3
idle
rm -rf /run/vmgen
refused pin-2 '.*' "without /run/vmgen, the running guests are seen"
is "$(cpus pin-1) $(cpus pin-3)" "running $(pinned pin-1) running $(pinned pin-3)" \
	"... where they are"
printf 'rubbish\0\n' >"$CLAIMS"
refused pin-2 '.*' "nor does rubbish in the claims lose them"
virsh destroy pin-1
ok "... and what is free is found" virsh start pin-2
idle
daemon_restart KILL
virsh destroy pin-2
virsh destroy pin-3
ok "no claim is left over" within 20 none_left

# Hotplug.
define pin-hot "<vcpu current='1'>2</vcpu>"
ok "a guest that may have two vCPUs" virsh start pin-hot
idle
is "$(claim pin-hot)" "running 0-1" "... has CPUs for both"
ok "... its second vCPU is plugged" virsh setvcpus pin-hot 2 --live
first=$(pinned pin-hot 0)
ok "... and lands on the other one" within 10 pinned_to pin-hot $((1 - first)) 1
virsh destroy pin-hot

# Names.
for name in '-pin' '--help' '$(touch x)' "a'b\"c" 'a  b' 'ünï' '<&>' '%s%n' '*'; do
	define "$name"
	ok "name $name" virsh start --domain "$name"
	grep -qF -- " name=$name" "$CLAIMS" || result 1 "... is in the claims"
	virsh destroy --domain "$name"
done
ok "no claim is left over" none_left

daemon_end

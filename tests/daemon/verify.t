#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen verify on running guests: silent where they sit as their policy says, and not where
# something was mis-tuned on purpose.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system
[ "$(nproc)" -ge 2 ] || daemon_end "there are two CPUs"

mkdir /etc/vmgen/policies
printf 'host: here\nhousekeeping_cpus: 0\n' >/etc/vmgen/host.yaml
cat >/etc/vmgen/policies/right.yaml <<END
policy: right
match: {name: ["right-*"]}
cputune: {vcpupin: dedicated, smt: any, emulatorpin: housekeeping, iothreadpin: housekeeping}
iothreads: 1
numatune: {mode: strict, nodeset: 0}
memoryBacking: {hugepages: 2 MiB}
END
pages 32 || note "no 32 hugepages to be had"

# started NAME [CONTROL]: a guest by the policy, or its mis-tuned twin, running.
started() {
	guest "$1" >"$DIR/$1.xml"
	"$VMGEN" rewrite ${2:+--control "$2"} /etc/vmgen/policies/right.yaml "$DIR/$1.xml" \
		>"$DIR/$1.tuned.xml" 2>/dev/null
	virsh create --paused "$DIR/$1.tuned.xml" >/dev/null
}
ended() { virsh destroy "$1" >/dev/null; }
# wrong NAME: what is not as it should be. QEMU's own helpers follow the emulator only where
# libvirt has cgroups.
wrong() {
	"$VMGEN" verify "$1" 2>/dev/null | tr -s ' ' |
		sed -nE 's/^ (.*) wanted (.*) got (.*) WRONG$/\1: \2: \3/p' |
		grep -E '^(CPU|emulator|IO iothread|memory|vhost)'
}

all=$(cat /sys/devices/system/cpu/online)
started right-a
ok "a guest as its policy says" "$VMGEN" verify right-a
said=$("$VMGEN" verify right-a 2>/dev/null)
for what in "CPU 0/TCG  *wanted 1  *got 1  *ok" "emulator  *wanted 0  *got 0  *ok" \
	"IO iothread1  *wanted 0  *got 0  *ok" \
	"memory, 32 MiB  *wanted node 0, pages of 2 MiB  *got node 0, pages of 2 MiB.*ok"; do
	like "$said" "$what" "${what%% *}: wanted and got"
done

# By hand: the kernel is what counts, not what libvirt believes.
task() { grep -l "^$2" "/proc/$(qemu_pid "$1")"/task/*/comm | cut -d/ -f5; }
taskset -pc 0 "$(task right-a 'CPU 0')" >/dev/null
is "$(wrong right-a)" "CPU 0/TCG: 1: 0" "a vCPU that was moved"
fails 1 "and it is a failure" "$VMGEN" verify right-a
taskset -pc 1 "$(task right-a 'CPU 0')" >/dev/null
taskset -pc "$all" "$(task right-a 'IO iothread')" >/dev/null
is "$(wrong right-a)" "IO iothread1: 0: $all" "an I/O thread that floats"
taskset -pc 0 "$(task right-a 'IO iothread')" >/dev/null
taskset -pc "$all" "$(qemu_pid right-a)" >/dev/null
is "$(wrong right-a)" "emulator: 0: $all" "an emulator that floats"
taskset -pc 0 "$(qemu_pid right-a)" >/dev/null
is "$(wrong right-a)" "" "all is well again"
ended right-a

# Twins.
started right-b float
is "$(wrong right-b | cut -d: -f1 | paste -sd,)" \
	"CPU 0/TCG,emulator,IO iothread1" "--control float: every thread"
ok "apply mends it while it runs" "$VMGEN" apply right-b
is "$(wrong right-b)" "" "and then it is right"
ended right-b
started right-c emulator-on-vcpu
is "$(wrong right-c)" "emulator: 0: 1
IO iothread1: 0: 1" "--control emulator-on-vcpu: emulator and I/O thread"
ended right-c
started right-d no-hugepages
like "$(wrong right-d)" "^memory, 32 MiB: node 0, pages of 2 MiB: node 0, pages of 4 KiB" \
	"--control no-hugepages: the memory"
ended right-d

# Under no policy its own XML is what counts.
guest plain "<cputune><vcpupin vcpu='0' cpuset='0'/></cputune>" >"$DIR/plain.xml"
virsh create --paused "$DIR/plain.xml" >/dev/null
ok "a guest under no policy" "$VMGEN" verify plain
taskset -pc 1 "$(task plain 'CPU 0')" >/dev/null
is "$(wrong plain)" "CPU 0/TCG: 0: 1" "that was moved behind libvirt's back"
ended plain

define stopped
fails 1 "a guest that does not run" "$VMGEN" verify stopped
fails 1 "a guest that is none" "$VMGEN" verify nobody
daemon_end

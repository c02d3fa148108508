#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests of the shipped policies in real libvirt and QEMU: every thread and every page is
# where the policy says.
. "${0%/*}/lib.sh"
. tests/libvirt/embed.sh
need virsh qemu-system-x86_64 qemu-img xmllint unshare
embed_enter "$0"
embed_begin

# seated NAME XML: starts it, and compares.
seated() {
	local name=$1 xml=$2 sizes

	ok "$name: libvirt and QEMU start it" embed_start "$xml" || return
	mapfile -t sizes < <(memory_planned "$xml" | cut -d' ' -f1)
	is "$(threads_seen "$EMBED_PID")" "$(threads_planned "$xml")" "$name: threads"
	is "$(memory_seen "$EMBED_PID" "${sizes[@]}")" \
		"$(memory_planned "$xml")" "$name: memory"
	embed_stop
}

# By hand, and with a control: moved threads must be noticed, or the rest proves nothing.
cpus=$(expand "$(cat /sys/devices/system/cpu/online)")
first=${cpus%% *} last=${cpus##* }
cat >"$TMP/hand.xml" <<END
<domain type='qemu'>
  <name>hand</name>
  <memory unit='MiB'>72</memory>
  <memoryBacking><hugepages><page size='2048' unit='KiB'/></hugepages></memoryBacking>
  <vcpu>2</vcpu>
  <iothreads>2</iothreads>
  <cputune>
    <vcpupin vcpu='0' cpuset='$last'/><vcpupin vcpu='1' cpuset='$first'/>
    <emulatorpin cpuset='$first'/><iothreadpin iothread='1' cpuset='$last'/>
    <vcpusched vcpus='0' scheduler='fifo' priority='1'/>
  </cputune>
  <numatune><memory mode='strict' nodeset='0'/></numatune>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices>
    <emulator>$(command -v qemu-system-x86_64)</emulator>
    <interface type='vhostuser'>
      <source type='unix' path='$EMBED_DIR/run/listens.sock' mode='client'/>
      <model type='virtio'/><driver queues='2' rx_queue_size='1024'/>
    </interface>
    <interface type='vhostuser'>
      <source type='unix' path='$EMBED_DIR/run/connects.sock' mode='server'/>
      <model type='virtio'/>
    </interface>
  </devices>
</domain>
END

control() {
	local xml=$TMP/hand.xml

	ok "control: starts" embed_start "$xml" || return
	note "$(threads_seen "$EMBED_PID")"
	note "$(memory_seen "$EMBED_PID" 73728)"
	[ "$first" = "$last" ] || {
		taskset -pc "$last" "$(thread 'CPU 1')" >/dev/null
		ok "control: a moved vCPU thread is seen" \
			differ "$(threads_seen "$EMBED_PID")" "$(threads_planned "$xml")"
		taskset -pc "$first" "$(thread 'CPU 1')" >/dev/null
	}
	chrt -o -p 0 "$(thread 'CPU 0')"
	ok "control: a lost scheduler is seen" \
		differ "$(threads_seen "$EMBED_PID")" "$(threads_planned "$xml")"
	sed 's/strict/preferred/' "$xml" >"$TMP/other.xml"
	ok "control: another policy of memory is seen" \
		differ "$(memory_seen "$EMBED_PID" 73728)" "$(memory_planned "$TMP/other.xml")"
	sed 's/2048/4/' "$xml" >"$TMP/other.xml"
	ok "control: other pages are seen" \
		differ "$(memory_seen "$EMBED_PID" 73728)" "$(memory_planned "$TMP/other.xml")"
	embed_stop
}

thread() {
	grep -l "^$1" "/proc/$EMBED_PID"/task/*/comm | cut -d/ -f5
}

differ() { [ "$1" != "$2" ]; }

embed_pages 36 || note "no 36 hugepages to be had"
seated hand "$TMP/hand.xml"
control

embed_end

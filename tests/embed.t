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

	can_lock || ! grep -q '<locked/>' "$xml" || {
		note "root may not lock unlimited memory here: $name does not try"
		sed -i 's,<locked/>,,' "$xml"
	}
	ok "$name: libvirt and QEMU start it" embed_start "$xml" || return
	mapfile -t sizes < <(memory_planned "$xml" | cut -d' ' -f1)
	is "$(threads_seen "$EMBED_PID")" "$(threads_planned "$xml")" "$name: threads"
	is "$(memory_seen "$EMBED_PID" "${sizes[@]}")" \
		"$(memory_planned "$xml")" "$name: memory"
	! grep -q '<locked/>' "$xml" ||
		ok "$name: memory is locked" grep -qE '^VmLck:.*[1-9]' "/proc/$EMBED_PID/status"
	embed_stop
}

# What locked memory takes: to raise the hard limit (CAP_SYS_RESOURCE).
can_lock() { (ulimit -l unlimited) 2>/dev/null; }

# By hand, and with a control: moved threads must be noticed, or the rest proves nothing.
cpus=$(expand "$(cat /sys/devices/system/cpu/online)")
first=${cpus%% *} last=${cpus##* }
memory=72
cat >"$TMP/hand.xml" <<END
<domain type='qemu'>
  <name>hand</name>
  <memory unit='MiB'>$memory</memory>
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
	note "$(memory_seen "$EMBED_PID" $((memory * 1024)))"
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
		differ "$(memory_seen "$EMBED_PID" $((memory * 1024)))" "$(memory_planned "$TMP/other.xml")"
	sed 's/2048/4/' "$xml" >"$TMP/other.xml"
	ok "control: other pages are seen" \
		differ "$(memory_seen "$EMBED_PID" $((memory * 1024)))" "$(memory_planned "$TMP/other.xml")"
	embed_stop
}

thread() {
	grep -l "^$1" "/proc/$EMBED_PID"/task/*/comm | cut -d/ -f5
}

differ() { [ "$1" != "$2" ]; }

# scaled POLICY VCPUS SMT: the policy for VCPUS vCPUs and little memory, with its files
# where nothing else is.
scaled() {
	sed -E "
		s|^( +vcpus:) [0-9]+$|\\1 $2|
		s|^( +vcpus:) \\{.*|\\1 {min: 1}|
		s|^( +memory:) [0-9]+ .*|\\1 $memory MiB|
		s|^( +memory:) \\{.*|\\1 {min: 1 MiB}|
		s|^( +hugepages:) .*|\\1 2 MiB|
		s|^( +smt:) .*|\\1 $3|
		s|/var/lib/libvirt/images|$EMBED_DIR/disks|
		s|/run/vhost|$EMBED_DIR/run|" "$1"
}

# render_what_fits POLICY: to XML, with as many vCPUs as this machine has room for.
render_what_fits() {
	local vcpus smt words

	words=$(sed -nE 's/^ +smt: (\w+).*/\1/p' "$1")
	for smt in ${words:-any} any; do
		for vcpus in 4 3 2 1; do
			scaled "$1" "$vcpus" "$smt" >"$TMP/policy.yaml"
			"$VMGEN" render "$TMP/policy.yaml" --templates "$TMP/templates" \
				--host-policy "$TMP/host.yaml" >"$xml" && return
		done
	done
	return 1
}

mkdir "$TMP/templates"
for template in templates/*.xml; do
	sed "s/{type}/qemu/; s/{cpu}/maximum/; s|/var/lib/libvirt/images|$EMBED_DIR/disks|" \
		"$template" >"$TMP/templates/${template##*/}"
done
{
	echo "host: this-machine"
	[ "$first" = "$last" ] || echo "housekeeping_cpus: \"$first\""
} >"$TMP/host.yaml"
xml=$TMP/guest.xml

nodes=(/sys/devices/system/node/node[0-9]*)
embed_pages $((${#nodes[@]} * memory / 2)) || note "not all hugepages are to be had"
seated hand "$TMP/hand.xml"
control
for policy in policies/*.yaml; do
	name=$(basename "$policy" .yaml)
	ok "$name: a placement on this machine" render_what_fits "$policy" || continue
	note "$(values "$xml" '/domain/vcpu/text()') vCPUs"
	seated "$name" "$xml"
done

embed_end

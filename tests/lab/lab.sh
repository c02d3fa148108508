# SPDX-License-Identifier: LGPL-2.1-or-later
# For tests that run in the lab, which this sees to wherever they are started: a daemon with
# cgroups, and what is asked of the kernel.
#
#	#!/bin/bash
#	. "${0%/*}/lab.sh"
#	lab_begin
#	guest g1 | virsh define /dev/stdin
#	done_testing
if [ -z "${IN_LAB:-}${LAB_MISSING:-}" ]; then
	[ -z "${LAB_PORT:-}" ] || exec "${0%/*}/inside" "$(realpath "$0")"
	exec "${0%/*}/lab" "$(realpath "$0")"
fi
. "${BASH_SOURCE[0]%/*}/../lib.sh"
[ -z "${LAB_MISSING:-}" ] || skip_all "$LAB_MISSING"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh

# Each of these starts takes seconds, and many on a busy machine.
virsh() { timeout -k 1 300 virsh -q -c qemu:///system "$@"; }

NODE=/sys/devices/system/node
FREE=hugepages/hugepages-2048kB/free_hugepages

cleanup() {
	local name

	for name in $(lab_virsh list --all --name); do
		lab_virsh destroy "$name"
		lab_virsh undefine "$name"
	done
	rm -rf /etc/libvirt/hooks/qemu.d/* /var/lib/libvirt/images/* /etc/vmgen/policies \
		/run/vmgen
} >/dev/null 2>&1

# lab_begin: libvirtd answers; it stays for the next test.
lab_begin() {
	[ -e /run/libvirtd.pid ] || {
		mkdir -p /run/lock /var/log/libvirt /var/cache/libvirt /etc/libvirt/qemu \
			/etc/libvirt/hooks/qemu.d
		host_users
		lab_configure
	}
	ok "libvirtd answers" lab_daemon || {
		tail -n 20 /var/log/libvirt/libvirtd.log | sed 's/^/#   /'
		done_testing
	}
	lab_connect
	lab_templates
	ok "vmgen knows this machine" within 300 host_told
}

lab_connect() { coproc VIRSH { exec stdbuf -oL virsh -q -c qemu:///system 2>&1; }; }

# lab_hook: the hook is there, the daemon knows it, and it has a snapshot of this machine.
# For a script that sources tests/daemon/hook.sh.
lab_hook() {
	mkdir -p "$BINDIR" /etc/vmgen/policies
	printf '#!/bin/sh\nexec %s "$@"\n' "$VMGEN" >"$BINDIR/vmgen"
	chmod 755 "$BINDIR/vmgen"
	ok "a snapshot is made" within 300 "$VMGEN" host --snapshot
	hook_install "$O/hooks/qemu" 50-vmgen
	echo quit >&"${VIRSH[1]}"
	wait "$VIRSH_PID"
	ok "libvirtd knows the hook" daemon_restart
	lab_connect
}

# host_told: vmgen host's answer is in $TMP/lab.yaml, with the versions, which decide where an
# emulator may run: it waits 2 s for their programs, and a busy machine takes longer.
host_told() {
	"$VMGEN" host >"$TMP/lab.yaml" && grep -q '^libvirt: [0-9]' "$TMP/lab.yaml" &&
		grep -q '^qemu: [0-9]' "$TMP/lab.yaml"
}

lab_configure() {
	cat >/etc/libvirt/libvirtd.conf <<-END
		auth_unix_ro = "none"
		auth_unix_rw = "none"
		log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
	END
	cat >/etc/libvirt/qemu.conf <<-END
		user = "root"
		group = "root"
		security_driver = "none"
		namespaces = []
		hugetlbfs_mount = "/dev/hugepages"
	END
}

lab_daemon() {
	virsh version && return
	daemon_start || within 60 virsh version
}

# Under TCG, without a disk to boot from, and with all memory there from the start: so its
# node can be seen.
lab_templates() {
	mkdir -p "$TMP/templates"
	sed 's/{type}/qemu/; s/{cpu}/maximum/; /<disk/,/<\/disk>/d
		s,</metadata>,&<memoryBacking><allocation mode="immediate"/></memoryBacking>,' \
		templates/performance.xml >"$TMP/templates/performance.xml"
}

# lab_virsh COMMAND...: by the connection that stands: a new one takes a second here.
lab_virsh() { embed_virsh "$*"; }

# policy NAME VCPUS [CPUTUNE [NUMATUNE [LINE...]]]: a policy with these keys more, and MEMORY
# MiB.
policy() {
	cat <<-END
		policy: $1
		domain: {template: performance, name: $1, vcpus: $2, memory: ${MEMORY:-32} MiB}
		cputune: {vcpupin: dedicated, emulatorpin: housekeeping${3:+, $3}}
		numatune: {mode: strict${4:+, $4}}
	END
	printf '%s\n' "${@:5}"
}

# render FILE [OPTION...]: a policy for this machine.
render() { "$VMGEN" render --host "$TMP/lab.yaml" --templates "$TMP/templates" "$@"; }

# start XML: the guest, paused; GUEST is its name and PID its process.
start() {
	GUEST=$(values "$1" '/domain/name/text()')
	lab_disks "$1"
	lab_virsh define --validate "$1" && lab_virsh start --paused "$GUEST" &&
		PID=$(qemu_pid "$GUEST")
}

lab_disks() {
	local path

	for path in $(values "$1" '//disk/source/@file'); do
		truncate -s 1M "$path"
	done
}

stop() {
	lab_virsh destroy "$GUEST"
	lab_virsh undefine "$GUEST"
} >/dev/null

# seated NAME XML: it starts, and threads and memory are where its XML says.
seated() {
	local sizes

	ok "$1: starts" start "$2" || return
	mapfile -t sizes < <(memory_planned "$2" | cut -d' ' -f1)
	is "$(threads_seen "$PID")" "$(threads_planned "$2")" "$1: threads"
	is "$(memory_seen "$PID" "${sizes[@]}")" "$(memory_planned "$2")" "$1: memory's policy"
}

# resident PID: KiB on each node of the memory that is bound to some, "0: 16384".
resident() {
	awk '$2 ~ /^bind/ {
		page = 4
		for (i = 3; i <= NF; i++)
			if (split($i, word, "=") == 2 && word[1] == "kernelpagesize_kB")
				page = word[2]
		for (i = 3; i <= NF; i++)
			if (match($i, /^N[0-9]+=/)) {
				split($i, word, "=")
				on[substr(word[1], 2)] += word[2] * page
			}
	}
	END { for (node in on) print node ": " on[node] }' "/proc/$1/numa_maps" | sort
}

free_pages() { cat "$NODE/node$1/$FREE"; }

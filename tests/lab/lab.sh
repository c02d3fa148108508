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

NODE=/sys/devices/system/node
FREE=hugepages/hugepages-2048kB/free_hugepages

cleanup() {
	local name

	[ -e /run/libvirtd.pid ] || return
	for name in $(virsh list --all --name); do
		virsh destroy "$name"
		virsh undefine "$name"
	done
	daemon_stop
} >/dev/null 2>&1

# lab_begin: libvirtd answers.
lab_begin() {
	mkdir -p /run/lock /var/log/libvirt /var/cache/libvirt /etc/libvirt/hooks/qemu.d \
		/etc/libvirt/qemu /run/vhost
	host_users
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
	ok "libvirtd answers" daemon_start && return
	tail -n 20 /var/log/libvirt/libvirtd.log | sed 's/^/#   /'
	done_testing
}

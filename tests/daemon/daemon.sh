# SPDX-License-Identifier: LGPL-2.1-or-later
# A real libvirtd as root, in mount, network, pid and uts namespaces of its own and on empty
# file systems: whatever happens, nothing stays behind. To be sourced after lib.sh, in a
# script that daemon_enter() runs anew inside.
#
#	. "${0%/*}/../lib.sh"
#	. tests/daemon/daemon.sh
#	daemon_enter "$0"
#	guest g1 | virsh define /dev/stdin
#	daemon_end
#
# DIR is a directory that all hosts of a test share; /dev, /etc, /run and most of /var are
# each host's own.

# The command with a limit: a test shows what hangs, and goes on.
virsh() { timeout -k 1 60 virsh -q -c qemu:///system "$@"; }

# daemon_enter SCRIPT: does not return outside; inside a daemon answers when it does.
daemon_enter() {
	local script

	[ -z "${DAEMON_TAP:-}" ] || {
		DIR=$DAEMON_DIR/shared
		if ! host_begin || ! daemon_start; then
			daemon_end "libvirtd answers"
		fi
		return
	}
	need libvirtd virtlogd virsh qemu-system-x86_64 qemu-img xmllint unshare nsenter setsid
	[ "$(id -u)" = 0 ] || lacks "needs root, for namespaces and libvirtd"
	unshare -m -n -p -u -f --mount-proc true 2>/dev/null ||
		lacks "this machine lets root make no namespaces"
	script=$(realpath "$1")
	mkdir -p "$O"
	DAEMON_DIR=$(mktemp -d "$O/daemon.XXXXXX") DAEMON_TAP=$DAEMON_DIR/tap
	export DAEMON_DIR DAEMON_TAP
	mkdir "$DAEMON_DIR/shared"
	# The first process of the namespace must reap what QEMU leaves, as init does. All of
	# them die with unshare; in the background, so that a signal is heeded at once.
	TMPDIR=$DAEMON_DIR unshare -m -n -p -u -f --mount-proc --kill-child \
		sh -c '"$0"; exit $?' "$script" &
	DAEMON_NAMESPACE=$!
	wait $DAEMON_NAMESPACE
	if [ -s "$DAEMON_TAP" ]; then
		read -r tap_run tap_failed <"$DAEMON_TAP"
	else
		result 1 "the test came to its end"
	fi
	is "$(grep -F "$DAEMON_DIR" /proc/mounts; pgrep -af "$DAEMON_DIR")" "" \
		"no mount, no process stays"
	done_testing
}

# cleanup() of the script outside; the namespaces' end does the rest.
cleanup() {
	[ -n "${DAEMON_NAMESPACE:-}" ] || return
	kill -KILL "$DAEMON_NAMESPACE" && wait "$DAEMON_NAMESPACE"
	pages_back
	rm -rf "$DAEMON_DIR"
} 2>/dev/null

# daemon_end [FAILURE]: tells what was counted to the script outside.
daemon_end() {
	[ -z "${1:-}" ] || {
		result 1 "$1"
		tail -n 20 /var/log/libvirt/libvirtd.log | sed 's/^/#   /'
	}
	echo "$tap_run $tap_failed" >"$DAEMON_TAP"
	exit 0
}

# host_begin: empty file systems, libvirt's files on them, a system log.
host_begin() {
	local path

	mount --make-rprivate / && veil_dev && veil /etc keep && loopback_up || return
	for path in /run /var/lib /var/log /var/cache; do
		veil $path || return
	done
	rm -rf /etc/libvirt/qemu /etc/libvirt/hooks /etc/vmgen
	mkdir -p /run/lock /var/lib/libvirt/images /var/log/libvirt /var/cache/libvirt \
		/etc/libvirt/hooks/qemu.d /etc/libvirt/qemu /etc/vmgen /dev/hugepages
	mount -t hugetlbfs -o pagesize=2M none /dev/hugepages || return
	spawn python3 "$TOP/tests/daemon/syslog.py" /dev/log /var/log/syslog
	host_users
	cat >/etc/libvirt/libvirtd.conf <<-END
		auth_unix_ro = "none"
		auth_unix_rw = "none"
		host_uuid = "$(cat /proc/sys/kernel/random/uuid)"
		log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
	END
	cat >/etc/libvirt/qemu.conf <<-END
		user = "root"
		group = "root"
		security_driver = "none"
		cgroup_controllers = []
		namespaces = []
		hugetlbfs_mount = "/dev/hugepages"
	END
}

# veil PATH [keep]: empty or as it was, and from now on this host's alone.
veil() {
	local kept=$TMP/kept

	rm -rf "$kept"
	mkdir "$kept"
	[ -z "${2:-}" ] || cp -ax "$1/." "$kept"
	mount -t tmpfs -o mode=755 none "$1" && cp -a "$kept/." "$1"
}

veil_dev() {
	veil /dev keep || return
	rm -rf /dev/log /dev/ptmx /dev/pts /dev/shm
	mkdir /dev/pts /dev/shm
	ln -s pts/ptmx /dev/ptmx
	mount -t devpts -o newinstance,ptmxmode=666 none /dev/pts &&
		mount -t tmpfs none /dev/shm
}

# A namespace's loopback interface begins down. There need be no ip(8).
loopback_up() {
	python3 -c 'if 1:
		import fcntl, socket, struct
		fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))'
}

# The driver wants a user that only the daemon's package makes.
host_users() {
	getent passwd libvirt-qemu >/dev/null ||
		echo 'libvirt-qemu:x:64055:64055::/:/bin/false' >>/etc/passwd
	getent group libvirt-qemu >/dev/null || echo 'libvirt-qemu:x:64055:' >>/etc/group
}

# second_begin: a second host with a daemon, on the same network, kernel and DIR.
second_begin() {
	export DIR TMP
	unshare -m -u bash -c '. "$TOP/tests/daemon/daemon.sh"; second_main' \
		</dev/null >"$DIR/second.log" 2>&1 &
	SECOND=$!
	within 20 test -e "$DIR/second/ready"
}

second_main() {
	mkdir "$DIR/second"
	echo second >/proc/sys/kernel/hostname
	host_begin && mkdir /run/libvirt && mount --bind "$DIR/second" /run/libvirt &&
		daemon_start && touch "$DIR/second/ready"
	exec sleep infinity
}

# second COMMAND...: there, with $DIR/second as DIR; also a function of this file.
second() {
	DIR=$DIR/second nsenter -t "$SECOND" -m -u \
		bash -c 'cd "$TOP"; . tests/daemon/daemon.sh; "$@"' - "$@"
}

# migrate GUEST [OPTION...]: alive to the second host.
migrate() {
	virsh migrate --live "${@:2}" --domain "$1" \
		--desturi "qemu+unix:///system?socket=$DIR/second/libvirt-sock" \
		--migrateuri "unix://$DIR/migration"
}

# daemon_start: returns when it answers. One that was just killed may hold its locks for a
# moment more, and then a new one gives up at once.
daemon_start() {
	[ -e /run/virtlogd.pid ] || spawn virtlogd -f /dev/null
	within 90 daemon_answers
}

daemon_answers() {
	pgrep -x libvirtd --ns $$ --nslist mnt >/dev/null ||
		spawn libvirtd -f /etc/libvirt/libvirtd.conf
	virsh version >/dev/null 2>&1
}

# Away from our descriptors, and in a session of its own as under an init.
spawn() { (cd / && exec setsid "$@" </dev/null >/dev/null 2>&1 &); }

daemon_pid() { cat /run/libvirtd.pid; }

# daemon_stop [SIGNAL]: guests go on.
daemon_stop() {
	local pid

	pid=$(daemon_pid) && kill "-${1:-TERM}" "$pid" && within 60 gone "$pid"
}

daemon_restart() { daemon_stop "${1:-TERM}" && daemon_start; }

# Not when it is a zombie: threads that are left may still hold its locks.
gone() { ! [ -e "/proc/$1" ]; }

# within SECONDS COMMAND...: it comes to succeed.
within() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -le $end ] || return 1
		sleep 0.03
	done
}

# guest NAME [DOMAIN [DEVICES]]: XML of a guest that starts in a moment and then idles,
# with these children more.
guest() {
	local name vcpus='<vcpu>1</vcpu>'

	name=$(sed 's/&/\&amp;/g; s/</\&lt;/g' <<<"$1")
	[[ ${2:-} != *'<vcpu'[\ \>]* ]] || vcpus=
	cat <<-END
		<domain type='qemu'>
		  <name>$name</name>
		  <memory unit='MiB'>32</memory>
		  $vcpus
		  <os><type arch='x86_64' machine='q35'>hvm</type></os>
		  ${2:-}
		  <devices>
		    <emulator>$(type -P qemu-system-x86_64)</emulator>
		    <controller type='usb' model='none'/>
		    <memballoon model='none'/>
		    ${3:-}
		  </devices>
		</domain>
	END
}

define() { guest "$@" | virsh define /dev/stdin; }
state() { virsh domstate -- "$1" 2>/dev/null | head -n 1; }
running() { [ "$(state "$1")" = running ]; }
qemu_pid() { cat "/run/libvirt/qemu/$1.pid"; }

# pages COUNT: so many more hugepages of 2 MiB. The kernel's number is the whole machine's.
PAGES=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
pages() {
	local before

	before=$(cat $PAGES)
	echo $((before + $1)) >$PAGES
	echo $(($(cat $PAGES) - before)) >"$DAEMON_DIR/pages"
	[ "$(cat "$DAEMON_DIR/pages")" = "$1" ]
}

pages_back() {
	[ ! -s "$DAEMON_DIR/pages" ] ||
		echo $(($(cat $PAGES) - $(cat "$DAEMON_DIR/pages"))) >$PAGES
	rm -f "$DAEMON_DIR/pages"
}

# hook_install FILE NAME: as an installer does, by rename.
hook_install() {
	local hooks=/etc/libvirt/hooks/qemu.d

	install -m 755 "$1" "$hooks/.new" && mv "$hooks/.new" "$hooks/$2"
}

# hook_recording: a hook that writes down each call in $DIR/calls and its input in
# $DIR/stdin.OPERATION, and then does what $DIR/on.OPERATION says. The second host's DIR is
# DIR/second.
hook_recording() {
	cat >"$DIR/recorder" <<-END
		#!/bin/sh
		printf '%s' "\$1" >>$DIR/calls
		shift
		printf '|%s' "\$@" >>$DIR/calls
		echo >>$DIR/calls
		cat >$DIR/stdin.\$1
		[ ! -e $DIR/on.\$1 ] || . $DIR/on.\$1
	END
	hook_install "$DIR/recorder" 10-recorder
}

# on OPERATION [SCRIPT]: what the recorder does then, for the next calls.
on() {
	rm -f "$DIR/on.$1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" >"$DIR/on.$1"
}

# calls: operations since the last time, in one line. Calls of guest NAME, if given.
calls() {
	touch "$DIR/calls"
	awk -F'|' -v name="${1:-}" 'name == "" || $1 == name { print $2 }' "$DIR/calls" |
		paste -sd' '
	: >"$DIR/calls"
}

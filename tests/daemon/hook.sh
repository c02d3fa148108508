# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen and its hook in the daemon's place. To be sourced after daemon.sh.

CLAIMS=/run/vmgen/claims
HOOK=/etc/libvirt/hooks/qemu.d/50-vmgen
# Where the hook was built to look for vmgen.
BINDIR=${BINDIR:-/usr/local/bin}

# hook_begin: the hook is there, and the daemon knows it. vmgen is a wrapper that runs
# $DIR/before.worker, if that is there, before each worker.
hook_begin() {
	hook_place && daemon_restart
}

hook_place() {
	veil "$BINDIR" || return
	cat >"$BINDIR/vmgen" <<-END
		#!/bin/bash
		[ "\$1" != worker ] || {
			echo "\$*" >>$DIR/workers
			[ ! -e $DIR/before.worker ] || . $DIR/before.worker
		}
		exec $VMGEN "\$@"
	END
	chmod 755 "$BINDIR/vmgen"
	mkdir -p /etc/vmgen/policies
	hook_install "$O/hooks/qemu" 50-vmgen
}

# before_worker [SCRIPT]: from now on. It runs as the worker, with its arguments.
before_worker() {
	rm -f "$DIR/before.worker"
	[ -z "${1:-}" ] || printf '%s\n' "$1" >"$DIR/before.worker"
}

# workers: how many were started since the last time.
workers() {
	touch "$DIR/workers"
	wc -l <"$DIR/workers"
	: >"$DIR/workers"
}

# idle: waits until no worker runs.
idle() { within 20 no_worker; }
no_worker() { ! pgrep -f 'vmgen worker' >/dev/null; }

# policy NAME: the policy on standard input, for the guests NAME-*.
policy() {
	local file=/etc/vmgen/policies/$1.yaml

	{
		printf 'policy: %s\nmatch: {name: ["%s-*"]}\n' "$1" "$1"
		cat
	} >"$file.new" && mv "$file.new" "$file"
}

# claim NAME: its state and CPUs, "running 0-1"; nothing if it has none.
claim() {
	sed -nE "/ name=$1\$/{
		s/^[^ ]+ state=([^ ]+)( cpus=([^ ]+))?.*/\\1 \\3/
		s/ \$//
		p
	}" $CLAIMS 2>/dev/null
}

# claim_field NAME FIELD
claim_field() { sed -nE "/ name=$1\$/s/.* $2=([^ ]+).*/\\1/p" $CLAIMS; }

# pinned NAME [VCPU]: host CPUs that the vCPU's thread may run on, as the kernel says.
pinned() {
	local task

	for task in /proc/"$(qemu_pid "$1" 2>/dev/null)"/task/[0-9]*; do
		[[ $(cat "$task/comm" 2>/dev/null) != "CPU ${2:-0}/"* ]] ||
			sed -n 's/^Cpus_allowed_list:\t//p' "$task/status" 2>/dev/null
	done
}

pinned_to() { [ "$(pinned "$1" "${3:-0}")" = "$2" ]; }

# said COMMAND...: its output goes to SAID, without libvirt's words around a hook's line.
said() {
	local status

	SAID=$("$@" 2>&1)
	status=$?
	SAID=$(sed -E "/^\$/d; /^error: Failed to (start|create|restore)/d
		s/^error: Hook script execution failed: .* unexpected exit status 1: //" <<<"$SAID")
	note "$SAID"
	return $status
}

# refused GUEST REGEX NAME: its start is, with one such line.
refused() {
	local name="$3: ${*:4}"

	if said virsh start --domain "$1"; then
		result 1 "$3 (it started)"
		return 1
	fi
	if [ "$(wc -l <<<"$SAID")" != 1 ]; then
		result 1 "$3 (in one line)"
		return 1
	fi
	like "$SAID" "$2" "$3"
}

# logged REGEX: in the system log, now or in a moment.
logged() { within 5 grep -qE -- "$1" /var/log/syslog; }

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Whatever happens to the hook's child, a running guest survives: at started, at reconnect,
# and when the daemon is restarted. And a daemon is never kept waiting for long.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
daemon_enter "$0"
ok "the hook is there" hook_begin
policy pin <<<'cputune: {vcpupin: "0", emulatorpin: "0"}'
policy cold <<<'memoryBacking: {source: memfd, access: shared}'
define plain
define pin-1
define pin-2
define other
virsh start plain
virsh start pin-1
idle

# all_survive WHAT: the daemon is restarted, and killed, both guests run on, one by one of
# those that may start does, and each end is clean.
all_survive() {
	local pids

	pids="$(qemu_pid plain) $(qemu_pid pin-1)"
	daemon_restart || result 1 "$1: the daemon comes back"
	daemon_restart KILL || result 1 "$1: the daemon comes back"
	is "$(state plain) $(state pin-1) $(qemu_pid plain) $(qemu_pid pin-1)" \
		"running running $pids" "$1: both run on"
}

# starts_or_refused GUEST NAME: a clear answer, and soon: the deadline is 10 s for each of
# the two calls of a start that is refused, on a machine that is not busy. What started runs.
starts_or_refused() {
	local start=$SECONDS

	if said timeout 60 virsh start "$1"; then
		result "$(running "$1"; echo $?)" "$2: $1 starts and runs"
		virsh destroy "$1"
	else
		like "$SAID" '^vmgen: ' "$2: $1 is refused by the hook"
	fi
	[ $((SECONDS - start)) -le 45 ] || result 1 "$2: $1 within the deadline"
}

all_survive "without trouble"

# A policy directory full of rubbish.
policies=/etc/vmgen/policies
mkfifo $policies/fifo.yaml
mkdir $policies/directory.yaml
ln -s loop.yaml $policies/loop.yaml
ln -s /dev/zero $policies/zero.yaml
ln -s /etc/shadow $policies/shadow.yaml
head -c 300000 /dev/urandom >$policies/random.yaml
head -c 20000000 /dev/zero >$policies/zeroes.yaml
printf '[%.0s' {1..20000} >$policies/deep.yaml
printf 'policy: a\n---\npolicy: b\n' >$policies/two.yaml
: >$policies/empty.yaml
printf 'a: &a [x, *a]\n' >$policies/cycle.yaml
for n in {1..500}; do
	echo "policy: [" >"$policies/many-$n.yaml"
done
all_survive "policies full of rubbish"
starts_or_refused other "policies full of rubbish"
starts_or_refused pin-2 "policies full of rubbish"
printf 'host: [' >/etc/vmgen/host.yaml
all_survive "the host policy is broken"
starts_or_refused other "the host policy is broken"
starts_or_refused pin-2 "the host policy is broken"
rm -rf $policies/[!pc]* $policies/cycle.yaml /etc/vmgen/host.yaml
mv $policies /etc/vmgen/away
echo >$policies
all_survive "policies that are a file"
starts_or_refused other "policies that are a file"
rm $policies
all_survive "no policies"
mv /etc/vmgen/away $policies

# No vmgen.
mv "$BINDIR/vmgen" "$TMP"
all_survive "vmgen is not installed"
starts_or_refused other "vmgen is not installed"
starts_or_refused pin-2 "vmgen is not installed"
mv "$TMP/vmgen" "$BINDIR"

# /run/vmgen.
mount --bind /run/vmgen /run/vmgen && mount -o remount,bind,ro /run/vmgen
all_survive "/run/vmgen is read-only"
starts_or_refused other "/run/vmgen is read-only"
starts_or_refused pin-2 "/run/vmgen is read-only"
umount /run/vmgen
mount -t tmpfs -o size=8k,mode=755 none /run/vmgen
cat /dev/zero >/run/vmgen/full 2>/dev/null
all_survive "/run/vmgen is full"
starts_or_refused other "/run/vmgen is full"
starts_or_refused pin-2 "/run/vmgen is full"
umount /run/vmgen
rm -rf /run/vmgen
echo >/run/vmgen
all_survive "/run/vmgen is a file"
starts_or_refused pin-2 "/run/vmgen is a file"
rm /run/vmgen
ln -s /tmp /run/vmgen
all_survive "/run/vmgen is a symbolic link"
starts_or_refused pin-2 "/run/vmgen is a symbolic link"
rm /run/vmgen
mkdir -m 777 /run/vmgen
all_survive "anyone may write to /run/vmgen"
starts_or_refused pin-2 "anyone may write to /run/vmgen"
chmod 755 /run/vmgen
for what in 'mkfifo claims' 'mkdir claims' 'ln -s /etc/shadow claims' 'cp /dev/null claims' \
	'dd if=/dev/urandom of=claims bs=1M count=8 status=none' 'mkfifo lock' 'ln -s /etc/motd lock'; do
	(cd /run/vmgen && rm -rf claims lock && $what)
	all_survive "in /run/vmgen: $what"
	starts_or_refused pin-2 "in /run/vmgen: $what"
done
rm -rf /run/vmgen
starts_or_refused pin-2 "an empty /run"

# The lock is held by someone else.
flock /run/vmgen/lock sleep 1000 &
holder=$!
all_survive "the lock is held"
starts_or_refused other "the lock is held"
starts_or_refused pin-2 "the lock is held"
pkill -P $holder

# A log that does not read.
pkill -STOP -f tests/daemon/syslog.py
for n in {1..1200}; do
	timeout 0.1 logger -u /dev/log -d fill 2>/dev/null || break
done
all_survive "the system log hangs"
starts_or_refused other "the system log hangs"
starts_or_refused pin-2 "the system log hangs"
pkill -CONT -f tests/daemon/syslog.py

# Limits that the daemon was given.
for limit in '-f 0' '-n 6' '-v 65536' '-s 64'; do
	mv $HOOK /run/hook
	printf '#!/bin/sh\nulimit %s\nexec /run/hook "$@"\n' "$limit" >/run/limited
	hook_install /run/limited 50-vmgen
	all_survive "ulimit $limit"
	starts_or_refused pin-2 "ulimit $limit"
	hook_install /run/hook 50-vmgen
done

# The child is killed, or stops, whenever there is one.
cat >"$DIR/hunter" <<'END'
import os, signal, sys
number = getattr(signal, sys.argv[1])
while True:
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline") as file:
                if "50-vmgen" not in file.read():
                    continue
            with open(f"/proc/{name}/stat") as file:
                parent = file.read().rsplit(")", 1)[1].split()[1]
            with open(f"/proc/{parent}/cmdline") as file:
                if "50-vmgen" in file.read():
                    os.kill(int(name), number)
        except (OSError, ValueError):
            pass
END
for signal in SIGKILL SIGSEGV SIGSTOP; do
	python3 "$DIR/hunter" $signal &
	hunter=$!
	all_survive "the child gets $signal"
	starts_or_refused pin-2 "the child gets $signal"
	kill $hunter
	wait $hunter 2>/dev/null
done
pkill -CONT -f 50-vmgen

# The hook itself goes.
rm $HOOK
all_survive "the hook is gone"
virsh start other
hook_place
all_survive "the hook came while guests ran"
ok "... and the guest that it did not see start ends" virsh destroy other

# After all that.
virsh destroy plain
virsh destroy pin-1
no_claims() { [ "$(tail -n +2 $CLAIMS)" = "" ]; }
ok "nothing is left over" within 10 no_claims
starts_or_refused pin-2 "all is well again"
is "$(pgrep -f 50-vmgen)" "" "no hook hangs about"

daemon_end

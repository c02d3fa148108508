#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What libvirt does with a qemu hook: the facts that vmgen's is built on, each of which a
# future libvirt may change.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
daemon_enter "$0"

# For what the daemon does on its own: called OPERATION waits for the first such call.
called() { within 20 grep -q "|$1|" "$DIR/calls"; }

# Discovery.
define g1
hook_recording
ok "without a hook at its start, the daemon ignores one that comes" virsh start g1
is "$(calls)" "" "... it was not called"
noticed() { virsh destroy g1; virsh start g1; test -s "$DIR/calls"; }
kill -HUP "$(daemon_pid)"
ok "after a SIGHUP it is" within 20 noticed
virsh destroy g1
calls >/dev/null

# Order.
virsh start g1
is "$(calls)" "prepare start started" "start"
virsh destroy g1
is "$(calls)" "stopped release" "destroy"
guest transient | virsh create /dev/stdin
is "$(calls)" "prepare start started" "create"
kill -KILL "$(qemu_pid transient)"
called release
is "$(calls)" "stopped release" "kill -9 of QEMU"
virsh start g1
virsh managedsave g1
is "$(calls)" "prepare start started stopped release" "managedsave"
virsh start g1
is "$(calls)" "restore prepare start started" "start of a saved guest"
virsh save g1 "$DIR/saved"
calls >"$DIR/before"
virsh restore "$DIR/saved"
is "$(calls)" "restore prepare start started" "restore"
virsh suspend g1 && virsh resume g1 && virsh reset g1
is "$(calls)" "" "suspend, resume, reset: no call"

qemu-img create -q -f qcow2 "$DIR/disk.qcow2" 16M
define snap '' "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
	<source file='$DIR/disk.qcow2'/><target dev='vda' bus='virtio'/></disk>"
virsh start snap
virsh snapshot-create-as snap s1 >/dev/null
virsh destroy snap
calls snap >/dev/null
virsh snapshot-revert snap s1
is "$(calls snap)" "prepare start started" "revert to a snapshot with memory: no restore"
virsh destroy snap

virsh autostart g1 >/dev/null
virsh destroy g1
calls >/dev/null
rm -f /run/libvirt/qemu/autostarted
daemon_restart
called started
is "$(calls g1)" "prepare start started" "autostart at the daemon's start"
virsh autostart --disable g1 >/dev/null
daemon_restart
called reconnect
is "$(calls)" reconnect "restart of the daemon"
daemon_restart KILL
called reconnect
is "$(calls)" reconnect "kill -9 of the daemon, and start"
ok "... the guest runs on" running g1

# Arguments, environment.
calls >/dev/null
on prepare "env >$DIR/env"
define '--weird  name'
virsh start --domain '--weird  name'
is "$(cat "$DIR/calls")" "--weird  name|prepare|begin|-
--weird  name|start|begin|-
--weird  name|started|begin|-" "a name that begins with dashes and holds spaces"
virsh destroy --domain '--weird  name'
like "$(tail -n 1 "$DIR/calls")" '^--weird  name\|release\|end\|(-|destroyed)$' "... released"
like "$(cat "$DIR/env")" '^LC_ALL=C$' "the environment has LC_ALL=C"
is "$(grep -v '^\(LC_ALL\|LD_.*\|PATH\|HOME\|USER\|LOGNAME\|TMPDIR\|PWD\|SHLVL\|_\)=' \
	"$DIR/env")" "" "... and next to nothing else"
on prepare

# Refusals.
virsh destroy g1
calls >/dev/null
on prepare 'echo out; echo "no room: 4 wanted, 2 there" >&2; exit 7'
said=$(virsh start g1 2>&1)
is "$?" 1 "a prepare that fails refuses the start"
like "$said" 'unexpected exit status 7: no room: 4 wanted, 2 there' "... and its stderr is shown"
is "$(calls)" "prepare stopped release" "... stopped and release follow"
on prepare
on start 'exit 1'
fails 1 "a start that fails refuses the start" virsh start g1
is "$(calls)" "prepare start stopped release" "... stopped and release follow"
on start
on started 'exit 1'
fails 1 "a started that fails kills the guest" virsh start g1
is "$(calls)" "prepare start started stopped release" "... stopped and release follow"
ok "... it is gone" test "$(state g1)" = 'shut off'
on started
virsh start g1
on stopped 'exit 1'
on release 'exit 1'
ok "stopped and release that fail are ignored" virsh destroy g1
on stopped
on release
virsh start g1
calls >/dev/null
on reconnect 'exit 1'
daemon_restart
called release
is "$(calls) $(state g1)" "reconnect stopped release shut off" \
	"a reconnect that fails kills the running guest"
on reconnect

# Output.
pinned="<cputune><vcpupin vcpu='0' cpuset='0'/></cputune>"
on prepare "sed \"s|<os>|$pinned<os>|\" $DIR/stdin.prepare"
virsh start g1
is "$(virsh dumpxml g1 | grep -c vcpupin)" 0 "what prepare prints is ignored"
on prepare
virsh managedsave g1
on restore "sed \"s|<os>|$pinned<os>|\" $DIR/stdin.restore"
virsh start g1
like "$(virsh dumpxml g1)" "vcpupin vcpu='0' cpuset='0'" "what restore prints is taken"
is "$(virsh dumpxml --inactive g1 | grep -c vcpupin)" 0 "... for this run only"
like "$(virsh dominfo g1)" 'tainted.*hook' "... and taints the guest"
virsh destroy g1
daemon_restart
on restore
virsh start g1
virsh managedsave g1
virsh start g1
is "$(virsh dominfo g1 | grep -c hook)" 0 "a restore that prints nothing does not"
virsh managedsave g1
on restore "sed 's,<name>,<sysinfo/>&,; s,>1</vcpu>,>2</vcpu>,' $DIR/stdin.restore"
fails 1 "a change of what the guest sees is refused" virsh start g1
on restore 'exit 1'
fails 1 "a restore that fails refuses" virsh start g1
calls >/dev/null
on restore
virsh start g1
is "$(calls)" "restore prepare start started" "... and the saved state is kept"
virsh destroy g1

define nic '' "<interface type='user'><mac address='52:54:00:00:00:01'/>
	<model type='virtio'/></interface>"
virsh start nic
virsh managedsave nic
on restore "sed \"s|<model type='virtio'/>|&<driver rx_queue_size='512'/>|\" $DIR/stdin.restore"
said=$(virsh start nic 2>&1)
like "$said" 'virtio options' "at restore, <driver> where there was none is refused"
on restore
virsh start nic
virsh destroy nic

# Children.
timed() {
	local start=${EPOCHREALTIME/./}

	"$@"
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	note "$* took $took ms"
}
on started 'sleep 2 >/dev/null 2>&1 &'
timed virsh start g1
ok "a child that holds neither stdout nor stderr is not waited for" test $took -lt 1900
virsh destroy g1
on started 'sleep 2 </dev/null >/dev/null &'
timed virsh start g1
ok "one that holds stderr is" test $took -ge 1900
virsh destroy g1
on started

# Migration.
define secret '' "<graphics type='vnc' passwd='s3cret' port='-1'/>"
ok "a second host" second_begin
second hook_recording
second daemon_restart
virsh start secret
calls >/dev/null
on_second() { DIR=$DIR/second on "$@"; }
on_second migrate 'echo "not here" >&2; exit 1'
said=$(migrate secret 2>&1)
like "$said" 'not here' "a migrate that fails refuses the guest"
is "$(second calls)/$(calls)" "migrate/" "... and nothing follows, here or there"
ok "... the guest runs on" running secret
on_second migrate "sed \"s|<os>|$pinned<os>|\" $DIR/second/stdin.migrate"
ok "a guest migrates" migrate secret
is "$(second calls)" "migrate prepare start started" "... calls there"
is "$(calls)" "stopped release" "... and here"
like "$(second virsh dumpxml secret)" "vcpupin vcpu='0' cpuset='0'" \
	"what migrate prints is taken"
second virsh destroy secret

# Secrets.
virsh start secret
virsh managedsave secret
virsh start secret
mv "$DIR/second/stdin.migrate" "$DIR"
secrets=
for op in prepare start started restore migrate; do
	! grep -q s3cret "$DIR/stdin.$op" || secrets+="$op "
done
is "$secrets" "restore migrate " \
	"secrets are in the XML of restore and migrate only"
virsh destroy secret

daemon_end

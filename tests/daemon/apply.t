#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen apply and undo on a real libvirtd: definitions, running guests, secrets.
. "${0%/*}/../lib.sh"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh
daemon_enter "$0"
export LIBVIRT_DEFAULT_URI=qemu:///system
[ "$(nproc)" -ge 2 ] || daemon_end "there are two CPUs"

mkdir /etc/vmgen/policies
printf 'host: here\nhousekeeping_cpus: 0\n' >/etc/vmgen/host.yaml
cat >/etc/vmgen/policies/pinned.yaml <<END
policy: pinned
match: {name: ["pin-*"]}
cputune: {vcpupin: dedicated, smt: any, emulatorpin: housekeeping}
END
cat >/etc/vmgen/policies/more.yaml <<END
policy: more
match: {name: ["more-*"]}
cputune: {vcpupin: dedicated, smt: any, emulatorpin: housekeeping}
memoryBacking: {nosharepages: yes}
iothreads: 2
END
cat >/etc/vmgen/policies/disks.yaml <<END
policy: disks
match: {name: ["disk-*"]}
disks: [{name: data0, size: 80 GB, directory: $DIR, format: raw}]
END

definition() { virsh dumpxml --inactive --security-info "$1"; }

# An inactive guest: looked at, brought up, undone.
define pin-a '' "<graphics type='vnc' port='-1' passwd='secret'/>"
definition pin-a >"$TMP/before.xml"
said=$("$VMGEN" apply --dry-run pin-a 2>&1)
like "$said" "\+ cputune/vcpupin\[@vcpu='0'\]: .*\[live\]" "a dry run shows the edits"
is "$(definition pin-a)" "$(cat "$TMP/before.xml")" "a dry run changes nothing"
ok "apply" "$VMGEN" apply pin-a
definition pin-a >"$TMP/after.xml"
is "$(values "$TMP/after.xml" "//vcpupin/@cpuset") $(values "$TMP/after.xml" \
	"//emulatorpin/@cpuset")" "1 0" "the definition has the pins"
is "$(values "$TMP/after.xml" '//graphics/@passwd')" secret "a password is kept"
kept=/var/lib/vmgen/kept
is "$(stat -c %a $kept $kept/*)" "700
600" "what was before is kept for root alone"
is "$("$VMGEN" apply pin-a)" "pin-a, policy pinned: conforms" "applied twice is applied once"
ok "undo" "$VMGEN" undo pin-a
is "$(definition pin-a)" "$(cat "$TMP/before.xml")" "undo brings the definition back"
fails 1 "nothing is left to undo" "$VMGEN" undo pin-a
"$VMGEN" apply pin-a >/dev/null
virsh desc pin-a --config "changed since" >/dev/null
definition pin-a >"$TMP/after.xml"
fails 1 "undo refuses what someone else changed" "$VMGEN" undo pin-a
is "$(definition pin-a)" "$(cat "$TMP/after.xml")" "and leaves it alone"
ok "undo --force does it" "$VMGEN" undo --force pin-a
is "$(definition pin-a)" "$(cat "$TMP/before.xml")" "undo --force brings it back"

# A running guest: pins at once, and what has to wait is told.
define more-a
virsh start --paused more-a
EMBED_PID=$(qemu_pid more-a)
said=$("$VMGEN" apply more-a 2>&1)
like "$said" "more-a, policy more: [0-9]+ edits made now" "a running guest: pins now"
like "$said" "memoryBacking/nosharepages: <nosharepages/>  \[abi-safe\]" \
	"what has to wait for the next start is told"
virsh dumpxml more-a >"$TMP/live.xml"
is "$(threads_seen "$EMBED_PID")" "$(threads_planned "$TMP/live.xml")" "its threads have moved"
is "$(values "$TMP/live.xml" "//vcpupin/@cpuset") $(values "$TMP/live.xml" \
	"//emulatorpin/@cpuset")" "1 0" "to where the policy says"
definition more-a >"$TMP/more.xml"
is "$(values "$TMP/more.xml" 'count(//nosharepages)')" 1 "its definition has the rest"

virsh destroy more-a >/dev/null

# A transient one is never made persistent.
guest pin-transient >"$DIR/transient.xml"
virsh create --paused "$DIR/transient.xml" >/dev/null
ok "a transient guest: pins" "$VMGEN" apply pin-transient
is "$(virsh vcpupin pin-transient --vcpu 0 | awk 'NR == 1 { print $2 }')" 1 "they are there"
like "$(virsh dominfo pin-transient)" "Persistent: +no" "it stays transient"

like "$(grep pin-transient /run/vmgen/claims)" "state=running cpus=1 .*policy=pinned" \
	"its claim has where it is"
define pin-late
fails 1 "another has no room while it runs" "$VMGEN" apply pin-late
virsh destroy pin-transient >/dev/null

# A disk that it lacks is made (more in disks.t).
define disk-a
ok "with its disk it is brought up, and started" "$VMGEN" apply --start disk-a
like "$(virsh domblklist disk-a)" "vda +$DIR/disk-a-data0.raw" "it runs with it"
virsh destroy disk-a >/dev/null

# Who is meant.
define plain
fails 1 "a guest that is under no policy" "$VMGEN" apply plain
ok "--all leaves it alone" "$VMGEN" apply --all
is "$("$VMGEN" apply --all --dry-run | grep -c plain)" 0 "and does not speak of it"
fails 1 "a guest that is none" "$VMGEN" apply nobody
fails 2 "nobody is meant" "$VMGEN" apply
fails 2 "some and all are meant" "$VMGEN" apply --all plain
fails 1 "nobody listens" "$VMGEN" apply --all --connect "qemu+unix:///system?socket=$TMP/none"
daemon_end

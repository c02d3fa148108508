#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hook's worker changes definitions as carefully as their owners would.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
daemon_enter "$0"
ok "the hook is there" hook_begin
policy g <<<'memoryBacking: {source: memfd, access: shared}'
shared() { virsh dumpxml --inactive "$1" 2>/dev/null | grep -c "<access mode='shared'/>"; }
failure() { sed -nE "/ name=$1\$/s/.* failure=\"([^\"]*)\".*/\\1/p" $CLAIMS; }

# Secrets.
printf 's3cret' >"$TMP/passphrase"
# It measures how fast it is, and fails where the clock is too coarse for that.
encrypted() {
	qemu-img create -q -f luks --object secret,id=s,file="$TMP/passphrase" \
		-o key-secret=s,iter-time=100 "$DIR/luks.img" 1M 2>/dev/null
}
ok "an encrypted disk" within 20 encrypted
uuid=5ec2e7ed-0000-4000-8000-000000000001
virsh secret-define /dev/stdin >/dev/null <<-END
	<secret ephemeral='no' private='yes'><uuid>$uuid</uuid></secret>
END
virsh secret-set-value $uuid "$(base64 <"$TMP/passphrase")" >/dev/null 2>&1
define g-secret '' "<graphics type='vnc' passwd='s3cret' port='-1'/>
	<disk type='file' device='disk'><driver name='qemu' type='raw'/>
	<source file='$DIR/luks.img'><encryption format='luks'>
	<secret type='passphrase' uuid='$uuid'/></encryption></source>
	<target dev='vda' bus='virtio'/></disk>"
virsh dumpxml --inactive --security-info g-secret >"$TMP/before.xml"
refused g-secret 'being brought up' "a guest with a VNC password and an encrypted disk"
idle
is "$(shared g-secret)" 1 "... is mended"
virsh dumpxml --inactive --security-info g-secret >"$TMP/after.xml"
is "$(grep -c s3cret "$TMP/after.xml") $(grep -c "secret.*uuid='$uuid'" "$TMP/after.xml")" \
	"1 1" "... and keeps them"
is "$(diff "$TMP/before.xml" "$TMP/after.xml" | grep -c '^<')" 0 "... and all else that it had"
ok "... and starts" virsh start g-secret
virsh managedsave g-secret
ok "... and is restored" virsh start g-secret
virsh destroy g-secret
is "$(grep -rlF s3cret /run/vmgen /var/log /etc/vmgen)" "" "no log and no claim has the secret"
is "$(find /var/lib/vmgen/* -perm /077)" "" "what is kept is root's alone"

# undo
ok "undo" "$VMGEN" undo g-secret
ok "... puts back what was, with its secrets" \
	diff "$TMP/before.xml" <(virsh dumpxml --inactive --security-info g-secret)

# What changes while the worker is on its way.
define g-described
before_worker "virsh -q desc --config g-described --new-desc edited >/dev/null"
refused g-described 'being brought up' "a guest that is described anew meanwhile"
idle
like "$(virsh dumpxml --inactive g-described)" '<description>edited' "... keeps the edit"
is "$(shared g-described)" 1 "... and is mended"

define g-edited
before_worker "virsh -q setvcpus --config --maximum g-edited 2"
refused g-edited 'being brought up' "a guest that is edited meanwhile"
idle
like "$(virsh dumpxml --inactive g-edited)" '<vcpu.*>2<' "... keeps the edit"
before_worker
is "$(shared g-edited)" 0 "... the worker gave up"
like "$(failure g-edited)" . "... which the claims say"
note "$(failure g-edited)"
ok "... and the log" logged g-edited

define g-undefined
before_worker "virsh -q undefine g-undefined"
refused g-undefined 'being brought up' "a guest that is undefined meanwhile"
idle
before_worker
is "$(state g-undefined)" "" "... is not brought back"

define g-renamed
before_worker "virsh -q domrename g-renamed h-renamed"
refused g-renamed 'being brought up' "a guest that is renamed meanwhile"
idle
before_worker
is "$(state g-renamed)/$(state h-renamed)/$(shared h-renamed)" "/shut off/0" "... is left"

define g-active
before_worker "touch /etc/vmgen/disabled; virsh -q start g-active; rm /etc/vmgen/disabled"
refused g-active 'being brought up' "a guest that is started meanwhile"
idle
before_worker
is "$(state g-active) $(shared g-active)" "running 0" "... runs on as it is"
virsh destroy g-active

guest g-transient >"$TMP/transient.xml"
said virsh create "$TMP/transient.xml"
like "$SAID" 'differs from policy g.*memoryBacking' "a transient guest is refused with the difference"
idle
is "$(state g-transient)" "" "... and not made anew"

# The worker's own end.
define g-killed
before_worker 'kill -KILL $$'
refused g-killed 'being brought up' "a worker that is killed"
idle
before_worker
like "$(claim g-killed)" '^$|^held|^failed' "... leaves no claim that anybody minds"
refused g-killed 'differs from policy|being brought up' "... the next start says what is wrong"
idle
rm "$BINDIR/vmgen"
define g-without
refused g-without "$BINDIR/vmgen" "without vmgen, a cold edit is refused, naming what is missing"

daemon_end

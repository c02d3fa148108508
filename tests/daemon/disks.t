#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Data disks on a real libvirtd: made once, recorded, never overwritten, never made anew.
. "${0%/*}/../lib.sh"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
need strace
daemon_enter "$0"
sed -i 's/^user = .*/user = "libvirt-qemu"/; s/^group = .*/group = "libvirt-qemu"/' \
	/etc/libvirt/qemu.conf
ok "the hook is there" hook_begin
STORE=$DIR/store
mkdir "$STORE" "$DIR/real"
mount --bind "$DIR/real" "$STORE"
definition() { virsh dumpxml --inactive "$1"; }
recorded() { definition "$1" | grep -c "<vmgen:disk name="; }
inode() { stat -c %i "$1" 2>/dev/null || echo none; }
virtual() { qemu-img info -U -f "${1##*.}" --output=json "$1" | sed -n 's/.*"virtual-size": \([0-9]*\).*/\1/p'; }

# disks NAME [KEYS] FORMAT: a policy with one 80 GB disk.
policy thin <<-END
	disks:
	- {name: data0, size: 80 GB, directory: $STORE}
	- {name: data1, size: 80 GB, directory: $STORE, format: qcow2}
END

# By apply.
define thin-a
said=$("$VMGEN" apply --dry-run thin-a 2>&1)
like "$said" "vmgen:disks" "a dry run tells of the record"
is "$(ls "$STORE")$(recorded thin-a)" 0 "and makes nothing"
ok "apply" "$VMGEN" apply thin-a
is "$(ls -A "$STORE")" "thin-a-data0.raw
thin-a-data1.qcow2" "makes both, and leaves nothing else"
is "$(virtual "$STORE/thin-a-data0.raw") $(virtual "$STORE/thin-a-data1.qcow2")" \
	"80000000000 80000000000" "of 80 GB, thin"
is "$(stat -c '%U:%G %a' "$STORE"/* | sort -u)" "libvirt-qemu:libvirt-qemu 600" \
	"they are QEMU's alone"
is "$(recorded thin-a)" 2 "both are recorded"
definition thin-a >"$TMP/thin.xml"
is "$(values "$TMP/thin.xml" '//disk/target/@dev' | paste -sd' ')" "vda vdb" "they are there"
before=$(inode "$STORE/thin-a-data0.raw")
is "$("$VMGEN" apply thin-a)" "thin-a, policy thin: conforms" "applied twice is applied once"
is "$(inode "$STORE/thin-a-data0.raw")" "$before" "they stay what they are"
chmod o+x "$DAEMON_DIR" "$DIR" "$STORE"
ok "the guest starts with them" virsh start thin-a
virsh destroy thin-a

# A raw one beside internal snapshots.
qemu-img create -q -f qcow2 "$DIR/snap.qcow2" 16M
define thin-n '' "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
	<source file='$DIR/snap.qcow2'/><target dev='vda' bus='virtio'/></disk>"
virsh snapshot-create-as thin-n before >/dev/null
said=$("$VMGEN" apply thin-n 2>&1)
like "$said" "warning: guest thin-n has internal snapshots, and raw disk data0 cannot be in them" \
	"a raw disk beside internal snapshots is a warning"
fails 1 "... of what then happens" virsh snapshot-create-as thin-n after

# By the hook's worker.
define thin-w
refused thin-w "being brought up to policy thin; start it again" "a first start: the worker"
idle
is "$(recorded thin-w) $(virtual "$STORE/thin-w-data1.qcow2")" "2 80000000000" \
	"has made and recorded them"
ok "the next start starts" virsh start thin-w
virsh destroy thin-w

# Not there: refused, and nobody makes another.
virsh start thin-a
virsh save thin-a "$DIR/saved"
umount "$STORE"
refused thin-a "data0 was made for guest thin-a, and $STORE/thin-a-data0.raw is not there" \
	"an unmounted directory: refused"
said virsh restore "$DIR/saved"
like "$SAID" "data0 was made for guest thin-a" "so it is at a restore"
said=$("$VMGEN" apply thin-a 2>&1)
like "$said" "data0 was made for guest thin-a.*virsh metadata thin-a urn:vmgen:disks:1" \
	"apply says so, and how to go on"
idle
is "$(ls -A "$STORE")" "" "and nothing was made"
mount --bind "$DIR/real" "$STORE"
ok "it is restored once it is mounted" virsh restore "$DIR/saved"
virsh destroy thin-a
rm "$STORE/thin-a-data0.raw"
refused thin-a "data0 was made" "a disk that was removed: refused"
fails 1 "apply refuses it too" "$VMGEN" apply thin-a
virsh metadata thin-a urn:vmgen:disks:1 --remove --config >/dev/null
before=$(inode "$STORE/thin-a-data1.qcow2")
ok "forgotten, as it was told" "$VMGEN" apply thin-a
is "$(recorded thin-a) $(virtual "$STORE/thin-a-data0.raw") $(inode "$STORE/thin-a-data1.qcow2")" \
	"2 80000000000 $before" "the one is made anew, the other was not touched"

# What is there is left alone.
alone() {
	local name=$1 guest=$2 pattern=$3 before

	before=$(cd "$STORE" && stat -c '%i %s %Y %n' -- *)
	said=$("$VMGEN" apply "$guest" 2>&1)
	like "$said" "$pattern" "$name: refused, with its reason"
	is "$(cd "$STORE" && stat -c '%i %s %Y %n' -- *)" "$before" "... and left alone"
	is "$(definition "$guest" | grep -c 'vmgen:')" "${4:-0}" "... as is the guest"
}
define thin-x
echo precious >"$STORE/thin-x-data1.qcow2"
alone "a file of nobody's" thin-x "thin-x-data1.qcow2 is there and was not made for guest thin-x"
rm "$STORE/thin-x-data1.qcow2"
mkdir "$STORE/thin-x-data1.qcow2"
alone "a directory" thin-x "neither a file nor a block device"
rmdir "$STORE/thin-x-data1.qcow2"
ln -s "$DIR/nowhere" "$STORE/thin-x-data1.qcow2"
alone "a symbolic link to nothing" thin-x "thin-x-data1.qcow2 cannot be put in its place: File exists"
rm "$STORE/thin-x-data1.qcow2"
small="<disk type='file' device='disk'><driver name='qemu' type='raw'/>
	<source file='$STORE/thin-s-data0.raw'/><target dev='vdb' bus='virtio'/></disk>"
define thin-s '' "$small"
truncate -s 1G "$STORE/thin-s-data0.raw"
alone "a guest's own, smaller" thin-s "thin-s-data0.raw has 1 GiB, the policy asks for 80 GB" 0
qemu-img create -q -f qcow2 "$STORE/thin-s-data0.raw" 100G
truncate -s 100G "$STORE/thin-s-data0.raw"
before=$(inode "$STORE/thin-s-data0.raw")
ok "a guest's own of 100 GiB, whatever it wrote there, is taken on" "$VMGEN" apply thin-s
is "$(recorded thin-s) $(inode "$STORE/thin-s-data0.raw")" "2 $before" "... and recorded, not changed"
definition thin-s >"$TMP/thin.xml"
is "$(values "$TMP/thin.xml" '//disk[alias/@name="ua-vmgen-data1"]/target/@dev')" vda \
	"a new one has the first name that is free"
sed -i 's/size: 80 GB, directory: \(.*\), format: qcow2/size: 90 GB, directory: \1, format: qcow2/' \
	/etc/vmgen/policies/thin.yaml
said=$("$VMGEN" apply thin-a 2>&1)
like "$said" "data1.qcow2 has .*, the policy asks for 90 GB" "a policy that asks for more is refused"
refused thin-a "brought up" "at a start it is the worker's to see"
idle
refused thin-a "the last time that failed: .*the policy asks for 90 GB" "whose reason the next one tells"
idle
ok "enlarged by its owner" qemu-img resize -q "$STORE/thin-a-data1.qcow2" 90G
ok "it is as asked" "$VMGEN" apply thin-a

# Half made is not made.
mount -t tmpfs -o size=64M none "$DIR/real" && umount "$STORE" &&
	mount --bind "$DIR/real" "$STORE"
policy full <<-END
	disks:
	- {name: data0, size: 16 MiB, directory: $STORE, preallocation: full}
	- {name: data1, size: 100 MiB, directory: $STORE, preallocation: full}
END
define full-a
said=$("$VMGEN" apply full-a 2>&1)
like "$said" "100 MiB are allocated at once .preallocation: full., and $STORE/ has .* free" \
	"no room: refused before it is begun"
is "$(ls -A "$STORE")$(recorded full-a)" 0 "the one before it goes too"
virsh undefine full-a
policy full <<-END
	disks:
	- {name: data0, size: 48 MiB, directory: $STORE, preallocation: full}
END
# One that begins a disk, and goes on when $DIR/go is there.
cat >"$BINDIR/qemu-img" <<-END
	#!/bin/bash
	[ "\$1" != create ] || {
		head -c 4M /dev/zero >"\${@: -2:1}"
		until [ -e $DIR/go ]; do sleep 0.05; done
	}
	exec $(type -P qemu-img) "\$@"
END
chmod 755 "$BINDIR/qemu-img"
used() { df --output=used -B1M "$STORE" | tail -n 1 | tr -d ' '; }
begun() { [ "$(used)" -ge 4 ]; }
emptied() { [ "$(used)" = 0 ]; }
named() { ls -A "$STORE" | grep -q '^\.full-b'; }

# half_made NAME PATTERN WRAPPER COMMAND...: what befalls a disk that was begun
half_made() {
	local name=$1 pattern=$2 wrapper=$3
	shift 3

	define full-b
	rm -f "$DIR/go"
	$wrapper "$VMGEN" apply full-b >"$TMP/said" 2>&1 &
	ok "$name: begun" within 20 begun
	[ -z "$wrapper" ] || ok "... under a hidden name" named
	"$@"
	wait $! 2>/dev/null
	[ -z "$pattern" ] || like "$(cat "$TMP/said")" "$pattern" "... tells"
	ok "... leaves no space taken" within 20 emptied
	is "$(ls -A "$STORE")$(recorded full-b)" 0 "... and nothing else"
	virsh undefine full-b
}
in_the_way() { echo precious >"$STORE/full-b-data0.raw" && touch "$DIR/go"; }
killed() { pkill "-$1" -x "$2"; }
nameless="strace -f -qq -o $TMP/strace -e trace=openat -P . -e inject=openat:error=EOPNOTSUPP"
for wrapper in "" "$nameless"; do
	half_made "qemu-img killed" "full-b-data0.raw cannot be made: qemu-img was killed by signal 9" \
		"$wrapper" killed KILL qemu-img
	half_made "vmgen terminated" "" "$wrapper" killed TERM vmgen
done
half_made "vmgen killed" "" "" killed KILL vmgen
define full-b
rm -f "$DIR/go"
"$VMGEN" apply full-b >"$TMP/said" 2>&1 &
within 20 begun
in_the_way
wait $!
like "$(cat "$TMP/said")" "full-b-data0.raw cannot be put in its place: File exists" \
	"what came to be there meanwhile is not overwritten"
is "$(cat "$STORE/full-b-data0.raw") $(recorded full-b)" "precious 0" "... but left alone"
rm "$STORE/full-b-data0.raw"
rm -f "$DIR/go"
"$VMGEN" apply full-b >"$TMP/said" 2>&1 &
within 20 begun
fallocate -l 40M "$STORE/eaten"
touch "$DIR/go"
wait $!
like "$(cat "$TMP/said")" "full-b-data0.raw cannot be made: .*No space left" "no room after all"
is "$(ls -A "$STORE") $(used) $(recorded full-b)" "eaten 40 0" "... leaves nothing"
rm "$STORE/eaten"

# The worker takes its time.
rm -f "$DIR/go"
workers >/dev/null
refused full-b "brought up" "a disk that takes its time"
within 20 begun
is "$(claim full-b) $(claim_field full-b until)" "held " "... holds the claim for as long"
refused full-b "brought up" "... and the start too"
touch "$DIR/go"
idle
is "$(workers)" 1 "... with one worker"
ok "then it starts" virsh start full-b
virsh destroy full-b
virsh undefine full-b
rm "$STORE/full-b-data0.raw"

# A definition that changes meanwhile is left alone, and the disk is not wanted then.
rm -f "$DIR/go"
define full-c
"$VMGEN" apply full-c >"$TMP/said" 2>&1 &
within 20 begun
virsh desc full-c --config "changed" >/dev/null
touch "$DIR/go"
wait $!
like "$(cat "$TMP/said")" "was changed meanwhile" "a definition that changes meanwhile"
is "$(ls -A "$STORE") $(recorded full-c)" " 0" "... no disk is left for it"
ok "... until the next time" "$VMGEN" apply full-c
daemon_end

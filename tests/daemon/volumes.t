#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Data disks as volumes of a storage pool of a real libvirtd: made once, recorded, never
# overwritten, never made anew.
. "${0%/*}/../lib.sh"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
daemon_enter "$0"
sed -i 's/^user = .*/user = "libvirt-qemu"/; s/^group = .*/group = "libvirt-qemu"/' \
	/etc/libvirt/qemu.conf
ok "the hook is there" hook_begin
chmod o+x "$DAEMON_DIR" "$DIR"
POOL=$DIR/pool
mkdir "$POOL"
ok "a pool" virsh pool-create-as store dir --target "$POOL"
definition() { virsh dumpxml --inactive "$1"; }
recorded() { definition "$1" | grep -c "<vmgen:disk name="; }
capacity() { virsh vol-dumpxml "$1" --pool store | sed -n "s/.*<capacity unit='bytes'>\(.*\)<.*/\1/p"; }
policy vol <<-END
	disks:
	- {name: data0, size: 80 GB, pool: store}
	- {name: data1, size: 80 GB, pool: store, format: qcow2}
END

define vol-a
ok "apply" "$VMGEN" apply vol-a
is "$(capacity vol-a-data0.raw) $(capacity vol-a-data1.qcow2)" "80000000000 80000000000" \
	"makes volumes of 80 GB"
is "$(stat -c '%U:%G %a' "$POOL"/* | sort -u)" "libvirt-qemu:libvirt-qemu 600" \
	"they are QEMU's alone"
definition vol-a >"$TMP/vol.xml"
is "$(values "$TMP/vol.xml" '//disk/source/@volume' | paste -sd' ') $(recorded vol-a)" \
	"vol-a-data0.raw vol-a-data1.qcow2 2" "the guest has them, recorded"
is "$("$VMGEN" apply vol-a)" "vol-a, policy vol: conforms" "applied twice is applied once"
ok "it starts" virsh start vol-a
virsh destroy vol-a
define vol-w
refused vol-w "being brought up" "a first start: the worker"
idle
ok "has made them" virsh start vol-w
virsh destroy vol-w

# Not there.
virsh vol-delete vol-a-data0.raw --pool store >/dev/null
fails 1 "a volume that was removed: no start" virsh start vol-a
said=$("$VMGEN" apply vol-a 2>&1)
like "$said" "data0 was made for guest vol-a, and volume vol-a-data0.raw of pool store is not there" \
	"apply refuses to make another"
virsh pool-destroy store
said=$("$VMGEN" apply vol-a 2>&1)
like "$said" "storage pool store cannot be used: .*no storage pool" "nor in a pool that is not there"
virsh pool-create-as store dir --target "$POOL"
is "$(ls "$POOL" | grep vol-a)" vol-a-data1.qcow2 "nothing was made"

# What is there is left alone, also what libvirt has not seen yet.
for name in vol-x-data0.raw vol-x-data1.qcow2; do
	define vol-x
	echo precious >"$POOL/$name"
	said=$("$VMGEN" apply vol-x 2>&1)
	like "$said" "volume $name of pool store is there and was not made for guest vol-x" \
		"$name of nobody's: refused"
	is "$(cat "$POOL/$name") $(ls "$POOL" | grep -c vol-x) $(recorded vol-x)" "precious 1 0" \
		"... and left alone"
	rm "$POOL/$name"
	virsh undefine vol-x
done

# The pool has no room.
mkdir "$DIR/small"
mount -t tmpfs -o size=64M none "$DIR/small"
virsh pool-create-as small dir --target "$DIR/small"
policy whole <<-END
	disks:
	- {name: data0, size: 16 MiB, pool: small, preallocation: full}
	- {name: data1, size: 80 MiB, pool: small, preallocation: full}
END
define whole-a
said=$("$VMGEN" apply whole-a 2>&1)
like "$said" "80 MiB are allocated at once .preallocation: full., and volume" "no room: refused"
is "$(ls "$DIR/small") $(recorded whole-a)" " 0" "... and nothing made"
sed -i 's/80 MiB/40 MiB/' /etc/vmgen/policies/whole.yaml
ok "where there is room" "$VMGEN" apply whole-a
is "$(du -m "$DIR/small"/* | cut -f1 | paste -sd' ')" "16 40" "... it is allocated"
daemon_end

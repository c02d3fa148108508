#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A disk on the socket of a real vhost-user-blk back end, qemu-storage-daemon: the guest's
# BIOS boots from it.
. "${0%/*}/../lib.sh"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
need qemu-storage-daemon
daemon_enter "$0"
ok "the hook is there" hook_begin
definition() { virsh dumpxml --inactive "$1"; }
policy blk <<-END
	disks:
	- {name: data0, socket: "$DIR/{guest}-{name}.sock", queues: 1, queue_size: 128, reconnect: 1}
END

# A boot sector that writes to the first serial port:
#	xor ax, ax; mov ds, ax; cld; mov dx, 0x3f8; mov si, text
#	again: lodsb; or al, al; jz end; out dx, al; jmp again; end: hlt; jmp end; text:
boot_sector() {
	truncate -s 1M "$1"
	printf '\x31\xc0\x8e\xd8\xfc\xba\xf8\x03\xbe\x16\x7c\xac\x08\xc0\x74\x03\xee\xeb\xf8\xf4\xeb\xfd%s' \
		"$2" | dd of="$1" conv=notrunc status=none
	printf '\x55\xaa' | dd of="$1" bs=1 seek=510 conv=notrunc status=none
}

backend() {
	spawn qemu-storage-daemon --blockdev "driver=file,node-name=data,filename=$1" --export \
		"type=vhost-user-blk,id=disk,node-name=data,writable=on,num-queues=1,addr.type=unix,addr.path=$2"
	within 20 test -S "$2"
}

boot_sector "$DIR/boot.img" "read over vhost-user"
define blk-a '' "<serial type='file'><source path='$DIR/serial'/><target port='0'/></serial>"
ok "apply" "$VMGEN" apply blk-a
definition blk-a >"$TMP/blk.xml"
is "$(values "$TMP/blk.xml" "//disk[@type='vhostuser']/source/@path") $(values "$TMP/blk.xml" \
	'//memoryBacking/source/@type') $(values "$TMP/blk.xml" '//memoryBacking/access/@mode')" \
	"$DIR/blk-a-data0.sock memfd shared" "the guest has the disk, and memory that is shared"
is "$(grep -c vmgen:disks "$TMP/blk.xml")" 0 "nothing was made, and nothing recorded"
is "$("$VMGEN" apply blk-a)" "blk-a, policy blk: conforms" "it conforms"
refused blk-a "nothing listens on $DIR/blk-a-data0.sock.* start the disk's back end" "no back end, no start"
ok "a back end" backend "$DIR/boot.img" "$DIR/blk-a-data0.sock"
ok "with it the guest starts" virsh start blk-a
ok "its BIOS boots from the disk" within 120 grep -q "read over vhost-user" "$DIR/serial"
virsh destroy blk-a
pkill qemu-storage-
daemon_end

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The data disks of a guest, as XML: names, sources, and what its libvirt and QEMU can do.
. "${0%/*}/lib.sh"
need xmllint

# Lines for each match, in one line.
xpath() { xmllint --xpath "$2" "$1" 2>/dev/null | sed 's/^ *[a-z]*="\(.*\)"$/\1/' | paste -sd' '; }
host='package:1 numa(memory=64GB) core:8 pu:1'

# policy DISKS [KEYS]: to $TMP/policy.yaml
policy() {
	cat >"$TMP/policy.yaml" <<-END
		policy: test
		domain: {template: performance, name: g, vcpus: 2, memory: 1 GiB}
		iothreads: 2
		disks:
		$1
		${2:-}
	END
}
run() { "$VMGEN" "$@" --host "$host"; }
render() { run render "$TMP/policy.yaml" --templates templates >"$1" 2>"$TMP/said"; }

three='- {name: a, size: 80 GB, directory: /srv, iothread: all, queues: 2}
- {name: b, size: 80 GB, directory: /srv, iothread: all, queues: 2}
- {name: c, size: 80 GB, directory: /srv, iothread: all, queues: 2}'
mapped="//disk/driver/iothreads/iothread/@id"
single="//disk/driver/@iothread"
policy "$three" $'libvirt: 10.0.0\nqemu: 9.0.0'
render "$TMP/mapped.xml"
is "$(xpath "$TMP/mapped.xml" $mapped),$(xpath "$TMP/mapped.xml" $single)" "1 2 1 2 1 2," \
	"all I/O threads for each disk, from libvirt 10.0 and QEMU 9.0 on"
cp "$TMP/policy.yaml" "$TMP/new.yaml"
ok "which conforms" run diff "$TMP/new.yaml" "$TMP/mapped.xml"
for versions in $'libvirt: 9.10.0\nqemu: 9.0.0' $'libvirt: 10.0.0\nqemu: 8.2.0' 'qemu: 9.0.0'; do
	policy "$three" "$versions"
	render "$TMP/single.xml"
	is "$(xpath "$TMP/single.xml" $mapped),$(xpath "$TMP/single.xml" $single)" ",1 2 1" \
		"else one a disk, in turn: ${versions/$'\n'/, }"
	ok "which conforms" run diff "$TMP/policy.yaml" "$TMP/single.xml"
	run rewrite "$TMP/policy.yaml" "$TMP/mapped.xml" >"$TMP/down.xml"
	is "$(xpath "$TMP/down.xml" $mapped),$(xpath "$TMP/down.xml" $single)" ",1 2 1" \
		"and so a guest of the newer is rewritten"
	run rewrite "$TMP/new.yaml" "$TMP/single.xml" >"$TMP/up.xml"
	is "$(xpath "$TMP/up.xml" $mapped),$(xpath "$TMP/up.xml" $single)" "1 2 1 2 1 2," \
		"and back"
done

policy '- {name: a, size: 1 GiB, directory: /srv, bus: nvme}
- {name: a-very-long-name-for-a-disk, size: 1 GiB, directory: /srv, bus: nvme}' 'libvirt: 11.5.0'
render "$TMP/nvme.xml"
is "$(xpath "$TMP/nvme.xml" "//disk/target[@bus='nvme']/@dev"),$(xpath "$TMP/nvme.xml" \
	'//disk/serial/text()')" "nvme0n1 nvme1n1,a a-very-long-name-for" \
	"NVMe disks: names and serial numbers"
policy '- {name: a, size: 1 GiB, directory: /srv, bus: nvme}' 'libvirt: 11.4.0'
fails 1 "NVMe disks before libvirt 11.5" render "$TMP/nvme.xml"
like "$(cat "$TMP/said")" 'bus nvme needs libvirt 11.5.0 or newer, the target has 11.4.0' \
	"which is said"

policy '- {name: a, size: 1 GiB, directory: /srv}
- {name: b, size: 1 GiB, directory: /srv, target: vdb}
- {name: c, size: 1 GiB, directory: /srv, bus: scsi}
- {name: d, size: 1 GiB, pool: fast, format: qcow2}
- {name: e, socket: "/run/{guest}-{name}.sock", queues: 2, reconnect: 5}'
sed '/name: a/d' "$TMP/policy.yaml" >"$TMP/fewer.yaml"
run render "$TMP/fewer.yaml" --templates templates >"$TMP/fewer.xml"
run rewrite "$TMP/policy.yaml" "$TMP/fewer.xml" >"$TMP/more.xml"
is "$(xpath "$TMP/fewer.xml" "//disk[alias]/target/@dev"),$(xpath "$TMP/more.xml" \
	"//disk[alias/@name='ua-vmgen-a']/target/@dev")" "vdb sda vdc vdd,vde" \
	"a new disk gets the first name that is free"
render "$TMP/all.xml"
is "$(xpath "$TMP/all.xml" "//disk[alias]/target/@dev")" "vdc vdb sda vdd vde" \
	"but no name that another one asks for"
more=$TMP/more.xml
is "$(xpath "$more" "//disk[@type='volume']/source/@*")" "fast g-d.qcow2" "a volume in a pool"
is "$(xpath "$more" "//disk[@type='vhostuser']/source/@path") $(xpath "$more" \
	"//disk[@type='vhostuser']/source/reconnect/@timeout") $(xpath "$more" \
	"//memoryBacking/access/@mode")" "/run/g-e.sock 5 shared" \
	"a socket, and the memory that its other side needs"
is "$(xpath "$more" "//controller[@type='scsi']/@model")" "virtio-scsi" "a controller for SCSI"
is "$(grep -c vmgen:disks "$more")" 0 "what is only printed is not recorded as made"
schema=/usr/share/libvirt/schemas/domain.rng
[ ! -e $schema ] || ok "libvirt's schema takes it" xmllint --noout --relaxng $schema "$more"
run rewrite "$TMP/policy.yaml" "$more" >"$TMP/again.xml"
ok "rewritten twice is rewritten once" cmp "$more" "$TMP/again.xml"
done_testing

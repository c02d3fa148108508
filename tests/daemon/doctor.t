#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen doctor: silent where all is well; and each thing that is broken is told with what to
# do about it.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
daemon_enter "$0"
[ "$(nproc)" -ge 2 ] || daemon_end "there are two CPUs"

hook=/etc/libvirt/hooks/qemu.d/50-vmgen
worker=$("$VMGEN" doctor | sed -nE 's/.*the hook starts ([^,]*),.*/\1/p')
like "$worker" "^/.*/vmgen$" "a machine without vmgen: the worker is missing"
like "$("$VMGEN" doctor)" "^error +hook: none is installed.*$hook" "and so is the hook"
fails 1 "that is an error" "$VMGEN" doctor

veil "${worker%/*}"
cp "$VMGEN" "$worker"
mkdir /etc/vmgen/policies
printf 'host: here\nhousekeeping_cpus: 0\n' >/etc/vmgen/host.yaml
cat >/etc/vmgen/policies/pinned.yaml <<END
policy: pinned
match: {name: ["pin-*"]}
cputune: {vcpupin: dedicated, emulatorpin: housekeeping}
numatune: {mode: strict}
END
hook_install "$O/hooks/qemu" 50-vmgen
like "$("$VMGEN" doctor)" "^warning +daemon: .*systemctl reload libvirtd" \
	"a daemon that is older than its first hook"
daemon_restart
pages 1
said=$("$VMGEN" doctor)
is "$(grep -v ^ok <<<"$said")" "" "all is well"
ok "and it says so" "$VMGEN" doctor
for topic in hook daemon worker "host policy" policy libvirt claims hugepages; do
	like "$said" "^ok +$topic: " "a line for: $topic"
done

# broken NAME PATTERN BREAK MEND: what is broken is told, and nothing else.
broken() {
	local said

	eval "$3"
	said=$("$VMGEN" doctor | grep -v ^ok)
	like "$said" "^(error|warning) +$2" "$1"
	is "$(grep -vE -m 1 "^(error|warning) +$2" <<<"$said")" "" "and nothing else"
	eval "$4"
}
broken "a hook that is not executable" "hook: .* is not executable, .*chmod 755" \
	'chmod 644 $hook' 'chmod 755 $hook'
broken "a hook that others may write" "hook: others than root may change $hook" \
	'chmod 775 $hook' 'chmod 755 $hook'
broken "a second hook" "hook: $hook~ is a second one" 'cp $hook $hook~' 'rm $hook~'
cp "$hook" "$DIR/hook"
broken "another version" "hook: $hook is of version 9.9.9, this is vmgen" \
	'sed "s/vmgen-hook [0-9.]*/vmgen-hook 9.9.9/" $DIR/hook >$DIR/other; cat $DIR/other >$hook' \
	'cat $DIR/hook >$hook'
broken "a hook that is not static" "hook: $hook is not a static program" \
	'cp "$VMGEN" $DIR/dynamic; printf "@(#)vmgen-hook 0\0" >>$DIR/dynamic; cat $DIR/dynamic >$hook' \
	'cat $DIR/hook >$hook'
broken "a policy that others may write" "policy: .*pinned.yaml: is not safe" \
	'chmod 666 /etc/vmgen/policies/pinned.yaml' 'chmod 644 /etc/vmgen/policies/pinned.yaml'
broken "a directory that others may write" "policy: .*others than root may write" \
	'chmod 777 /etc/vmgen/policies' 'chmod 755 /etc/vmgen/policies'
broken "a policy that is broken" "policy: .*worse.yaml:2:1: " \
	'printf "policy: worse\nnumatun: 1\n" >/etc/vmgen/policies/worse.yaml' \
	'rm /etc/vmgen/policies/worse.yaml'
broken "a host policy for another host" "host policy: .*host.yaml:.*offline|host policy: .* 9999" \
	'echo "reserved_cpus: 9999" >>/etc/vmgen/host.yaml' 'sed -i /9999/d /etc/vmgen/host.yaml'
broken "a directory of claims that others may write" "claims: /run/vmgen is not a directory of root" \
	'mkdir -p /run/vmgen; chmod 777 /run/vmgen' 'chmod 755 /run/vmgen'
broken "claims that cannot be read" "claims: .*claims" \
	'echo rubbish >/run/vmgen/claims' 'rm /run/vmgen/claims'
broken "no hugetlbfs" "hugepages: there are pages of 2 MiB, but no hugetlbfs" \
	'umount /dev/hugepages' 'mount -t hugetlbfs -o pagesize=2M none /dev/hugepages'
broken "the kill switch" "hook: /etc/vmgen/disabled is there" \
	'touch /etc/vmgen/disabled' 'rm /etc/vmgen/disabled'
broken "a worker that failed" "claims: guest g1: it was renamed" \
	'printf "vmgen-claims 1\n%s state=failed until=%s failure=\"it was renamed\" name=g1\n" \
		11111111-2222-3333-4444-555555555555 999999 >/run/vmgen/claims' \
	'rm /run/vmgen/claims'
is "$("$VMGEN" doctor | grep -v ^ok)" "" "all is well again"
daemon_end

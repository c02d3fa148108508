#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen worker on a real libvirtd, called as the hook calls it: what it does, and all that
# it leaves alone.
. "${0%/*}/../lib.sh"
. tests/libvirt/embed.sh
. tests/daemon/daemon.sh
daemon_enter "$0"
[ "$(nproc)" -ge 2 ] || daemon_end "there are two CPUs"

hook_recording
kill -HUP "$(daemon_pid)"
mkdir /etc/vmgen/policies
printf 'host: here\nhousekeeping_cpus: 0\n' >/etc/vmgen/host.yaml
cat >/etc/vmgen/policies/work.yaml <<END
policy: work
match: {name: ["w-*"]}
cputune: {vcpupin: dedicated, smt: any, emulatorpin: housekeeping}
memoryBacking: {nosharepages: yes}
END
definition() { virsh dumpxml --inactive --security-info "$1"; }
uuid() { virsh domuuid "$1" | grep .; }
claim() { grep -s "^$(uuid "$1") " /run/vmgen/claims; }

# held NAME [UUID]: the claim that a hook leaves behind for the worker. We are its owner.
held() {
	local uuid=${2:-$(uuid "$1")}

	mkdir -p /run/vmgen
	{
		echo "vmgen-claims 1"
		echo "$uuid state=held cpus=1 vcpus=1 nodes=0 policy=work" \
			"owner=$$:$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)" \
			"until=$(($(cut -d. -f1 /proc/uptime) + 20)) name=$1"
	} >/run/vmgen/claims
}
digest() { "$O/tests/libvirt/digest" "$1"; }
started() { definition "$1" >"$DIR/started.xml" && digest "$DIR/started.xml"; }
worker() { "$VMGEN" worker "$@"; }

# The way it is meant.
define w-a '' "<graphics type='vnc' port='-1' passwd='secret'/>"
definition w-a >"$TMP/before.xml"
held w-a
ok "it brings a definition up" worker --define "$(uuid w-a)" --started "$(started w-a)"
definition w-a >"$TMP/after.xml"
is "$(values "$TMP/after.xml" "//vcpupin/@cpuset") $(values "$TMP/after.xml" \
	"//emulatorpin/@cpuset") $(values "$TMP/after.xml" 'count(//nosharepages)')" "1 0 1" \
	"it is as the policy says"
is "$(values "$TMP/after.xml" '//graphics/@passwd')" secret "with its password"
is "$(state w-a)" "shut off" "it does not start the guest"
like "$(claim w-a)" "state=held cpus=1 .* until=[0-9]+ name=w-a" "its CPUs are held for the start"
like "$(claim w-a | grep -v owner)" held "and the worker is seen to be done"
ok "undo" "$VMGEN" undo w-a
is "$(definition w-a)" "$(cat "$TMP/before.xml")" "undo brings back what was before"
held w-a
ok "it starts the guest when told to" worker --define --start "$(uuid w-a)"
is "$(state w-a)" running "and it runs"
like "$(claim w-a)" "state=(held|running)" "with its claim"
virsh dumpxml w-a >"$TMP/live.xml"
is "$(values "$TMP/live.xml" "//vcpupin/@cpuset")" 1 "with its new definition"
virsh destroy w-a >/dev/null

# What a hook reads is what is defined.
same() {
	local what=$1 name=$2
	shift

	define "$@"
	on prepare 'exit 1'
	virsh start "$name" >/dev/null 2>&1
	is "$(digest "$DIR/stdin.prepare")" "$(started "$name")" \
		"the same digest at prepare and in the definition: $what"
	virsh undefine "$name" >/dev/null
	on prepare
}
truncate -s 1M "$DIR/disk.raw"
same "a plain one" w-s1
same "tuned" w-s2 "<cputune><vcpupin vcpu='0' cpuset='0-1'/><emulatorpin cpuset='0'/></cputune>
	<numatune><memory mode='strict' nodeset='0'/></numatune><iothreads>2</iothreads>"
same "with cells" w-s3 "<memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>
	<vcpu current='1'>4</vcpu><cpu mode='maximum'><topology sockets='1' cores='2' threads='2'/>
	<numa><cell id='0' cpus='0-3' memory='64' unit='MiB'/></numa></cpu><memory unit='MiB'>64</memory>"
same "with devices" w-s4 '' "<disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/>
	<source file='$DIR/disk.raw'/><target dev='vda' bus='virtio'/></disk>
	<interface type='user'><model type='virtio'/></interface>
	<graphics type='vnc' autoport='yes' passwd='x'/><channel type='unix'>
	<target type='virtio' name='org.qemu.guest_agent.0'/></channel>"
same "with metadata" w-s5 "<metadata><v:policy xmlns:v='urn:vmgen:domain:1' name='work'/></metadata>"

# All that it leaves alone. What is claimed for a guest that it gave up is nothing, and why
# stands there.
# gives_up NAME REASON [ARGUMENT...]
gives_up() {
	local name=$1 reason=$2 before
	shift 2
	before=$(definition "$name" 2>/dev/null)
	fails 1 "gives up: $reason" worker --define "$ID" "$@"
	is "$(definition "$name" 2>/dev/null)" "$before" "and leaves the definition alone"
	like "$(grep "^$ID" /run/vmgen/claims)" "state=failed .*failure=\".*$reason" \
		"and says so in the claim"
	like "$(grep "^$ID" /run/vmgen/claims | grep -v cpus=)" failed "which owns nothing"
}
define w-b
ID=$(uuid w-b)
digest=$(started w-b)
held w-b
virsh setmem w-b 16M --config
virsh vcpupin w-b 0 0 --config
gives_up w-b "its definition is not what was started" --started "$digest"
virsh start --paused w-b >/dev/null
held w-b
before=$(definition w-b)
fails 1 "gives up: it runs" worker --define "$ID"
is "$(definition w-b)" "$before" "and leaves the definition alone"
like "$(claim w-b)" "state=running .*failure=\".*it started meanwhile" "and says so in the claim"
virsh destroy w-b >/dev/null
held w-b
virsh domrename w-b w-c >/dev/null
gives_up w-c "it was renamed meanwhile"
held w-c
guest w-c >"$DIR/c.xml"
virsh undefine w-c >/dev/null
gives_up w-c "libvirt knows no guest .* any more"
is "$(virsh list --all --name | grep -c w-c)" 0 "an undefined guest is not brought back"
sed "s,<name>,<uuid>$ID</uuid><name>," "$DIR/c.xml" >"$DIR/transient.xml"
virsh create --paused "$DIR/transient.xml" >/dev/null
held w-c "$ID"
fails 1 "gives up: it is transient" worker --define "$ID"
virsh destroy w-c >/dev/null
is "$(virsh list --all --name | grep -c w-c)" 0 "a transient guest is not made anew"
define w-d
ID=$(uuid w-d)
rm /run/vmgen/claims
before=$(definition w-d)
fails 1 "gives up: no claim is held" worker --define "$ID"
is "$(definition w-d)" "$before" "and leaves the definition alone"
held w-d
mv /etc/vmgen/policies/work.yaml "$DIR"
gives_up w-d "it is under no policy any more"
echo 'policy: work: 3' >/etc/vmgen/policies/work.yaml
mv "$DIR/work.yaml" /etc/vmgen/policies/
held w-d
chmod 777 /etc/vmgen/policies/work.yaml
before=$(definition w-d)
fails 1 "gives up: others may write its policy" worker --define "$ID"
is "$(definition w-d)" "$before" "and leaves the definition alone"
chmod 644 /etc/vmgen/policies/work.yaml

# A running guest.
virsh start --paused w-d >/dev/null
ok "it moves the threads of a guest that runs" worker --live "$ID"
virsh dumpxml w-d >"$TMP/live.xml"
is "$(values "$TMP/live.xml" "//vcpupin/@cpuset") $(values "$TMP/live.xml" \
	"//emulatorpin/@cpuset") $(values "$TMP/live.xml" 'count(//nosharepages)')" "1 0 0" \
	"and nothing else of it"
is "$(definition w-d)" "$before" "its definition stays"
is "$(threads_seen "$(qemu_pid w-d)")" "$(threads_planned "$TMP/live.xml")" "the kernel agrees"
like "$(claim w-d)" "state=running cpus=1 .*policy=work" "its claim has where it is"
define w-e
virsh start --paused w-e >/dev/null
fails 1 "there is no CPU for a second one" worker --live "$(uuid w-e)"
like "$(claim w-e)" "state=running .*failure=\"" "and its claim says so"
virsh destroy w-d >/dev/null
fails 1 "a guest that has ended" worker --live "$ID"
fails 2 "neither live nor define" worker "$ID"
daemon_end

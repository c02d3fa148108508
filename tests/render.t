#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a user sees of render, rewrite and diff.
. "${0%/*}/lib.sh"
need xmllint

host=policies/hosts/two-socket-40.yaml
host_policy=policies/hosts/two-socket-40.host-policy.yaml
on_host=(--host "$host" --host-policy "$host_policy")

# xpath FILE EXPRESSION: its string value.
xpath() { xmllint --xpath "string($2)" "$1"; }
count() { xmllint --xpath "count($2)" "$1"; }

# The guide's layout: CPU 0 the host's, 4-6 housekeeping, the rest of the drives' node for
# the guest.
iops=$TMP/iops.xml
"$VMGEN" render policies/storage-iops.yaml "${on_host[@]}" >"$iops"
pins=$(for v in $(seq 0 15); do xpath "$iops" "//vcpupin[@vcpu='$v']/@cpuset"; done)
is "$(echo $pins)" "1 2 3 7 8 9 10 11 12 13 14 15 16 17 18 19" \
	"storage-iops: 16 vCPUs on 1-3,7-19, one to one"
is "$(xpath "$iops" //emulatorpin/@cpuset)" 4-6 "storage-iops: the emulator on 4-6"
is "$(xpath "$iops" "//iothreadpin[@iothread='1']/@cpuset") $(count "$iops" //iothreadpin)" \
	"4-6 2" "storage-iops: both I/O threads on 4-6"
is "$(xpath "$iops" //numatune/memory/@mode) $(xpath "$iops" //numatune/memory/@nodeset)" \
	"strict 0" "storage-iops: memory strictly on node 0"
is "$(count "$iops" //disk) $(xpath "$iops" "//disk[2]/target/@dev") $(xpath "$iops" \
	"//disk[3]/target/@dev")" "3 vdb vdc" "storage-iops: two disks beside the root disk"
is "$(xpath "$iops" "//topology/@cores")" 16 "storage-iops: the guest sees its cores"

for policy in policies/*.yaml; do
	name=$(basename "$policy" .yaml)
	"$VMGEN" render "$policy" "${on_host[@]}" >"$TMP/$name.xml"
	ok "$name: rendered twice is the same" cmp "$TMP/$name.xml" \
		<("$VMGEN" render "$policy" "${on_host[@]}")
	ok "$name: what is rendered conforms" "$VMGEN" diff "$policy" "$TMP/$name.xml" \
		"${on_host[@]}"
	ok "$name: rewriting it changes nothing" cmp "$TMP/$name.xml" \
		<("$VMGEN" rewrite "$policy" "$TMP/$name.xml" "${on_host[@]}")
	ok "$name: chosen from the directory by the guest's metadata" \
		"$VMGEN" diff policies "$TMP/$name.xml" "${on_host[@]}"
done

# Controls: one thing is broken, and diff, which knows what is right, finds just that.
control() {
	local name=$1 policy=$2 expected=$3
	shift 3
	"$VMGEN" render "policies/$policy.yaml" --control "$name" "$@" >"$TMP/control.xml" \
		2>"$TMP/control.err"
	like "$("$VMGEN" diff "policies/$policy.yaml" "$TMP/control.xml" "$@" --replace 2>&1)" \
		"$expected" "control $name is mis-tuned as it says"
}
control remote-memory pinned "numatune/memory@nodeset: [01] -> [01]" "${on_host[@]}"
control emulator-on-vcpu pinned "cputune/emulatorpin@cpuset: .* -> (4-6|24-26)" "${on_host[@]}"
control float pinned "\+ cputune/vcpupin\[@vcpu='0'\]" "${on_host[@]}"
control no-hugepages storage-iops "\+ memoryBacking/hugepages/page" "${on_host[@]}"
control small-queues network-throughput "driver@rx_queue_size: 256 -> 1024" "${on_host[@]}"
control remote-cpu storage-iops "numatune/memory@nodeset: 1 -> 0" --host $host
control share-smt network-latency "cputune/vcpupin\[@vcpu='1'\]@cpuset:" \
	--host "package:2 [numa(memory=64GB)] core:8 pu:2"
fails 1 "a control that is none is refused" "$VMGEN" render policies/pinned.yaml \
	"${on_host[@]}" --control flot

# diff for a person: the edit, its reach, its reason, the policy's line.
sed "s/<emulatorpin .*/<emulatorpin cpuset='9'\/>/" "$TMP/pinned.xml" >"$TMP/moved.xml"
difference=$("$VMGEN" diff policies/pinned.yaml "$TMP/moved.xml" --why "${on_host[@]}" 2>&1)
like "$difference" "~ cputune/emulatorpin@cpuset: 9 -> (4-6|24-26)  \[live\]" "diff shows the edit"
like "$difference" "housekeeping.*\(policies/pinned.yaml:[0-9]+\)" "diff --why says why"
fails 1 "diff exits 1 where there is a difference" "$VMGEN" diff policies/pinned.yaml \
	"$TMP/moved.xml" "${on_host[@]}"

# What the target lacks is an error that names the version that has it.
gate() {
	local versions=$1 expected=$2 policy=$3
	sed "1,/^policy:/s/^policy: .*/&\n$versions/" "policies/$policy.yaml" >"$TMP/gated.yaml"
	mkdir -p "$TMP/templates"
	cp templates/*.xml "$TMP/templates"
	like "$("$VMGEN" render "$TMP/gated.yaml" --templates "$TMP/templates" "${on_host[@]}" 2>&1)" \
		"$expected" "$policy on $versions"
}
gate "libvirt: 3.6.0" "tx_queue_size.* needs libvirt 3.7.0 or newer, the target has 3.6.0" \
	network-throughput
gate "libvirt: 4.0.0" "reconnect.* needs libvirt 4.1.0" vhost-zerocopy
gate "qemu: 2.9.0" "tx_queue_size.* needs QEMU 2.10.0" network-throughput

# Other guests' claims are kept off, and `with` goes where they are.
cat >"$TMP/claims" <<-EOF
	vmgen-claims 1
	11111111-2222-3333-4444-555555555555 state=running cpus=21-23 nodes=1 name=latency-1
EOF
"$VMGEN" render policies/network-latency.yaml --name latency-0 --claims "$TMP/claims" \
	"${on_host[@]}" >"$TMP/with.xml"
is "$(xpath "$TMP/with.xml" //numatune/memory/@nodeset)" 1 "with: on its peer's node"
like "$(xpath "$TMP/with.xml" "//vcpupin[@vcpu='0']/@cpuset")" '^(2[7-9]|3[0-9])$' \
	"a CPU that another guest owns is not given again"

cat >"$TMP/claims" <<-EOF
	vmgen-claims 1
	11111111-2222-3333-4444-555555555555 state=running vcpus=0-39 name=floats
EOF
ok "a guest that floats over all CPUs stands in nobody's way" "$VMGEN" render \
	policies/storage-iops.yaml --claims "$TMP/claims" "${on_host[@]}"

# A policy that does not speak of memory leaves it where the guest has bound it, and puts the
# vCPUs beside it.
printf '%s\n' 'policy: silent' 'cputune: {vcpupin: dedicated, emulatorpin: housekeeping}' \
	>"$TMP/silent.yaml"
# node_of VCPUS NODES [CPUTUNE]: nodes that its vCPUs come to, of two with four CPUs.
node_of() {
	cat >"$TMP/bound.xml" <<-EOF
		<domain type='kvm'><name>bound</name><memory unit='MiB'>32</memory><vcpu>$1</vcpu>
		${3:-}<numatune>$2</numatune>
		<os><type arch='x86_64' machine='q35'>hvm</type></os></domain>
	EOF
	"$VMGEN" rewrite --host "package:2 numa:1 core:2 pu:2" "$TMP/silent.yaml" \
		"$TMP/bound.xml" 2>/dev/null >"$TMP/beside.xml"
	xmllint --xpath '//vcpupin/@cpuset' "$TMP/beside.xml" | grep -oE '[0-9]+' |
		while read -r cpu; do echo $((cpu / 4)); done | uniq | paste -sd' '
}
for node in 0 1; do
	is "$(node_of 1 "<memory mode='strict' nodeset='$node'/>")" $node \
		"memory bound to node $node: vCPUs there"
	is "$(node_of 1 "<memory nodeset='$node'/>")" $node "... strict is what libvirt takes it for"
done
is "$(node_of 1 "<memory mode='preferred' nodeset='1'/>")" 1 "a preferred node is a wish"
is "$(node_of 5 "<memory mode='strict' nodeset='1'/>")" "0 1" "without room there: elsewhere, too"
is "$(node_of 1 "<memory mode='strict' nodeset='1'/>" \
	"<cputune><vcpupin vcpu='0' cpuset='1'/></cputune>")" 0 "what stands elsewhere, stays"

# Nothing half done: an error prints no XML.
sed 's/vcpus: 16/vcpus: 17/' policies/storage-iops.yaml >"$TMP/big.yaml"
fails 1 "17 whole cores on a node that has 16 are refused" "$VMGEN" render "$TMP/big.yaml" \
	--templates templates "${on_host[@]}"
is "$("$VMGEN" render "$TMP/big.yaml" --templates templates "${on_host[@]}" 2>/dev/null)" "" \
	"a refusal prints nothing on stdout"
fails 1 "a full disk is a failure" bash -c \
	"'$VMGEN' render policies/pinned.yaml ${on_host[*]} >/dev/full"
fails 2 "no policy is a usage error" "$VMGEN" render
fails 2 "an unknown option is a usage error" "$VMGEN" render --hots x policies/pinned.yaml
fails 1 "a missing policy is one line" "$VMGEN" render "$TMP/none.yaml" "${on_host[@]}"

like "$("$VMGEN" render policies/storage-iops.yaml --map "${on_host[@]}")" "node 0" \
	"render --map draws the host"
done_testing

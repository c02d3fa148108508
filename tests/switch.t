#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests beside a vswitch: off its polling CPUs always, on its node when there is a choice, and
# where their peers are before that.
. "${0%/*}/lib.sh"
need xmllint

values() { xmllint --xpath "$2" "$1" 2>/dev/null | sed 's/^[^"]*"//; s/"$//'; }
node() { values "$TMP/g.xml" //numatune/memory/@nodeset; }

# policy VCPUS [NUMATUNE]
interface='{name: net0, type: vhostuser, source: {path: "/run/{guest}.sock", mode: server}}'
policy() {
	cat >"$TMP/policy.yaml" <<-END2
		policy: p
		match: {name: ["g*"]}
		domain: {template: performance, name: g, vcpus: $1, memory: 1 GiB}
		cputune: {vcpupin: dedicated, smt: any, emulatorpin: own}
		numatune: {nodes: 1${2:+, $2}}
		interfaces: [$interface]
	END2
}
vswitch() { printf 'host: h\nvswitch: {kind: ovs, %s}\n' "$1" >"$TMP/host.yaml"; }
host="package:2 numa:1(memory=64GB) core:4 pu:2"
render() {
	"$VMGEN" render "$TMP/policy.yaml" --templates "$TOP/templates" --host "$host" \
		--host-policy "$TMP/host.yaml" "$@" >"$TMP/g.xml" 2>"$TMP/err"
}

# cpus: all that threads of the guest may run on, one a line.
cpus() {
	local list

	for list in $(values "$TMP/g.xml" '//vcpupin/@cpuset | //emulatorpin/@cpuset' | tr ',' ' '); do
		seq "${list%-*}" "${list#*-}"
	done
}

# Never on a polling CPU, whatever these are.
RANDOM=5
given=0 placed=0
for _ in {1..40}; do
	pmd=$(shuf -i 0-15 -n $((RANDOM % 6 + 1)) --random-source=<(yes $RANDOM))
	vswitch "pmd_cpus: \"$(paste -sd, <<<"$pmd")\""
	policy $((RANDOM % 6 + 1))
	render || continue
	placed=$((placed + 1))
	given=$((given + $(cpus | grep -cxFf <(echo "$pmd"))))
done
is "$given" 0 "no guest is given a polling CPU ($placed placed)"
ok "... and that was tried" test "$placed" -gt 20
vswitch 'pmd_cpus: 8'
policy 1
sed -i 's/vcpupin: dedicated/vcpupin: "8"/' "$TMP/policy.yaml"
fails 1 "nor by a list in the policy" render
like "$(cat "$TMP/err")" 'error: .*the switch polls on CPU 8' "... says why"

# On its node, when there is a choice.
policy 2
for pmd in 0 8; do
	vswitch "pmd_cpus: $pmd"
	render
	is "$(node)" $((pmd / 8)) "the switch polls on CPU $pmd"
	render --control remote-cpu
	is "$(node)" $((1 - pmd / 8)) "... and the mis-tuned twin is elsewhere"
done
policy 7
vswitch 'pmd_cpus: "8-9"'
render
is "$(node)" 0 "no room there: the other node"
policy 2
vswitch 'pmd_cpus: "0,8"'
render
ok "it polls on both: either" test -n "$(node)"
pci='devices: [{pci: "0000:3b:00.0", kind: nic, node: 1}]'
"$VMGEN" host --host "$host" | sed '/^devices/d' >"$TMP/machine.yaml"
echo "$pci" >>"$TMP/machine.yaml"
host=$TMP/machine.yaml
vswitch 'pmd_cpus: "0,8", nics: ["0000:3b:00.0"]'
render
is "$(node)" 1 "... then where its NIC is"
vswitch 'pmd_cpus: 0, nics: ["0000:3b:00.0"]'
render
is "$(node)" 0 "the CPU counts for more than the NIC"

# The figures.
vswitch 'pmd_cpus: 8'
render
sed '/<numatune>/,/<\/numatune>/d; /<cputune>/,/<\/cputune>/d' "$TMP/g.xml" >"$TMP/bare.xml"
why=$("$VMGEN" diff --why "$TMP/policy.yaml" "$TMP/bare.xml" --host "$host" --host-policy "$TMP/host.yaml")
like "$(grep -A1 "vcpupin\[@vcpu='0'\]" <<<"$why")" \
	'node 1: the vswitch polls on node 1 .*9.0 Mpps, on two 5.0, or 3.1 where packets are copied' \
	"diff --why quotes what the switch's node is worth"

# Peers come first, running ones too.
claims() {
	printf 'vmgen-claims 1\n11111111-2222-3333-4444-555555555555 state=%s cpus=%s vcpus=%s nodes=%s name=peer\n' \
		"$1" "$2" "$2" "$3" >"$TMP/claims"
}
for state in running starting; do
	for at in 0 1; do
		policy 2 'with: [peer]'
		claims $state $((at * 8 + 1)) $at
		render --claims "$TMP/claims"
		is "$(node)" $at "with a $state peer on node $at, the switch on 1"
	done
done
policy 2 'with: [peer], near: [interfaces]'
claims running 1 0
render --claims "$TMP/claims"
is "$(node)" 1 "near: [interfaces] is before with"
policy 5 'with: [peer]'
claims running 1-3 0
render --claims "$TMP/claims"
is "$(node)" 1 "no room beside its peer: the other node"
done_testing

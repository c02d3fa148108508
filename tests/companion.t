#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Companions: the scripts for the switch, run with programs that write down what they are
# given. The real programs are in tests/daemon; of the versions that had zero-copy, which
# are in no distribution any more, the syntax here is that of DPDK 20.08's vhost driver and
# sample guide and of Open vSwitch 2.14's vhost-user guide.
. "${0%/*}/lib.sh"

on_host=(--host "package:2 numa:1(memory=64GB) core:8 pu:2")
mkdir "$TMP/bin"
for program in ovs-vsctl testpmd dpdk-testpmd vhost-switch; do
	cat >"$TMP/bin/$program" <<-'END2'
		#!/bin/sh
		printf '%s' "${0##*/}"
		printf ' <%s>' "$@"
		echo
	END2
	chmod +x "$TMP/bin/$program"
done
PATH=$TMP/bin:$PATH

# policy MODE [MORE [PATH]]: of a guest with one vhost-user interface.
policy() {
	cat >"$TMP/policy.yaml" <<-END2
		policy: net
		domain: {template: performance, name: g, vcpus: 2, memory: 1 GiB}
		memoryBacking: {source: memfd, access: shared}
		interfaces:
		  - name: net0
		    type: vhostuser
		    source: {path: "${3:-/run/vhost/{guest\}.sock}", mode: $1}
		    queues: 2
		    rx_queue_size: 1024
		    tx_queue_size: 1024
		    ${2:-}
	END2
}
host_policy() {
	printf 'host: h\nhousekeeping_cpus: 0\nvswitch: {kind: %s%s}\n' "$1" "${2:-}" \
		>"$TMP/host.yaml"
}
# make [NAME]: renders, with the companions in $TMP/out.
make_them() {
	rm -rf "$TMP/out"
	"$VMGEN" render "$TMP/policy.yaml" --templates "$TOP/templates" "${on_host[@]}" \
		--host-policy "$TMP/host.yaml" --companion "$TMP/out" --name "${1:-g}" \
		>"$TMP/g.xml" 2>"$TMP/err"
}
zero() { echo "zero_copy: {backend: $1, version: \"$2\", packet_size: 1500${3:-}}"; }

# DPDK with zero-copy.
policy client "$(zero dpdk 19.11.5 ', nic_txd: 1024, nic_burst: 32')"
host_policy dpdk ', version: 19.11.5, pmd_cpus: 4-5'
ok "DPDK 19.11" make_them
is "$(ls "$TMP/out")" g.testpmd.sh "a file for testpmd alone"
said=$("$TMP/out/g.testpmd.sh" -a 0000:01:00.0)
is "$said" "testpmd <-l> <4-5> <--vdev> <net_vhost0,iface=/run/vhost/g.sock,queues=2,dequeue-zero-copy=1> \
<-a> <0000:01:00.0> <--> <--auto-start> <--nb-cores=1> <--rxq=2> <--txq=2> <--rxd=1024> \
<--txd=1024> <--txfreet=992> <--burst=32>" "ring is the NIC's ring, threshold is ring less burst"
is "$("$TMP/out/g.testpmd.sh" vhost-switch -l 4-5)" "vhost-switch <-l> <4-5> <--> <-p> <0x1> \
<--dequeue-zero-copy> <--socket-file> </run/vhost/g.sock>" "... and DPDK's vhost-switch"
policy server "$(zero dpdk 19.11.5 ', nic_txd: 1024')"
make_them
like "$("$TMP/out/g.testpmd.sh")" "queues=2,client=1,dequeue-zero-copy=1>" \
	"the guest is the server: testpmd connects"
for version in 16.08 19.11.3 20.11 22.11; do
	policy server "$(zero dpdk $version)"
	fails 1 "DPDK $version as a client has none" make_them
	like "$(cat "$TMP/err")" "error: .*DPDK $version .*zero-copy.*\[zero-copy-(version|client)\]" \
		"... says why"
	is "$(ls "$TMP/out" 2>/dev/null)" "" "... and nothing is written"
done

# DPDK of today.
policy client
host_policy dpdk ', version: 22.11, pmd_cpus: "4,6-7"'
ok "DPDK 22.11" make_them
is "$(TESTPMD_OPTIONS='--forward-mode=macswap --stats-period=1' "$TMP/out/g.testpmd.sh")" \
	"dpdk-testpmd <-l> <4,6-7> <--vdev> <net_vhost0,iface=/run/vhost/g.sock,queues=2> <--> \
<--auto-start> <--nb-cores=2> <--rxq=2> <--txq=2> <--rxd=1024> <--txd=1024> \
<--forward-mode=macswap> <--stats-period=1>" "the same without zero-copy"

# Open vSwitch.
policy server "$(zero ovs 2.13.3 ', nic_txd: 128')"
host_policy ovs ', version: 2.13.3, pmd_cpus: "1,4-5,8", port: dpdkvhostuserclient'
ok "Open vSwitch 2.13" make_them
is "$(NIC=dpdk0 "$TMP/out/g.ovs-vsctl.sh" br7)" \
"ovs-vsctl <--may-exist> <add-br> <br7> <--> <set> <Bridge> <br7> <datapath_type=netdev>
ovs-vsctl <set> <Open_vSwitch> <.> <other_config:pmd-cpu-mask=0x132>
ovs-vsctl <--may-exist> <add-port> <br7> <g-net0> <--> <set> <Interface> <g-net0> \
<type=dpdkvhostuserclient> <options:dq-zero-copy=true> <options:vhost-server-path=\"/run/vhost/g.sock\">
ovs-vsctl <set> <Interface> <dpdk0> <options:n_txq_desc=128>" \
	"zero-copy in one command with the path, and a small ring"
for version in 2.9 2.15 3.1; do
	policy server "$(zero ovs $version)"
	fails 1 "Open vSwitch $version has none" make_them
	like "$(cat "$TMP/err")" "Open vSwitch $version has no zero-copy.*today it has" \
		"... says why"
done
for dpdk in 19.11.3 19.11.4; do
	policy server "$(zero ovs 2.13.3 ", dpdk: $dpdk")"
	host_policy ovs ', version: 2.13.3'
	make_them
	is "$? $(ls "$TMP/out" 2>/dev/null)" \
		"$([ $dpdk = 19.11.3 ] && echo "1 " || echo "0 g.ovs-vsctl.sh")" \
		"Open vSwitch 2.13 on DPDK $dpdk, the policy says"
	policy server "$(zero ovs 2.13.3)"
	host_policy ovs ", version: 2.13.3, dpdk: $dpdk"
	make_them
	is "$? $(ls "$TMP/out" 2>/dev/null)" \
		"$([ $dpdk = 19.11.3 ] && echo "1 " || echo "0 g.ovs-vsctl.sh")" \
		"... or the host policy"
done

# What rules zero-copy out of a switch that has it.
policy server "$(zero ovs 2.13.3)"
for fault in 'vfio: iommu' 'iommu: yes' 'postcopy: yes'; do
	host_policy ovs ", version: 2.13.3, $fault"
	fails 1 "zero-copy beside $fault" make_them
	like "$(cat "$TMP/err")" 'error: zero-copy and .*\[zero-copy-' "... says why"
done
host_policy ovs ', version: 2.13.3, vfio: noiommu, iommu: no, postcopy: no'
ok "... and with none of them" make_them
host_policy dpdk ', version: 19.11.5'
fails 1 "zero-copy of another kind of switch than the host's" make_them

policy server
host_policy ovs ', version: 3.1.0'
make_them
is "$(grep -c zero "$TMP/out/g.ovs-vsctl.sh")" 0 "Open vSwitch 3.1: plain copies"
policy client '' /run/openvswitch/vhost0
host_policy ovs ', version: 3.1.0, port: dpdkvhostuser'
make_them
like "$("$TMP/out/g.ovs-vsctl.sh")" "<add-port> <br0> <vhost0> .*<type=dpdkvhostuser>$" \
	"the switch listens: the port is named as the socket"

# Nothing says what the switch is.
printf 'host: h\n' >"$TMP/host.yaml"
ok "no switch is known" make_them
like "$(cat "$TMP/err")" "warning: nothing says what serves interface net0" "... is told"
is "$(ls "$TMP/out")" "" "... and nothing is written"

# Hostile names and paths: no file elsewhere, no word more.
policy server
host_policy ovs
evil=$'../../a\'b";$(touch '"$TMP"$'/owned)`id`\n-x'
make_them "$evil"
file=$(ls "$TMP/out")
is "$(ls "$TMP/out" | wc -l) $(ls "$TMP")" "1 $(ls "$TMP")" "a name with slashes and newlines is one file"
said=$("$TMP/out/$file")
ok "nothing in a name is run" test ! -e "$TMP/owned"
is "$(grep -c '^ovs-vsctl <' <<<"$said")" 2 "... and commands are as many as ever"
host_policy dpdk
policy client '' '/run/a,client=1'
fails 1 "a comma in a path, which DPDK cannot quote" make_them
like "$(cat "$TMP/err")" "cannot be written in DPDK's --vdev" "... is told"

# Again, through a link, without a need.
policy server
host_policy ovs
make_them
before=$(cat "$TMP/out/g.ovs-vsctl.sh")
again() {
	"$VMGEN" rewrite "$TMP/policy.yaml" "$TMP/g.xml" "${on_host[@]}" \
		--host-policy "$TMP/host.yaml" --companion "$TMP/out" >/dev/null
}
echo precious >"$TMP/precious"
ln -sf "$TMP/precious" "$TMP/out/g.ovs-vsctl.sh"
ok "rewrite writes it too" again
is "$(cat "$TMP/precious")" precious "a link is replaced, not followed"
is "$(cat "$TMP/out/g.ovs-vsctl.sh")" "$before" "... and it is the same again"
host_policy dpdk
again
is "$(ls "$TMP/out")" g.testpmd.sh "another switch: the old one's is gone"
fails 1 "no place for it" "$VMGEN" render "$TMP/policy.yaml" "${on_host[@]}" \
	--host-policy "$TMP/host.yaml" --companion "$TMP/none/out"
done_testing

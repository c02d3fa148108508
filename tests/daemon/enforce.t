#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hook at a start: what enforce says becomes of a guest that is not what its policy says.
. "${0%/*}/../lib.sh"
. tests/daemon/daemon.sh
. tests/daemon/hook.sh
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
daemon_enter "$0"
ok "the hook is there" hook_begin

cold='memoryBacking: {source: memfd, access: shared}'
policy pin <<<'cputune: {vcpupin: dedicated, smt: any, emulatorpin: "0-1"}'
for enforce in report refuse rewrite restart; do
	printf '%s\n' "$cold" "enforce: $enforce" | policy $enforce
	define $enforce-1
done
shared() { virsh dumpxml "$@" | grep -c "<access mode='shared'/>"; }

# A guest without a policy is none of vmgen's business, but for what it occupies.
define plain
ok "a guest without a policy starts" virsh start plain
like "$(claim plain)" '^running' "... and is known"
virsh destroy plain
is "$(claim plain)" "" "... until it is gone"

# Live edits.
define pin-1
ok "a guest that needs live edits alone starts" virsh start pin-1
cpu=$(claim pin-1)
like "$cpu" '^running [0-9]+$' "... with a CPU of its own"
ok "... on which its vCPU comes to run" within 10 pinned_to pin-1 "${cpu#running }"
is "$(virsh dumpxml --inactive pin-1 | grep -c vcpupin)" 0 "... and its definition is as it was"
virsh destroy pin-1
idle
workers >/dev/null

# Cold ones.
ok "report: it starts" virsh start report-1
idle
is "$(workers) $(shared report-1)" "0 0" "... as it was defined"
ok "... and what differs is logged" logged 'report-1.*memoryBacking'
virsh destroy report-1

virsh dumpxml --inactive refuse-1 >"$TMP/before.xml"
refused refuse-1 'differs from policy refuse.*memoryBacking.*vmgen apply refuse-1' \
	"refuse: it does not start, and the reason says what helps"
idle
is "$(workers) $(claim refuse-1)" "0 " "... nothing is done"
ok "... its definition is as it was" \
	diff "$TMP/before.xml" <(virsh dumpxml --inactive refuse-1)

before_worker 'sleep 2'
refused rewrite-1 'being brought up to policy rewrite; start it again' \
	"rewrite: it does not start, and the reason says when it will"
like "$(claim rewrite-1)" '^held' "... its claim outlives stopped and release"
refused rewrite-1 'being brought up to policy rewrite; start it again' \
	"... a start in between gets the same answer"
before_worker
idle
is "$(workers)" 1 "... one worker was at it"
is "$(state rewrite-1)" "shut off" "... and did not start it"
is "$(shared --inactive rewrite-1)" 1 "... but made its definition what the policy says"
ok "... with which it starts" virsh start rewrite-1
is "$(shared rewrite-1) $(workers)" "1 0" "... and runs"
like "$(claim rewrite-1)" '^running' "... with its claim"
virsh destroy rewrite-1
is "$(claim rewrite-1)" "" "... which ends with it"
ok "... and again" virsh start rewrite-1
virsh destroy rewrite-1

refused restart-1 'being brought up to policy restart' "restart: this start is refused"
ok "... and the guest comes up on its own" within 20 running restart-1
is "$(shared restart-1)" 1 "... as the policy says"
virsh destroy restart-1

# Nobody waits for an answer at boot.
define rewrite-boot
virsh autostart rewrite-boot >/dev/null
rm -f /run/libvirt/qemu/autostarted
daemon_restart TERM
ok "autostart at the daemon's start comes up by itself" within 20 running rewrite-boot
is "$(shared rewrite-boot)" 1 "... as the policy says"
virsh destroy rewrite-boot
idle

# Never a loop: a worker that does nothing, and one that starts what it did not mend.
workers >/dev/null
define rewrite-2
before_worker 'exit 0'
refused rewrite-2 'being brought up' "a worker that achieves nothing"
idle
refused rewrite-2 'differs from policy rewrite.*memoryBacking' "... is not tried again at once"
is "$(workers)" 1 "... it was one"
define restart-2
before_worker 'timeout 20 virsh -q start restart-2 >/dev/null 2>&1; exit 0'
refused restart-2 'being brought up' "a worker that starts what it did not mend"
idle
sleep 0.5
like "$(workers)" '^[12]$' "... is not started for ever"
ok "... the guest is off" test "$(state restart-2)" = "shut off"
before_worker

# The host's owner. What is held for the guests above is forgotten.
rm -rf /run/vmgen
printf 'host: h\nenforce_at_most: report\n' >/etc/vmgen/host.yaml
define rewrite-3
ok "enforce_at_most: report, whatever the policy says" virsh start rewrite-3
is "$(shared rewrite-3)" 0 "... as it was defined"
virsh destroy rewrite-3
printf 'host: h\nothers: refuse\n' >/etc/vmgen/host.yaml
refused plain 'no policy matches guest plain' "others: refuse"
ok "... those with a policy start" virsh start pin-1
virsh destroy pin-1
printf 'host: h\nothers: shared\nshared_cpus: "0"\n' >/etc/vmgen/host.yaml
ok "others: shared" virsh start plain
virsh destroy plain
idle
rm /etc/vmgen/host.yaml

define rewrite-4
touch /etc/vmgen/disabled
ok "/etc/vmgen/disabled: all start as they are" virsh start rewrite-4
is "$(claim rewrite-4)" "" "... without a claim"
rm /etc/vmgen/disabled
ok "... and may stop after it is gone" virsh destroy rewrite-4

# Broken files.
rm -rf /run/vmgen
policy broken <<<'cputune: {vcpupin: dedicated, smtt: any}'
echo 'rubbish: [' >/etc/vmgen/policies/rubbish.yaml
define broken-1
refused broken-1 "broken\.yaml:3:.*smtt" "a broken policy stops the guests that it matches"
ok "... and no others: with a policy" virsh start pin-1
ok "... and without" virsh start plain
ok "... and the log says so" logged "[0-9] of vmgen's policy files cannot be used"
virsh destroy plain
chmod 666 /etc/vmgen/policies/pin.yaml
virsh destroy pin-1
refused pin-1 'pin\.yaml.*(others|mode|safe)' "a policy that anyone may write to is as good as broken"
chmod 644 /etc/vmgen/policies/pin.yaml
ok "... until it is mended" virsh start pin-1
virsh destroy pin-1

daemon_end

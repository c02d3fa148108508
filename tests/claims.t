#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen claims: a table that a person reads, for anybody who asks.
. "${0%/*}/lib.sh"

uuid() { printf '%s%s' "$1" 1111111-2222-3333-4444-555555555555; }

cat >"$TMP/claims" <<-END
	vmgen-claims 1
	$(uuid 1) state=running cpus=1-3,7-19 vcpus=1-3,7-19 nodes=0-1 pages=0:1048576:4,1:1048576:4 policy=storage-iops owner=4194304:100 name=zebra
	$(uuid 2) state=running vcpus=20-23 nodes=1 memory=1:2097152 pages=1:2048:3 owner=4194304:1 name=ärger
	$(uuid 3) state=failed policy=pinned until=1 failure="it said \\x22no\\x1b\\x22" name=web
	$(uuid 4) state=incoming cpus=4 until=1 name=a\\x1b[31mb
	$(uuid 5) state=starting cpus=5 owner=1:1 name=new one
END
"$VMGEN" claims "$TMP/claims" >"$TMP/out"
is "$? $(cat "$TMP/out")" '0 GUEST       STATE     CPUS          NODES  MEMORY                        POLICY        TIME
a\x1b[31mb  incoming  4             -      -                             -             over
new one     starting  5             -      -                             -             -
web         failed    -             -      -                             pinned        over
zebra       running   1-3,7-19      0-1    8 GiB in 1 GiB pages          storage-iops  over
ärger       running   20-23 shared  1      2 GiB + 6 MiB in 2 MiB pages  -             over

web: it said "no\x1b"' "a table, by name, with what is wrong below"

now=$(cut -d. -f1 /proc/uptime)
cat >"$TMP/times" <<-END
	vmgen-claims 1
	$(uuid 1) state=held until=$((now + 3600)) name=a
	$(uuid 2) state=running owner=$$:$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20) name=b
END
like "$("$VMGEN" claims "$TMP/times")" '^a .* (59|60) min left$' "what is left of a claim"
like "$("$VMGEN" claims "$TMP/times")" '^b .* [0-9]+ (s|min)$' "how long a guest runs"
is "$("$VMGEN" claims - <<<'vmgen-claims 1')" \
	"GUEST  STATE  CPUS  NODES  MEMORY  POLICY  TIME" "nobody owns anything"
echo 'vmgen-claims 2' >"$TMP/bad"
fails 1 "what is no claims file" "$VMGEN" claims "$TMP/bad"
fails 1 "no file" "$VMGEN" claims "$TMP/none"
fails 2 "two files" "$VMGEN" claims "$TMP/claims" "$TMP/claims"

# This machine's, with a /run of our own.
here() { unshare "${@:2}" -m sh -c "mount -t tmpfs none /run && $1"; }
if [ "$(id -u)" = 0 ] && here true 2>/dev/null; then
	ask="\"$VMGEN\" claims"
	user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 "$TMP"
	cp "$VMGEN" "$TMP/vmgen"
	is "$(here "$ask | wc -l")" 1 "a machine that never saw vmgen"
	like "$(here "mkdir -m 755 /run/vmgen && install -m 644 $TMP/claims /run/vmgen &&
		$user $TMP/vmgen claims")" '^zebra ' "an ordinary user may look"
	is "$(here "mkdir /run/vmgen && $ask >/dev/null && ls /run/vmgen")" "" \
		"looking leaves nothing behind"
	like "$(here "mkdir /run/vmgen && ln -s $TMP/claims /run/vmgen/claims && $ask" 2>&1)" \
		'/run/vmgen/claims: error: .*symbolic link' "no symbolic link is followed"
else
	skip "no namespaces to be had here"
fi
done_testing

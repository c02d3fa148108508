#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Input from anyone: a clear line in bounded time and memory, and never a hang on what is no
# file, or on one that changes while it is read.
. "${0%/*}/lib.sh"
need python3

python3 tests/hostile.py "$VMGEN" "$TMP" >"$TMP/inputs"
sed '/^1\.\.[0-9]*$/d' "$TMP/inputs"
tap_run=$(grep -cE '^(not )?ok ' "$TMP/inputs")
tap_failed=$(grep -c '^not ok ' "$TMP/inputs")
is "$(tail -1 "$TMP/inputs")" "1..$tap_run" "each of these had its turn"

# Whatever a command reads, whatever is in its place.
mkdir "$TMP/directory"
mkfifo "$TMP/fifo"
ln -s loop "$TMP/loop"
ln -s /dev/zero "$TMP/device"
ln -s gone "$TMP/broken"
host='core:4 pu:2'
for what in directory fifo loop device broken; do
	for command in "host --host FILE" "lint FILE" "lint --host FILE policies/pinned.yaml" \
		"lint --host-policy FILE policies/pinned.yaml" "render --host FILE policies/pinned.yaml" \
		"render --claims FILE policies/pinned.yaml" \
		"render --host-policy FILE policies/pinned.yaml" "render FILE" \
		"rewrite policies/pinned.yaml FILE" "diff FILE tests/rules/pin-overlap/silent.xml"; do
		read -ra words <<<"${command//FILE/$TMP/$what}"
		[ "$command $what" != "lint FILE directory" ] || continue
		[ "${words[0]}" = lint ] || grep -q -- '--host ' <<<"$command" ||
			words+=(--host "$host")
		timeout 20 "$VMGEN" "${words[@]}" >"$TMP/log" 2>&1 </dev/null
		status=$?
		if [ $status = 1 ] && grep -qE ": error: (is |cannot be )|matches guest|is neither" "$TMP/log"; then
			continue
		fi
		result 1 "vmgen ${words[*]}"
		sed 's/^/#   /' "$TMP/log"
	done
	result 0 "a $what in place of a file"
done

# A file that changes while it is read is one or the other, or faulty; it is never a crash.
(
	cp templates/performance.xml "$TMP/a.xml"
	while [ ! -e "$TMP/stop" ]; do
		cat tests/rules/pin-overlap/fires.xml >"$TMP/changes.xml"
		cat "$TMP/a.xml" >"$TMP/changes.xml"
	done
) &
bad=0
for _ in $(seq 100); do
	timeout 20 "$VMGEN" lint "$TMP/changes.xml" >"$TMP/log" 2>&1
	[ $? -lt 2 ] || bad=$((bad + 1))
done
touch "$TMP/stop"
wait
is $bad 0 "a file that changes while it is read"
done_testing

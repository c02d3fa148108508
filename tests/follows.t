#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What render writes follows from where it put the guest, on random hosts: siblings, cells,
# memory, topology, distances, other guests' CPUs. With one rule broken on purpose the same
# judge finds it.
. "${0%/*}/lib.sh"
need python3

# follows ROUNDS OPTION...
follows() {
	python3 tests/follows.py "$VMGEN" "$1" "$TMP" "${@:2}" 2>"$TMP/summary" ||
		cat "$TMP/summary"
}
is "$(follows 400)" "" "no fault on 400 random hosts"
note "$(cat "$TMP/summary")"
like "$(cat "$TMP/summary")" '[1-9][0-9]+ placed.* [1-9][0-9]+ with cells given' \
	"where guests of one node and of several were placed"

while read -r control fault; do
	like "$(follows 60 --control "$control")" "[0-9]+ $fault" "$control is found: $fault"
done <<-EOF
	remote-memory memory is not where the vCPUs are
	remote-memory a cell is not where its vCPUs are
	share-smt isolate shares a core
	emulator-on-vcpu emulator on a vCPU
EOF
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen plan: its answers, what it refuses to read, and how it does on recorded streams.
. "${0%/*}/lib.sh"

cat >"$TMP/two.topo" <<'END'
cpu 0 0 0 0	# two nodes of two cores with two threads
cpu 4 0 0 0
cpu 1 0 1 0
cpu 5 0 1 0
cpu 2 1 2 1
cpu 6 1 2 1
cpu 3 1 3 1
cpu 7 1 3 1
nodes 0 1
distance 0 10 20
distance 1 20 10
END
stream() { printf 'topology two.topo\n%s\n' "$1" >"$TMP/stream"; }
plan() { "$VMGEN" plan "$@" "$TMP/stream"; }

stream 'arrive a vcpus=2 cells=1 emulator=1
arrive b vcpus=4 cells=2 emulator=0
arrive c vcpus=2 cells=1 emulator=0
depart a
depart b
arrive d vcpus=3 cells=2+1 emulator=0'
is "$(plan)" "a vcpus=0,4 emulator=1 nodes=0
b reject
c vcpus=2,6 nodes=1
d vcpus=3,7,0 nodes=1,0" "guests come and go"
is "$(plan --host 'numa:1 core:2 pu:2' | head -1)" "a vcpus=0,1 emulator=2 nodes=0" \
	"a host that is given takes the topology's place"
like "$(plan --format text)" 'b: refused' "people are told of refusals"
like "$(plan --format text)" '3 of 4 guests placed, 63.6 % of the vCPUs' "and of the sum"

# spread and pack, where there is room for either
stream 'arrive a vcpus=1 cells=1 emulator=0
arrive b vcpus=1 cells=1 emulator=0'
is "$(plan | sed 's/.*nodes=//' | paste -sd' ')" "0 1" "spread over nodes"
is "$(plan --pack | sed 's/.*nodes=//' | paste -sd' ')" "0 0" "packed on a node"

refuses() {
	stream "$1"
	fails 1 "$2" plan
	is "$(plan 2>/dev/null)" "" "... and nothing is printed"
}
refuses 'arrive a vcpus=1 cells=1 emulator=0
arrive a vcpus=1 cells=1 emulator=0' "a guest that is there already"
refuses 'arrive a vcpus=0 cells=1 emulator=0' "no vCPUs"
refuses 'arrive a vcpus=99999999999999999999 cells=1 emulator=0' "absurdly many vCPUs"
refuses 'arrive a vcpus=3 cells=2 emulator=0' "cells that are not equal"
refuses 'arrive a vcpus=3 cells=1+1 emulator=0' "cells that do not add up"
refuses 'arrive a vcpus=3 cells=3+0 emulator=0' "a cell of nothing"
refuses 'arrive a vcpus=1 cells=1 emulator=2' "two emulators"
refuses 'arrive a vcpus=1 cells=1' "a missing word"
refuses 'migrate a' "an unknown event"
stream ''
sed -i 's/two.topo/none.topo/' "$TMP/stream"
fails 1 "a topology that is not there" plan
echo 'arrive a vcpus=1 cells=1 emulator=0' >"$TMP/stream"
fails 1 "a stream without host" plan
fails 2 "an unknown format" plan --format xml
stream ''
for line in 'cpu 0 0 0 0' 'cpu 8 0 0' 'cpu 8 7 0 0' 'cpu 99999 0 0 0' 'nodes 0' \
	'distance 0 10 20' 'distance 5 10 20' 'memory 0'; do
	cp "$TMP/two.topo" "$TMP/kept"
	echo "$line" >>"$TMP/two.topo"
	fails 1 "a topology with '$line'" plan
	mv "$TMP/kept" "$TMP/two.topo"
done

corpus=$TOP/../shared/corpus/placement
if [ ! -d "$corpus" ] || ! command -v python3 >/dev/null; then
	skip "no recorded streams, or no python3 to score with"
	done_testing
fi

# score DIRECTORY OPTION...: the total of all recorded streams, as COLUMN=VALUE words.
score() {
	local directory=$TMP/$1 stream
	shift
	mkdir -p "$directory"
	for stream in "$corpus"/streams/*.txt; do
		"$VMGEN" plan "$@" "$stream" >"$directory/${stream##*/}" || return
	done
	python3 "$corpus/score.py" --dir "$corpus/streams" "$directory" |
		awk 'NR == 1 { split($0, names) }
			/INVALID/ { print "INVALID", $0 }
			/^total/ { for (i = 2; i <= NF; i++) print names[i] "=" $i }'
}
column() { sed -n "s/^$2=//p" "$TMP/$1.score"; }

score spread >"$TMP/spread.score" &
score pack --pack >"$TMP/pack.score"
wait
for way in spread pack; do
	note "$way: $(paste -sd' ' "$TMP/$way.score")"
	ok "$way: all answers are valid" test -n "$(column $way accepted)"
	is "$(column $way rej-feas) $(column $way unpinned)" "0 0" \
		"$way: nothing that fits is rejected or left unpinned"
done
is "$(column spread dominated)" 0 "spread: no placement is worse than another in all respects"
ok "spread: accepts as many as OpenStack Nova in its pack mode" \
	test "$(column spread accepted)" -ge 17695
is "$(column pack far) $(column pack l3-node) $(column pack l3-best)" "0 0 0" \
	"pack: on the nearest nodes and the fewest caches"
ok "pack: accepts more" test "$(column pack accepted)" -ge 17793
done_testing

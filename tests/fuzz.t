#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The fuzzing targets, on what fuzzing starts from and on all that ever crashed one.
. "${0%/*}/lib.sh"
. tests/fuzz/seeds.sh

for target in $(fuzz_targets); do
	mapfile -t seeds < <(fuzz_seeds "$target" | grep -v '^\.\./')
	if timeout 60 "$O/tests/fuzz/$target" "${seeds[@]}" </dev/null >/dev/null 2>"$TMP/log" &&
		[ "$(grep -c '^replay: ' "$TMP/log")" = ${#seeds[@]} ]; then
		result 0 "$target: ${#seeds[@]} inputs"
	else
		result 1 "$target"
		tail -20 "$TMP/log" | sed 's/^/#   /'
	fi
done
is "$(ls -A tests/fuzz/crashes tests/fuzz/seeds | grep -vFx -e "$(fuzz_targets)" -e '' | grep -v :$)" \
	"" "no input without its target"
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs each target (or those named) for FUZZ_TIME seconds on what was found in earlier runs,
# below WORK. FUZZERS is where they are, VMGEN the program that prints the schemas.
set -eu
cd "$(dirname "$0")/../.."
. tests/fuzz/seeds.sh
mkdir -p "$WORK"

# The words of policies, and those of all seeds.
dictionary() {
	cat tests/fuzz/dictionary
	{
		for schema in policy host-policy host; do
			"$VMGEN" schema $schema | jq -r \
				'.. | objects | (.properties // {} | keys[]), (.enum // [] | .[] | strings)'
		done
		fuzz_seeds "$1" | grep -v '^\.\./' | xargs -r -d '\n' cat |
			LC_ALL=C grep -aoE '[A-Za-z_-]{3,32}'
	} | sort -u | sed 's/.*/"&"/'
}

status=0
for target in ${*:-$(fuzz_targets)}; do
	mkdir -p "$WORK/$target"
	dictionary "$target" >"$WORK/$target.dict"
	fuzz_seeds "$target" | paste -sd, | tr -d '\n' >"$WORK/$target.seeds"
	echo "  FUZZ  $target"
	if ! "$FUZZERS/$target" -max_total_time="${FUZZ_TIME:-20}" -timeout=10 \
		-rss_limit_mb=1024 -max_len=16384 -close_fd_mask=1 -print_final_stats=1 \
		-dict="$WORK/$target.dict" -seed_inputs=@"$WORK/$target.seeds" \
		-artifact_prefix="$WORK/$target-" "$WORK/$target" \
		</dev/null >/dev/null 2>"$WORK/$target.log"; then
		tail -40 "$WORK/$target.log" | LC_ALL=C tr -cd '\n\t -~'
		echo "$target: put the file below tests/fuzz/crashes/$target and mend it"
		status=1
	fi
	grep -aE 'number_of_executed|DONE' "$WORK/$target.log" || :
done
exit $status

# SPDX-License-Identifier: LGPL-2.1-or-later
# TAP for shell tests. A test is
#
#	#!/bin/bash
#	. "${0%/*}/lib.sh"
#	need virsh
#	ok "renders" "$VMGEN" render policies/pinned.yaml
#	is "$(echo a)" a "echoes"
#	done_testing
#
# It runs in the top directory, with TMP (a private directory, gone at the end) and VMGEN
# (the program under test) set. Nothing here stops at a failure: that is what TAP is for.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
TOP=$PWD
O=${O:-$TOP/build}
VMGEN=$O/vmgen
export O VMGEN TOP
TMP=$(mktemp -d "${TMPDIR:-/tmp}/vmgen-test.XXXXXX") || exit 2
tap_run=0
tap_failed=0

# What a test must undo goes into cleanup(), which it may define anew.
cleanup() { :; }
tap_exit() {
	cleanup
	rm -rf "$TMP"
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

# result STATUS NAME: the line itself.
result() {
	tap_run=$((tap_run + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_run - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_run - $2"
	fi
	return "$1"
}

# ok NAME COMMAND...: the command succeeds; what it said is shown if it does not.
ok() {
	local name=$1
	shift
	if "$@" >"$TMP/ok.log" 2>&1 </dev/null; then
		result 0 "$name"
	else
		result 1 "$name"
		sed 's/^/#   /' "$TMP/ok.log"
		return 1
	fi
}

# fails STATUS NAME COMMAND...: the command exits with just this status.
fails() {
	local want=$1 name=$2 got
	shift 2
	"$@" >"$TMP/ok.log" 2>&1 </dev/null
	got=$?
	if [ "$got" = "$want" ]; then
		result 0 "$name"
	else
		result 1 "$name"
		echo "#   exit status $got, not $want"
		sed 's/^/#   /' "$TMP/ok.log"
		return 1
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		result 0 "$3"
	else
		result 1 "$3"
		diff -u --label want --label got <(printf '%s\n' "$2") <(printf '%s\n' "$1") |
			sed 's/^/#   /'
		return 1
	fi
}

# like GOT REGEX NAME: an extended regular expression, as grep -E has them.
like() {
	if grep -qE -- "$2" <<<"$1"; then
		result 0 "$3"
	else
		result 1 "$3"
		printf '%s\n' "nothing like: $2" "$1" | sed 's/^/#   /'
		return 1
	fi
}

skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run # SKIP $1"
}

# For what this machine cannot do, whatever is installed.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# lacks REASON: there is nothing to test here; in CI that is a failure.
lacks() {
	[ -n "${CI:-}" ] || skip_all "$1"
	result 1 "the machine has what the test needs: $1"
	done_testing
}

# need PROGRAM...
need() {
	local program
	for program; do
		command -v "$program" >/dev/null ||
			lacks "$program is not installed (tests/setup test)"
	done
}

done_testing() {
	echo "1..$tap_run"
	[ "$tap_failed" = 0 ]
	exit
}

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The examples of README.md and INSTALL are true: each ```console block is run, and must say
# what it shows ("..." stands for lines that are left out).
. "${0%/*}/lib.sh"

# console FILE: its blocks, as "line number<TAB>line".
console() {
	awk '/^```console$/ { inside = 1; next }
		/^```$/ { inside = 0 }
		inside { print NR "\t" $0 }' "$1"
}

# As a reader would, after `make install`.
mkdir "$TMP/there"
ln -s "$TOP/policies" "$TOP/templates" "$TMP/there"
PATH=$O:$PATH
unset NO_COLOR

expect='' command='' at=''
finish() {
	local got

	[ -n "$command" ] || return
	cd "$TMP/there" || exit
	eval "$command" >"$TMP/got" 2>&1 </dev/null
	cd "$TOP" || exit
	got=$(cat "$TMP/got")
	if [[ $expect == *...* ]]; then
		ok "$at: ${command%%$'\n'*}" perl -0777 -e '
			my ($want, $got) = @ARGV;
			$want = join ".*", map { quotemeta } split /^\.\.\.$/m, $want;
			exit $got !~ /^$want$/s' "${expect%$'\n'}" "$got"
	else
		is "$got" "${expect%$'\n'}" "$at: ${command%%$'\n'*}"
	fi
	command='' expect=''
}

for file in README.md INSTALL; do
	while IFS=$'\t' read -r number line; do
		case $line in
		'$ '*) finish; at=$file:$number command=${line#??} ;;
		'> '*) command+=$'\n'${line#??} ;;
		*) expect+=$line$'\n' ;;
		esac
	done < <(console $file)
	finish
done

# CI runs what the README says.
line='./tests/setup test && make test'
ok "README.md has the test command" grep -qxF "$line" README.md
ok "CI calls it" grep -qxF "$line" .ci/run
ok "README.md has the command to begin with" grep -qxF './tests/setup build && make demo' README.md
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Manual pages, help and completion say the same as the tables in the program. UPDATE=1
# writes the fields into vmgen-policy(5) anew.
. "${0%/*}/lib.sh"
need jq man

page=generator/man/vmgen-policy.5

# generated KIND: what stands between its two marks.
generated() { sed "1,/^\.\\\\\" begin $1\$/d; /^\.\\\\\" end $1\$/,\$d" "$page"; }
update() {
	sed -i -e "/^\.\\\\\" begin $1\$/r $2" \
		-e "/^\.\\\\\" begin $1\$/,/^\.\\\\\" end $1\$/{/^\.\\\\\" /!d}" "$page"
}

for kind in policy host-policy host; do
	"$VMGEN" schema $kind | jq -r -f generator/man/fields.jq >"$TMP/$kind"
	[ -z "${UPDATE:-}" ] || update $kind "$TMP/$kind"
	is "$(generated $kind)" "$(cat "$TMP/$kind")" "vmgen-policy(5): the fields of a $kind"
	ok "the schema has fields of a $kind" grep -q '^\.B' "$TMP/$kind"
done

# section COMMAND: its part of vmgen(1), and that of the options of placement if it says
# that they apply.
section() {
	local text

	text=$(sed -n "/^\.SS vmgen $1\b/,/^\.S[SH]/p" generator/man/vmgen.1)
	echo "$text"
	! grep -q 'options of placement' <<<"$text" ||
		sed -n '/^\.SH OPTIONS OF PLACEMENT/,/^\.SH GENERAL/p' generator/man/vmgen.1
}

words() { sed -nE 's/^ +(-., )?((--)?[a-z][a-z-]*).*/\2/p'; }

# complete WORD...: what the shell offers for the last one.
completed() {
	COMP_WORDS=("$VMGEN" "$@")
	COMP_CWORD=$#
	_vmgen
	printf '%s\n' "${COMPREPLY[@]}" | sort
}
. generator/completion/vmgen.bash

commands=$("$VMGEN" --help | words)
ok "help lists commands" test -n "$commands"
is "$(completed '')" "$(printf '%s\n' "$commands" --help --version | sort)" \
	"completion knows the commands"
for command in $commands; do
	options=$("$VMGEN" "$command" --help | words)
	undocumented=''
	for option in $options; do
		[ "$option" = --help ] || section "$command" | sed 's/\\//g' |
			grep -qE -- "^\.BI? .*$option\b" || undocumented+="$option "
	done
	ok "vmgen(1) has $command" test -n "$(section "$command")"
	is "$undocumented" "" "vmgen(1) has each option of $command"
	is "$(completed "$command" -)" "$(printf '%s\n' "$options" | sort)" \
		"completion knows the options of $command"
done

for text in generator/man/*.[1-8]; do
	is "$(man --warnings -E UTF-8 -l "$text" 2>&1 >/dev/null)" "" "${text##*/} is well formed"
done
done_testing

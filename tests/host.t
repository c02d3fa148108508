#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen host: descriptions, the map, and what is said of bad ones.
. "${0%/*}/lib.sh"

for file in policies/hosts/*.yaml; do
	case $file in *.host-policy.yaml) continue ;; esac
	"$VMGEN" host --host "$file" >"$TMP/out"
	is "$(cat "$TMP/out")" "$(sed '/^ *#/d' "$file")" "$file is as vmgen prints it"
	is "$(sed -n 's/^machine: //p' "$file")" "$(basename "$file" .yaml)" \
		"$file describes the machine that it is named after"
	is "$(sed -n 's/^host: //p' "${file%.yaml}.host-policy.yaml")" \
		"$(basename "$file" .yaml)" "and so does its host policy"
done

ok "describes this machine" "$VMGEN" host
"$VMGEN" host >"$TMP/this.yaml"
is "$("$VMGEN" host --host "$TMP/this.yaml")" "$(cat "$TMP/this.yaml")" \
	"reads back what it said of this machine"
is "$("$VMGEN" host --host - <"$TMP/this.yaml")" "$(cat "$TMP/this.yaml")" \
	"also from standard input"

# Wide as a terminal, no white space at the ends of lines, no colour in a file.
tidy() {
	local map
	map=$("$VMGEN" host --map --host "$1") || return
	! grep -nE '.{101}| $'"|$(printf '\033')" <<<"$map"
}
for host in policies/hosts/two-socket-40.yaml policies/hosts/epyc-2s-256.yaml \
	"package:2 numa:2 core:61 pu:4" "l3:3 core:1 pu:8" ../shared/corpus/hosts/*.xml; do
	[ "${host%.xml}" = "$host" ] || [ -e "$host" ] || continue
	ok "the map of ${host##*/} is tidy" tidy "$host"
done

is "$("$VMGEN" host --map --host "package:2 numa:1 l3:2 core:2 pu:2")" \
	"synthetic   16 CPUs on 8 cores

node 0   package 0
  L3 0   0   2
         1   3
  L3 1   4   6
         5   7

node 1   package 1
  L3 2   8  10
         9  11
  L3 3  12  14
        13  15" "the map of a small machine"

like "$("$VMGEN" host --map --host policies/hosts/epyc-2s-256.yaml)" \
	'^ {16}128  129  130  131  132  133  134  135$' \
	"siblings stand below each other"

# Colour is for terminals whose users want it.
if command -v script >/dev/null; then
	show() { script -qec "$VMGEN host --map --host core:2" /dev/null </dev/null; }
	like "$(TERM=xterm NO_COLOR="" show)" $'\033' "colour on a terminal"
	is "$(NO_COLOR=1 show | grep -c $'\033')" 0 "but not with NO_COLOR"
else
	skip "script is not installed"
	skip "script is not installed"
fi

# refused NAME ARGUMENT REGEX: exit 1, nothing on stdout, one line that says why.
refused() {
	local out
	out=$("$VMGEN" host --host "$2" 2>"$TMP/err" </dev/null)
	is "$? $out $(wc -l <"$TMP/err")" "1  1" "$1 is refused in one line"
	like "$(cat "$TMP/err")" "$3" "which says why"
}
refused "a file that is not there" "$TMP/none" "none: error: cannot be opened: No such file"
refused "a synthetic string that is none" "core:x" "neither a file nor a synthetic topology"
refused "a directory" "$TMP" "is a directory"
echo "machine: m" >"$TMP/m.yaml"
refused "half a host" "$TMP/m.yaml" 'm.yaml:1:1: error: host lacks "nodes:"'
echo "<domain/>" >"$TMP/d.xml"
refused "a domain" "$TMP/d.xml" "describes no host"
printf '<topology version="2.0"><object type="Machine">' >"$TMP/t.xml"
refused "a truncated topology" "$TMP/t.xml" "t.xml:1:[0-9]+: error: this is not well-formed"
fails 2 "a word too much is a usage error" "$VMGEN" host two-socket-40

done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is installed works from where it is, and uninstall leaves nothing.
. "${0%/*}/lib.sh"
need make man jq
unset MAKEFLAGS

there=$TMP/there/usr/local
ok "make install" make -s O="$O" PREFIX=/usr/local DESTDIR="$TMP/there" install
on_host=(--host "$there/share/vmgen/policies/hosts/two-socket-40.yaml")
for policy in policies/*.yaml; do
	is "$("$there/bin/vmgen" render "$there/share/vmgen/$policy" "${on_host[@]}" 2>/dev/null)" \
		"$("$VMGEN" render "$policy" "${on_host[@]}" 2>/dev/null)" "renders the installed $policy"
done
ok "the schemas are there" jq -e .title "$there"/share/vmgen/policies/*.schema.json
for page in vmgen.1 vmgen-policy.5; do
	ok "man finds $page" man -M "$there/share/man" -w "${page#*.}" "${page%.*}"
done
ok "completion loads" bash -c '. "$0" && complete -p vmgen' \
	"$there/share/bash-completion/completions/vmgen"
ok "make uninstall" make -s O="$O" PREFIX=/usr/local DESTDIR="$TMP/there" uninstall
is "$(find "$TMP/there" -type f)" "" "and no file stays"
done_testing

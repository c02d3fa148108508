#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The JSON Schemas: shipped as vmgen prints them (UPDATE=1 writes them anew), valid, and of
# one mind with the parser.
. "${0%/*}/lib.sh"
need python3

kinds='policy host-policy host'
schemas=
for kind in $kinds; do
	shipped=policies/vmgen-$kind.schema.json
	schemas+=" $shipped"
	[ -z "${UPDATE:-}" ] || "$VMGEN" schema $kind >$shipped
	is "$("$VMGEN" schema $kind)" "$(cat $shipped)" "$kind: shipped as it is printed"
done
is "$("$VMGEN" schema)" "$("$VMGEN" schema policy)" "policy is the default"
fails 2 "there is no other" "$VMGEN" schema domain

if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
	[ -z "${CI:-}" ] || result 1 "python3-jsonschema and python3-yaml are installed"
	skip "python3-jsonschema or python3-yaml is not installed"
	done_testing
fi
ok "they are valid draft 2020-12" python3 tests/schema.py draft $schemas
ok "every scalar may be text, a number or a boolean" python3 tests/schema.py scalars $schemas
ok "patterns of numbers are exactly their ranges" python3 tests/schema.py numbers $schemas
for kind in $kinds; do
	ok "$kind: schema and parser agree" python3 tests/schema.py agree \
		policies/vmgen-$kind.schema.json $kind- "$O/tests/unit/policy" "$TMP"
	note "$(tail -1 "$TMP/ok.log")"
done
done_testing

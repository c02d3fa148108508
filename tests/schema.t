#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The JSON Schemas: shipped as vmgen prints them (UPDATE=1 writes them anew), valid, and of
# one mind with the parser.
. "${0%/*}/lib.sh"
need python3

policy=policies/vmgen-policy.schema.json
host=policies/vmgen-host-policy.schema.json

if [ -n "${UPDATE:-}" ]; then
	"$VMGEN" schema policy >$policy
	"$VMGEN" schema host-policy >$host
fi
is "$("$VMGEN" schema)" "$(cat $policy)" "the policy's schema is shipped as it is printed"
is "$("$VMGEN" schema policy)" "$(cat $policy)" "policy is the default"
is "$("$VMGEN" schema host-policy)" "$(cat $host)" "the host policy's is, too"
fails 2 "there is no other" "$VMGEN" schema domain

if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
	[ -z "${CI:-}" ] || result 1 "python3-jsonschema and python3-yaml are installed"
	skip "python3-jsonschema or python3-yaml is not installed"
	done_testing
fi
ok "they are valid draft 2020-12" python3 tests/schema.py draft $policy $host
ok "patterns of numbers are exactly their ranges" python3 tests/schema.py numbers $policy $host
ok "policies: schema and parser agree" \
	python3 tests/schema.py agree $policy policy "$O/tests/unit/policy" "$TMP"
note "$(tail -1 "$TMP/ok.log")"
ok "host policies: schema and parser agree" \
	python3 tests/schema.py agree $host host- "$O/tests/unit/policy" "$TMP"
note "$(tail -1 "$TMP/ok.log")"
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# vmgen lint and vmgen rules: each rule on a file that breaks it and on one that nearly
# does, libvirt's own domains, output formats, options, and files from anyone.
. "${0%/*}/lib.sh"

data=tests/rules
corpus=../shared/corpus/domains

# lint ARGUMENT...: what is found, in $found, and the exit status, in $status.
lint() {
	found=$("$VMGEN" lint "$@" 2>"$TMP/err")
	status=$?
}

ids=$("$VMGEN" rules | awk '{ print $1 }')
for id in $ids; do
	read -ra args <<<"$(cat "$data/$id/args" 2>/dev/null)"
	lint "${args[@]}" "$data/$id"/fires*
	fires=$(grep -cF "[$id]" <<<"$found")
	broken=$(grep -E '(error|warning):' <<<"$found" | grep -vE '\[[a-z-]+\]$')
	lint "${args[@]}" "$data/$id"/silent*
	silent=$(grep -cF "[$id]" <<<"$found")
	broken+=$(grep -E '(error|warning):' <<<"$found" | grep -vE '\[[a-z-]+\]$')
	is "fires $((fires > 0)) silent $silent $broken" "fires 1 silent 0 " "$id"
done
is "$(cd $data && printf '%s\n' */ | tr -d / | grep -vx formats | sort)" "$(sort <<<"$ids")" \
	"no test data without a rule"

# What users complain of, each with its rules or a reason why there is none.
is "$(sed -nE 's/^[A-Za-z]+-[a-z0-9]+: ([a-z -]*)(;.*)?$/\1/p' $data/catalogue.txt |
	tr -s ' ' '\n' | grep . | sort -u | comm -23 - <(sort <<<"$ids"))" "" \
	"the catalogue names rules that exist"
is "$(grep -vE '^(#.*|[A-Za-z]+-[a-z0-9]+: ([a-z-]+( [a-z-]+)*(; .*)?|; .{20,}))?$' \
	$data/catalogue.txt)" "" "each complaint has a rule or a reason"
is "$(sed -nE 's/^([A-Za-z]+)-[0-9]+: .*/\1/p' $data/catalogue.txt | uniq -c | xargs)" \
	"2 SHM 9 VU 3 ZC 2 PIN 3 NUMA 1 HP 4 DSK 1 OUT 24 report 39 placement" "all of them are there"

if command -v virsh >/dev/null; then
	for file in $data/*/silent.xml; do
		id=${file%/*}
		id=${id##*/}
		sed "s|<name>.*</name>|<name>$id</name>|; s|type='kvm'|type='test'|" "$file" \
			>"$TMP/$id.xml"
		echo "define --validate $TMP/$id.xml"
	done >"$TMP/virsh"
	is "$(virsh -q -c test:///default <"$TMP/virsh" 2>&1 | grep -A1 '^error')" "" \
		"libvirt accepts all that the rules are silent on"
else
	skip "virsh is not installed"
fi

if [ -d $corpus ]; then
	lint $corpus
	found=$(sed -nE "s|^$corpus/([^:]*):.*\[([a-z-]+)\]$|\1 \2|p" <<<"$found" | sort -u)
	want=$(sed -nE 's/^([^# ]+ [a-z-]+) .*/\1/p' $data/corpus.txt | sort -u)
	is "$found" "$want" "on libvirt's domains fires what corpus.txt gives a reason for"
	is "$(grep -vE '^(#|$|[^ ]+ [a-z-]+ .{20})' $data/corpus.txt)" "" \
		"each with a reason"
else
	skip "no ../shared/corpus here"
fi

cd $data/formats || exit 2
for format in text json github; do
	lint --host ../host.yaml --host-policy ../owner.yaml --format $format .
	[ -n "${UPDATE:-}" ] && echo "$found" >"expected.$format"
	is "$found" "$(cat "expected.$format")" "format $format"
	is $status 1 "format $format: exit status"
done
lint --host ../host.yaml --host-policy ../owner.yaml --format sarif .
echo "$found" >"$TMP/sarif"
is "$(python3 - "$TMP/sarif" <<'END'
import json, sys
log = json.load(open(sys.argv[1]))
run, = log["runs"]
driver = run["tool"]["driver"]
assert log["version"] == "2.1.0" and driver["name"] and driver["version"]
for rule in driver["rules"]:
    assert rule["id"] and rule["shortDescription"]["text"]
    assert rule["fullDescription"]["text"]
    assert rule["defaultConfiguration"]["level"] in ("warning", "error")
assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
for result in run["results"]:
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("warning", "error") and result["message"]["text"]
    for place in result["locations"] + result.get("relatedLocations", []):
        place = place["physicalLocation"]
        assert place["artifactLocation"]["uri"]
        assert place["region"]["startLine"] >= 1 <= place["region"]["startColumn"]
print(len(run["results"]))
END
)" "$(grep -cE ': (error|warning): ' expected.text)" "format sarif: its shape, and all findings"
cd "$TOP" || exit 2
# SARIF's own validator, and the schema that comes with it, which sees more.
if command -v sarif-multitool >/dev/null; then
	export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
	# It recommends a page about the tool, and a region for a file that has no lines.
	is "$(sarif-multitool validate "$TMP/sarif" 2>&1 |
		grep -E '(error|warning) [A-Z]|^Analysis' | grep -vE 'SARIF2005|SARIF2017')" \
		"Analysis completed successfully." "format sarif: the SARIF multitool accepts it"
	program=$(readlink -f "$(command -v sarif-multitool)")
	schema=$(find "${program%/*}"/.. -name sarif-2.1.0.json | head -1)
	sed 's/"level": "warning"/"level": "grave"/' "$TMP/sarif" >"$TMP/grave"
	is "$(python3 - "$schema" "$TMP/sarif" "$TMP/grave" <<'END'
import json, sys
import jsonschema
schema, *logs = (json.load(open(path, encoding="utf-8-sig")) for path in sys.argv[1:])
print([jsonschema.Draft202012Validator(schema).is_valid(log) for log in logs])
END
)" "[True, False]" "format sarif: valid by the schema of SARIF 2.1.0, which sees a fault"
else
	skip "sarif-multitool (@microsoft/sarif-multitool of npm) is not installed"
fi

is "$("$VMGEN" lint --format json $data/host-others/silent.yaml | python3 -c '
import json, sys
print(json.load(sys.stdin)["findings"])')" "[]" "nothing found is an empty list"

# Sets.
mkdir "$TMP/patterns"
ok "patterns meet where a name matches both, and nowhere else" \
	python3 tests/patterns.py "$VMGEN" "$TMP/patterns"
is "$("$VMGEN" lint $data tests/policy 2>&1)" \
	"$(taskset -c "$(taskset -pc $$ | grep -o '[0-9]*$')" "$VMGEN" lint $data tests/policy 2>&1)" \
	"many files are read by one thread as by several"

# Machines' forms count characters, text counts bytes as compilers do.
printf 'policy: p\ndisks: [{name: "ä", sise: 1 GB}]\n' >"$TMP/columns.yaml"
printf 'policy: p\ncputune: {%s}\n' "$(seq -f 'k%g: 1,' 1500 | xargs)" >"$TMP/many.yaml"
lint "$TMP/columns.yaml"
like "$found" ':2:22: error: unknown key "sise"' "columns of text are bytes"
for format in json sarif github; do
	lint --format $format "$TMP/columns.yaml"
	like "$(tr -d ' \n"' <<<"$found")" 'line=2,col=21|[cC]olumn:21' "$format: and characters"
	lint --format $format "$TMP/many.yaml"
	like "$found" 'and 500 more findings|"dropped": 500' "$format: those that are not kept are counted"
done

# The examples: those for a switch of DPDK cannot do with Open vSwitch.
example=policies/hosts/two-socket-40
lint --host $example.yaml --host-policy $example.host-policy.yaml policies
is "$status $found" "0 " "the shipped policies are fine on the host that they are for"
example=policies/hosts/epyc-2s-256
lint --host $example.yaml --host-policy $example.host-policy.yaml policies
is "$(grep -oE '^[^:]*:.*(error|warning)' <<<"$found" | sed 's/:.*//' | sort -u)" \
	policies/vhost-zerocopy.yaml "and on the other, but for the one with zero-copy"

# Levels.
lint $data/pin-overlap/fires.xml
is "$status" 0 "warnings alone do not fail"
lint -E pin-overlap $data/pin-overlap/fires.xml
is "$status" 1 "-E makes them errors"
like "$found" 'error: .*\[pin-overlap\]' "and says so"
lint -E pin-overlap -E no-pin-overlap $data/pin-overlap/fires.xml
is "$status" 0 "-E no- takes it back"
lint -W no-pin-overlap -W no-pin-emulator-missing $data/pin-overlap/fires.xml
is "$found" "" "-W no- silences"
lint -W pin-duplicate $data/pin-duplicate/fires.xml
is "$status" 0 "-W makes an error a warning"
fails 2 "an unknown rule is a usage error" "$VMGEN" lint -W pin-overlp $data/host.yaml
like "$(cat "$TMP/ok.log")" 'did you mean pin-overlap' "and the nearest is named"
fails 2 "an unknown format is a usage error" "$VMGEN" lint --format xml $data/host.yaml
fails 2 "no file is a usage error" "$VMGEN" lint

# What is not known.
lint $data/pin-overlap/silent.xml
like "$(cat "$TMP/err")" 'note: not checked without a host \(--host\): .*pin-offline' \
	"rules that lack a host are listed"
lint --host "package:2 numa:1 core:4 pu:2" --host-policy $data/owner.yaml \
	$data/pin-overlap/silent.xml
is "$(grep -c pin-offline "$TMP/err")" 0 "and are not once it is given"
mkdir "$TMP/hosts"
printf 'host: elsewhere\nreserved_cpus: 99\n' >"$TMP/hosts/other.yaml"
fails 0 "a host policy in a directory is checked against its own host only" \
	"$VMGEN" lint --host $data/host.yaml "$TMP/hosts"
is "$(grep -c 'host-offline' "$TMP/ok.log")" 0 "and no host is asked for where one is given"
fails 1 "one that is named against any" \
	"$VMGEN" lint --host $data/host.yaml "$TMP/hosts/other.yaml"
fails 1 "a host that is none" "$VMGEN" lint --host $data/owner.yaml $data/host.yaml

# Places. Text that is not all ASCII takes another way to them.
mkdir "$TMP/ascii" "$TMP/marked"
for file in $(find $data tests/policy -name '*.yaml' | LC_ALL=C sort); do
	LC_ALL=C grep -q '[^ -~]' "$file" && continue
	(cat "$file" && echo) >"$TMP/ascii/${file//\//-}"
	(cat "$file" && echo "# ä") >"$TMP/marked/${file//\//-}"
done
is "$(cd "$TMP/ascii" && "$VMGEN" lint . 2>&1)" "$(cd "$TMP/marked" && "$VMGEN" lint . 2>&1)" \
	"a comment that is not ASCII moves no place"
is "$(($(find "$TMP/marked" -type f | wc -l) > 200))" 1 "in more than 200 files"
mkdir "$TMP/unix" "$TMP/dos" "$TMP/bom"
for file in $(find $data tests/policy -name '*.yaml' -o -name '*.xml'); do
	LC_ALL=C grep -q $'[^\t -~]' "$file" && continue
	name=${file//\//-}
	(cat "$file" && echo) >"$TMP/unix/$name"
	sed 's/$/\r/' "$TMP/unix/$name" >"$TMP/dos/$name"
	(printf '\xef\xbb\xbf' && cat "$TMP/unix/$name") >"$TMP/bom/$name"
done
for format in text json; do
	for form in dos bom; do
		is "$(cd "$TMP/$form" && "$VMGEN" lint --format $format --host "$TOP/$data/host.yaml" . 2>&1)" \
			"$(cd "$TMP/unix" && "$VMGEN" lint --format $format --host "$TOP/$data/host.yaml" . 2>&1)" \
			"$form: the ends of lines and a byte order mark move no place ($format)"
	done
done

# Comments that allow a finding.
cat >"$TMP/allowed.yaml" <<'END'
policy: test
# vmgen: allow policy-priority: the default
cputune: {vcpupin: dedicated, emulatorpin: own, vcpusched: {scheduler: batch, priority: 1}}
domain: {template: x, memory: 8 GB} # vmgen: allow policy-hugepages
memoryBacking: {hugepages: 1 GiB}
END
lint "$TMP/allowed.yaml"
is "$(grep -c policy-priority <<<"$found")" 0 "a comment with a reason allows a finding"
like "$found" 'error: .*\[policy-hugepages\]' "one without does not"
like "$found" 'warning: the comment that allows policy-hugepages gives no reason' \
	"and is told so"

# Files from anyone.
mkdir -p "$TMP/tree/deep" "$TMP/tree/.hidden"
cp $data/policy-smt/fires.yaml "$TMP/tree/deep/b.yml"
cp $data/policy-smt/fires.yaml "$TMP/tree/a.yaml"
cp $data/set-name/fires/a.yaml "$TMP/tree/.hidden/"
echo "no: policy" >"$TMP/tree/note.txt"
ln -s .. "$TMP/tree/deep/loop"
lint "$TMP/tree" "$TMP/tree/a.yaml"
is "$(grep 'policy-smt' <<<"$found" | grep -o '^[^:]*')" "$TMP/tree/a.yaml
$TMP/tree/deep/b.yml" "directories are searched in order, loops and hidden ones not, files once"
mkdir "$TMP/names"
cp $data/policy-smt/fires.yaml "$TMP/names/"$'a\n::error::\e[31mb.yaml'
for format in text github; do
	lint --format $format "$TMP/names"
	is "$(grep -c '^::error' <<<"$found")" 0 "$format: a file's name forges no line"
done
lint "$TMP/names"
is "$(grep -c $'\e' <<<"$found")" 0 "text: nor does it tell the terminal what to do"
mkfifo "$TMP/tree/pipe.yaml"
ln -s /dev/zero "$TMP/tree/zero.xml"
ln -s gone "$TMP/tree/gone.yaml"
lint "$TMP/tree"
is "$status $(grep -c 'not a regular file' <<<"$found") $(grep -c 'cannot be opened' <<<"$found")" \
	"1 2 1" "pipes, devices and broken links are errors, not hangs"
fails 1 "a file that is not there" "$VMGEN" lint "$TMP/nowhere.yaml"
truncate -s 65M "$TMP/huge.yaml"
fails 1 "a huge file" "$VMGEN" lint "$TMP/huge.yaml"
printf 'network: {}\n' >"$TMP/other.yaml"
fails 1 "YAML of another kind" "$VMGEN" lint "$TMP/other.yaml"
mkdir "$TMP/other"
mv "$TMP/other.yaml" "$TMP/other/"
fails 0 "which in a directory is only a warning" "$VMGEN" lint "$TMP/other"
printf '<network/>' >"$TMP/other.xml"
fails 1 "XML of another kind" "$VMGEN" lint "$TMP/other.xml"
printf '\nhost: x\n' >"$TMP/blank.yaml"
fails 0 "a file that begins with an empty line" "$VMGEN" lint "$TMP/blank.yaml"
: >"$TMP/empty.yaml"
fails 1 "an empty file" "$VMGEN" lint "$TMP/empty.yaml"
printf '\xff\xfe<domain/>' >"$TMP/utf16.xml"
fails 1 "a file in UTF-16" "$VMGEN" lint "$TMP/utf16.xml"
printf '{"policy": test}' >"$TMP/flow.yaml"
fails 0 "a policy in flow style" "$VMGEN" lint "$TMP/flow.yaml"
lint - <$data/policy-smt/fires.yaml
like "$found" '^-:.*\[policy-smt\]' "standard input"

# Long is not slow: 20,000 schedulers of 8192 vCPUs each, and as many unknown elements.
awk 'BEGIN {
	print "<domain><name>x</name><memory>1</memory><vcpu>8192</vcpu><cputune>"
	while (i++ < 20000)
		print "<vcpusched vcpus=\"0-8191\" scheduler=\"fifo\"/><unknown/>"
	print "</cputune></domain>"
}' >"$TMP/long.xml"
fails 1 "a long file" timeout 20 "$VMGEN" lint "$TMP/long.xml"

# On a terminal.
if command -v script >/dev/null; then
	found=$(env -u NO_COLOR script -qec "$VMGEN lint $data/set-name/fires" /dev/null </dev/null |
		tr -d '\r' | sed 's/\x1b\[[0-9]*m//g')
	is "$(grep -A2 'fires/b.yaml:1:9: error' <<<"$found" | tail -2)" "  policy: one
          ^" "the line and a caret"
fi

# vmgen rules.
ok "a rule is explained" "$VMGEN" rules shm-required pin-offline
like "$(cat "$TMP/ok.log")" 'needs a host' "with what it needs"
fails 1 "an unknown rule" "$VMGEN" rules shm-requird
like "$(cat "$TMP/ok.log")" 'did you mean shm-required' "and the nearest"
is "$("$VMGEN" rules $ids | awk 'length > 80')" "" "explanations fit 80 columns"
done_testing

#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What INSTALL says to write for CI: it is YAML, and its commands let good policies pass and
# fail a bad one where that is said.
. "${0%/*}/lib.sh"
need python3 jq
python3 -c 'import yaml' 2>/dev/null || lacks "python3-yaml is not installed (tests/setup test)"

# commands PATH: what is at PATH of INSTALL's blocks (each a tab further in), a line each;
# pre-commit adds the files that match.
commands() {
	python3 - "$1" <<'END'
import re, sys, yaml
text = open("INSTALL", encoding="utf-8").read().split("Check policies in CI")[1]
for block in re.findall(r"(?:^\t.*\n|^\n(?=\t))+", text, re.M):
    if block.startswith(("\t#", "\n\t#")):
        continue
    found = yaml.load(re.sub("^\t", "", block, flags=re.M), yaml.BaseLoader)
    for step in found if isinstance(found, list) else [found]:
        if sys.argv[1] == "pre-commit":
            for hook in step.get("hooks", []):
                print(hook["entry"] + " $(find policies -type f | grep -E '" + hook["files"] + "')")
        elif sys.argv[1] == "github" and "run" in step:
            print(step["run"])
        elif sys.argv[1] == "gitlab" and "vmgen" in step:
            print("\n".join(step["vmgen"]["script"]))
END
}
pre_commit=$(commands pre-commit) gitlab=$(commands gitlab)
mapfile -t github < <(commands github)

mkdir "$TMP/repository"
mkdir "$TMP/repository/hosts" "$TMP/repository/policies"
cp policies/*.yaml "$TMP/repository/policies"
cp policies/hosts/two-socket-40.yaml "$TMP/repository/hosts/rack1.yaml"
cp policies/hosts/two-socket-40.host-policy.yaml "$TMP/repository/hosts/rack1.host-policy.yaml"
PATH=$O:$PATH
cd "$TMP/repository" || exit 2

ok "pre-commit: good policies pass" bash -ec "$pre_commit"
ok "GitHub, annotations: good policies pass" bash -ec "${github[0]}"
ok "GitHub, code scanning: good policies pass" bash -ec "${github[1]}"
is "$(jq -r '.runs[0].results[] | select(.level == "error").ruleId' vmgen.sarif)" "" \
	"and the file has no error"
ok "GitLab: good policies pass" bash -ec "$gitlab"

printf 'policy: bad\ncputune: {vcpupin: 400-415}\n' >policies/bad.yaml
fails 1 "pre-commit: a bad one does not" bash -ec "$pre_commit"
fails 1 "GitHub, annotations: a bad one does not" bash -ec "${github[0]}"
like "$(cat "$TMP/ok.log")" '^::error file=policies/bad.yaml,line=2,col=[0-9]+,title=policy-offline::' \
	"and is named"
ok "GitHub, code scanning: a bad one does not stop the upload" bash -ec "${github[1]}"
is "$(jq -r '.runs[0].results[] | select(.level == "error") | .ruleId,
	.locations[0].physicalLocation.artifactLocation.uri' vmgen.sarif | xargs)" \
	"policy-offline policies/bad.yaml" "whose file names it, too"
fails 1 "GitLab: a bad one does not" bash -ec "$gitlab"
done_testing

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Policies whose patterns meet, found by vmgen and by trying every name.

usage: patterns.py VMGEN DIRECTORY
"""
import fnmatch
import itertools
import json
import os
import random
import subprocess
import sys

NAMES = ["".join(name) for length in range(1, 8) for name in itertools.product("abc", repeat=length)]
PIECES = ["a", "b", "*", "?", "[ac]", "[!a]"]
SETS, PATTERNS = 12, 30


def reported(vmgen, directory):
    log = json.loads(subprocess.run([vmgen, "lint", "--format", "json", directory],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    return sorted(tuple(sorted((finding["file"], finding["notes"][0]["file"])))
                  for finding in log["findings"]
                  if finding["rule"] in ("set-match", "set-ambiguous"))


def main():
    vmgen, directory = sys.argv[1:]
    rng = random.Random(1)
    met = 0
    for number in range(SETS):
        patterns = set()
        while len(patterns) < PATTERNS:
            patterns.add("".join(rng.choices(PIECES, (8, 6, 2, 2, 1, 1), k=rng.randint(1, 4))))
        home = f"{directory}/{number}"
        os.makedirs(home)
        rows = []
        for i, pattern in enumerate(rng.sample(sorted(patterns), PATTERNS)):
            priority = rng.randint(1, 2)
            path = f"{home}/{i}.yaml"
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'policy: p{i}\nmatch: {{name: ["{pattern}"], priority: {priority}}}\n')
            rows.append((path, priority, {n for n in NAMES if fnmatch.fnmatchcase(n, pattern)}))
        want = sorted(tuple(sorted((a[0], b[0]))) for a, b in itertools.combinations(rows, 2)
                      if a[1] == b[1] and a[2] & b[2])
        found = reported(vmgen, home)
        assert found == want, (number, set(found) ^ set(want))
        met += len(want)
    assert met > SETS * PATTERNS
    print(f"{met} pairs met")


main()

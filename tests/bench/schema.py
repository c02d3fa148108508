# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a team does today: each policy through PyYAML, by the loader named, and jsonschema."""
import json
import pathlib
import sys

import jsonschema
import yaml

loader = getattr(yaml, sys.argv[1])
schema = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
validator = jsonschema.Draft202012Validator(schema)
faults = 0
for path in sorted(pathlib.Path(sys.argv[3]).glob("*.yaml")):
    policy = yaml.load(path.read_text(encoding="utf-8"), loader)
    for error in validator.iter_errors(policy):
        print(f"{path}: {error.message}")
        faults += 1
sys.exit(faults > 0)

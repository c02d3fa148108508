#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the schemas and the parser agree, on documents made from the schemas.

usage: schema.py draft SCHEMA...            each is valid draft 2020-12
       schema.py scalars SCHEMA...          each scalar admits text, numbers and booleans
       schema.py numbers SCHEMA...          patterns of numbers are exactly their ranges
       schema.py agree SCHEMA PREFIX PARSER DIRECTORY
                                            PARSER prints a verdict for each file

The schema sees the documents as two readers of YAML give them: BaseLoader leaves scalars
text, and there schema and parser must agree; SafeLoader makes numbers, booleans, dates and
nulls of them, and there the schema must accept what the parser accepts.
"""
import datetime
import json
import random
import re
import subprocess
import sys

import jsonschema
import yaml

# What the schemas' $comment says that patterns cannot express.
BEYOND_PATTERNS = re.compile(
    r"the range runs downwards|nothing is left in the list"
    r"|nothing yet to leave|takes a size from|the number is too large|the size is too large")

TEXTS = """0 1 2 7 10 32 63 64 65 99 100 128 255 256 257 511 512 1023 1024 1025 4096 4097
8192 8193 9999 10000 16383 16384 86400 86401 1000000000 1000000001 18446744073709551616
010 00 007 -1 +1 1.5 1e3 1_000 0x10 0b1 0o7 1:30 190:20:30 .5 .inf .nan
9.0 9.0.0 9.0.0.0 10.10 12345 1.2345 v9 9. .9 19.11.5 9.0-1
8GiB 80GB 8gib 1K 1KB 1kib 0b 8 64KiB 63KiB 1E 9999E 8XB GiB 5EiB 4194304GiB 4194305GiB
0-3 1-3,7-19,^9 3-1 ^1 0,^0 0,^0,^1 1, ,1 1,,2 0-3x 1-2-3 0x1 01-02 1-16384 0-16383 ^1-2 --1
a A_b.c -a .a +a a/b a@b iops-* null Null NULL ~ Nul y n
yes no true false on off Yes TRUE OFF
/ /a /a/../b /run/{guest}-{name}.sock /{ /} /{vm} /{guest /{{guest}} a/b {guest} /a{name}{name}
2001-01-01 2001-01-01T00:00:00Z 0000:5e:00.0 0000:05:00.0 = << disks interfaces
\u00e4 /\u00e4 \u20ac\U0001f600""".split() + [
    "", " ", "8 GiB", "80 GB", "80  GB", " 8 GiB", "8 GiB ", "8 bytes", "8 BYTES", "1 , 2", " 1",
    "1 ", "1 - 2", "a b", "/a b", "/a\nb", "/a\tb", "a\nb", "raw\n", "1\n", "8 GiB\n", "9.0\n",
    "0-1\n", "a\n", "/a\n", "yes\n", "dedicated ", "# a", "a: b", "[a]", "{a}", "'", '"', "!a"]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def pattern(validator, regex, instance, schema):
    """As ECMA-262 has it: $ is the end, not also the newline before it."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", regex), instance):
        yield jsonschema.ValidationError(f"{instance!r} is not like {regex}")


Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {"pattern": pattern})


def draft(paths):
    for path in paths:
        jsonschema.Draft202012Validator.check_schema(load(path))


def nodes(schema):
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


def scalars(paths):
    seen = 0
    for path in paths:
        for node in nodes(load(path)):
            if "examples" not in node:
                continue
            ranges = [part[edge] for part in nodes(node)
                      for edge in ("minimum", "maximum") if edge in part]
            validator = Validator(node)
            for value in [node["examples"][0], True, False] + (ranges or [0.5]):
                assert validator.is_valid(value), (path, node, value)
            assert not validator.is_valid({}) and not validator.is_valid(None)
            seen += 1
    assert seen > 80


def numbers(paths):
    ranges = {(node["pattern"], node["minimum"], node["maximum"])
              for path in paths for node in nodes(load(path))
              if "minimum" in node and node["pattern"].startswith("^(")}
    assert len(ranges) > 10
    for regex, low, high in ranges:
        near = {edge + step for edge in (low, high) for step in range(-12, 13)}
        near |= {10 ** power + step for power in range(12) for step in (-1, 0, 1)}
        near |= set(range(70000))
        for number in near:
            if number >= 0:
                assert bool(re.search(regex, str(number))) == (low <= number <= high), \
                    (regex, number)
        assert not re.search(regex, "0" + str(high))


def scalar(rng, text):
    """TEXT as YAML: plain where that says the same, else quoted."""
    if rng.random() < 0.8:
        for document in (f"[{text}]", f"[{text}, 0]"):
            try:
                if yaml.load(document, yaml.BaseLoader)[0] != text:
                    break
            except (yaml.YAMLError, IndexError):
                break
        else:
            return text
    return json.dumps(text, ensure_ascii=False)


class Maker:
    def __init__(self, schema, seed):
        self.schema, self.rng = schema, random.Random(seed)

    def is_scalar(self, node):
        if node.get("type") in ("object", "array"):
            return False
        return not any(part.get("type") == "array" for part in node.get("anyOf", []))

    def value(self, node, fill):
        """YAML in flow style of what the schema node describes."""
        if node.get("type") == "object":
            return self.mapping(node, fill)
        if node.get("type") == "array":
            items = node["items"]
            count = self.rng.choice([0, 1, 2])
            return "[" + ", ".join(self.value(items, fill) for _ in range(count)) + "]"
        return self.good(node)

    def good(self, node):
        words = [word for part in [node] + node.get("anyOf", [])
                 for word in part.get("enum", []) if isinstance(word, str)]
        choice = self.rng.choice(node.get("examples", []) + words)
        return scalar(self.rng, choice)

    def mapping(self, node, fill, but=None, with_=None):
        """All required keys, others with the probability FILL; BUT left out, WITH_ added."""
        items = dict(with_ or {})
        for key, value in node["properties"].items():
            if key in items or key == but:
                continue
            if key in node["required"] or self.rng.random() < fill:
                # The items of lists in "anyOf" have no examples of their own.
                items[key] = self.value(value, fill)
        pairs = list(items.items())
        self.rng.shuffle(pairs)
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"

    def groups(self):
        """Each mapping of the schema, with what puts one such mapping into a document."""
        def walk(node, wrap):
            yield node, wrap
            for key, child in node["properties"].items():
                def inside(inner, key=key, node=node, wrap=wrap):
                    return wrap(self.mapping(node, 0, with_={key: inner}))
                if child.get("type") == "object":
                    yield from walk(child, inside)
                elif child.get("type") == "array":
                    yield from walk(child["items"],
                                    lambda inner, inside=inside: inside(f"[{inner}]"))
        yield from walk(self.schema, lambda inner: inner)

    def documents(self):
        for _ in range(120):
            yield self.mapping(self.schema, self.rng.random())
        for node, wrap in self.groups():
            for key, child in node["properties"].items():
                def put(text, key=key, node=node, wrap=wrap):
                    return wrap(self.mapping(node, 0, with_={key: text}))
                yield wrap(self.mapping(node, 0.3, but=key))
                yield put("")
                yield put("{}")
                yield put("[]")
                yield put("[[]]")
                yield put("{x: y}")
                yield put(self.good(child) if "examples" in child else "1")
                if "examples" not in child:
                    continue
                for text in child["examples"] + self.rng.sample(TEXTS, 24):
                    text = scalar(self.rng, text)
                    yield put(text if self.rng.random() < 0.8 else f"[{text}]")
            yield wrap(self.mapping(node, 0.3, with_={"x": "1"}))
            yield wrap(self.mapping(node, 0.3)) + " # a comment"
            yield wrap("[]")
            yield wrap("1")


def plain(value):
    """JSON has no dates: who writes one as JSON writes text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def typed(document):
    try:
        return plain(yaml.load(document, yaml.SafeLoader))
    except (yaml.YAMLError, ValueError):
        return None  # such a reader never gets as far as the schema


def verdicts(parser, prefix, directory, documents):
    paths = []
    for i, document in enumerate(documents):
        paths.append(f"{directory}/{prefix}{i}.yaml")
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(document + "\n")
    found = []
    for first in range(0, len(paths), 500):
        found += subprocess.run([parser] + paths[first:first + 500], check=True,
                                stdout=subprocess.PIPE, encoding="utf-8").stdout.split("\n")[:-1]
    assert len(found) == len(documents)
    return found


def agree(path, prefix, parser, directory):
    schema = load(path)
    validator = Validator(schema)
    documents = sorted(set(Maker(schema, 1).documents()))
    accepted = refused = beyond = wrong = 0
    for document, verdict in zip(documents, verdicts(parser, prefix, directory, documents)):
        parses = verdict == "accepted"
        as_text = validator.is_valid(yaml.load(document, yaml.BaseLoader))
        reader = typed(document)
        accepted += parses
        refused += not parses
        if parses and reader is not None and not validator.is_valid(reader):
            wrong += 1
            print(f"the schema refuses with types: {document}")
        if as_text and not parses and BEYOND_PATTERNS.search(verdict):
            beyond += 1
        elif as_text != parses:
            wrong += 1
            print(f"parser: {verdict}; schema: {as_text}: {document}")
    print(f"{accepted} accepted, {refused} refused, {beyond} of them beyond patterns")
    assert accepted > 200 and refused > 200 and beyond < refused / 10
    return wrong


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "agree":
        return 1 if agree(*arguments) else 0
    {"draft": draft, "scalars": scalars, "numbers": numbers}[what](arguments)
    return 0


sys.exit(main())

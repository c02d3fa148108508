#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The worst inputs that we know of each kind, as long as they may be, given to vmgen.

usage: hostile.py VMGEN DIRECTORY

TAP: each is answered with the line that is expected, within the limits below, which are of
one run: seconds of user time, and MiB of memory (not measured where ASan takes its own).
"""
import os
import re
import shutil
import subprocess
import sys

SECONDS, MEMORY = 15, 768
MIB = 1 << 20


def full(size, head, piece, tail=""):
    """HEAD, as many PIECEs as go into SIZE bytes, TAIL."""
    return head + piece * ((size - len(head) - len(tail)) // len(piece)) + tail


def laughs(root):
    """Ten thousand million "ha"."""
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(10))
    return f'<!DOCTYPE {root} [<!ENTITY e0 "ha">{entities}]><{root}>&e10;</{root}>'


YAML, DOMAIN, HOST, CLAIMS = 4 * MIB, 10 * MIB, 16 * MIB, 16 * MIB
GUEST = "<domain><name>a</name><memory>1</memory><vcpu>8192</vcpu>"
LINE = "00000000-0000-4000-8000-%012x state=held name=a\n"


def policies(count, *patterns):
    """COUNT policies, each with as many names as may be, made after PATTERNS."""
    return {f"{i}.yaml": f"policy: p{i}\nmatch:\n  name:\n" + "".join(
        f'    - "{patterns[k % len(patterns)] % k}"\n' for k in range(99990))
            for i in range(count)}


def inputs():
    """What it is, how vmgen takes it, the text, or those of files by name, and what is said of
    it (None: no error). One after the other: the memory of who starts a program counts as the
    program's."""
    yield ("lists in lists", "lint", full(YAML, "policy: ", "["), "nested deeper than 16")
    yield ("aliases of aliases", "lint", "policy: p\na0: &a0 [x]\n" + "".join(
        f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(30)), "aliases such as")
    yield ("a huge scalar", "lint", full(YAML, "policy: ", "a", "\n"), None)
    yield ("a huge CPU list", "lint",
           full(YAML, 'policy: p\ncputune: {vcpupin: "', "0-16383,", '1"}\n'), None)
    yield ("as many keys as may be", "lint", "".join(f"k{i}: 1\n" for i in range(49999)),
           "none of the keys policy, host and machine")
    yield ("one key over and over", "lint", "policy: p\n" * 49999, "given twice")
    yield ("a NUL", "lint", "policy: a\0b\n", "byte 0x00")
    yield ("a NUL by an escape", "lint", 'policy: "a\\0b"\n', "control character 0x00")
    yield ("invalid UTF-8", "lint", b"policy: \xc0\x80\n", "byte 0xc0")
    yield ("more than YAML may have", "lint", full(YAML + 9, "policy: p\n", "#\n"), "4194304")
    yield ("a billion laughs", "lint", laughs("domain"), "DOCTYPE")
    yield ("an external entity", "lint",
           '<!DOCTYPE domain [<!ENTITY a SYSTEM "/etc/passwd">]><domain>&a;</domain>', "DOCTYPE")
    yield ("elements in elements", "lint", full(DOMAIN, "<domain>", "<a>"), "deeper than 256")
    yield ("elements beside elements", "lint", full(DOMAIN, "<domain>", "<a/>", "</domain>"),
           "knows no <a> in <domain>")
    yield ("a huge text", "lint", full(DOMAIN, "<domain><name>", "a", "</name></domain>"), None)
    yield ("a text in pieces", "lint",
           full(DOMAIN, "<domain><name>", "<![CDATA[a]]>&#65;", "</name></domain>"), None)
    yield ("one pin over and over", "lint", full(
        DOMAIN, GUEST + "<cputune>", "<vcpupin vcpu='0' cpuset='0-16383'/>",
        "</cputune></domain>"), "pinned by an earlier")
    yield ("disks of one name", "lint", full(
        DOMAIN, GUEST + "<devices>", "<disk><target dev='a'/></disk>",
        "</devices></domain>"), "two disks are 'a'")
    yield ("names and patterns beside each other", "set",
           policies(3, "a%da", "*a%d*[!a-c]*a*", "*a%d*b?", "**%d**"), "match policy")
    yield ("patterns of one stem", "set", policies(3, "a*[ab]%d*[0-9]*[!x]*"), "match policy")
    yield ("policies allowed that are not there", "set",
           {f"{i}.yaml": f"policy: a-policy-{i}\n" for i in range(2000)} | {
               "owner.yaml": "host: a\npolicies:\n" + "- the-policy-0000\n" * 99990},
           "not among these")
    yield ("a NUL in XML", "lint", "<domain>\0</domain>", "NUL")
    yield ("invalid UTF-8 in XML", "lint", b"<domain>\xc0\x80</domain>", "UTF-8")
    yield ("a host: a billion laughs", "host", laughs("topology"), "entity")
    yield ("a host: an external DTD", "host", '<!DOCTYPE topology SYSTEM "/dev/zero">'
           "<topology/>", "hwloc refuses")
    yield ("a host: an external entity", "host",
           '<!DOCTYPE topology [<!ENTITY a SYSTEM "/dev/zero">]><topology>&a;</topology>',
           "declarations inside DOCTYPE")
    yield ("a host: objects in objects", "host", full(HOST, "<topology>", "<object>"),
           "Excessive depth")
    yield ("a host: objects beside objects", "host", full(
        HOST, '<topology version="2.0"><object type="Machine" cpuset="0x1">',
        '<object type="Misc"/>', "</object></topology>"), "hwloc (refuses|does not)")
    yield ("a host: hwloc crashes", "host", '<topology version="2.0"><object type="Machine" '
           'os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1">'
           '<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" '
           'complete_nodeset="0x1"/><object type="PU" os_index="0" cpuset="0x1" nodeset="0x1" '
           'complete_nodeset="0x1"/><object type="PU" os_index="1" cpuset="0x2" nodeset="0x1" '
           'complete_nodeset="0x1"/></object></topology>', "hwloc (refuses|does not)")
    yield ("a host: one CPU over and over", "host", full(
        HOST, "<capabilities><host><topology><cells><cell id='0'><cpus>", "<cpu id='0'/>",
        "</cpus></cell></cells></topology></host></capabilities>"), "described twice")
    yield ("a host: one core over and over", "host", full(
        YAML, 'machine: a\nnodes: [{node: 0, cpus: [{cores: "', "0 ", '1"}]}]\n'),
           "described twice")
    yield ("claims: empty lines", "claims", full(CLAIMS, "vmgen-claims 1\n", "\n"),
           "more guests than a host has")
    yield ("claims: in the wrong order", "claims",
           "vmgen-claims 1\n" + "".join(LINE % (9999 - i) for i in range(9999)), None)
    yield ("claims: memory over and over", "claims", full(
        CLAIMS, "vmgen-claims 1\n" + LINE.split()[0] % 1 + " state=held memory=", "0:1,",
        "0:1 name=a\n"), None)


COMMANDS = {
    "lint": lambda path: ["lint", path],
    "set": lambda path: ["lint", path] + (["--host-policy", f"{path}/owner.yaml"]
                                          if os.path.exists(f"{path}/owner.yaml") else []),
    "host": lambda path: ["host", "--host", path],
    "claims": lambda path: ["render", "--host", "package:1 core:8 pu:1", "--claims", path,
                            "policies/pinned.yaml"],
}


def write(text, path):
    """TEXT to the file PATH, or files to the directory."""
    if isinstance(text, dict):
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        for name in text:
            write(text[name], f"{path}/{name}")
        return
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def run(command):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    output = child.stdout.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return output, status, usage.ru_utime, usage.ru_maxrss / 1024


def main():
    vmgen, directory = sys.argv[1:]
    with open(vmgen, "rb") as file:
        sanitized = b"__asan_init" in file.read()
    slowest = largest = 0
    number = 0
    for number, (name, form, text, said) in enumerate(inputs(), 1):
        path = f"{directory}/{form}"
        write(text, path)
        output, status, seconds, memory = run([vmgen] + COMMANDS[form](path))
        slowest, largest = max(slowest, seconds), max(largest, memory)
        answered = os.WIFEXITED(status) and os.WEXITSTATUS(status) < 2 and (
            re.search(said, output) if said else not re.search(" error: ", output))
        good = answered and (sanitized or seconds < SECONDS and memory < MEMORY)
        print(f"{'' if good else 'not '}ok {number} - {name}")
        if not good:
            print(f"#   status {status}, {seconds:.2f} s, {memory:.0f} MiB: {output[:300]!r}")
    print(f"# at most {slowest:.2f} s and {largest:.0f} MiB\n1..{number}")


main()

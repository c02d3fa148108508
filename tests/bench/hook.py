# SPDX-License-Identifier: LGPL-2.1-or-later
"""The hook that people write: the guest's XML comes in, goes out with its vCPUs pinned as
one YAML file says. No claims, no checks, no other policies: the least that it can do."""
import sys

import lxml.etree
import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    policy = yaml.safe_load(file)
first = policy["cputune"]["first"]
domain = lxml.etree.parse(sys.stdin.buffer)
cputune = domain.find("cputune")
if cputune is None:
    cputune = lxml.etree.SubElement(domain.getroot(), "cputune")
for pin in cputune.findall("vcpupin"):
    cputune.remove(pin)
for vcpu in range(int(domain.findtext("vcpu"))):
    lxml.etree.SubElement(cputune, "vcpupin", vcpu=str(vcpu), cpuset=str(first + vcpu))
domain.write(sys.stdout.buffer)

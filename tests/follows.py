#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What render writes follows from where it put the guest: random hosts, policies and
other guests, judged by the host's description alone.

usage: follows.py VMGEN ROUNDS DIRECTORY [OPTION...]     (options of vmgen render)

Prints the faults by kind, with their number, and a summary on standard error. Run twice
on each guest: as vmgen makes it, and with its cells given and their vCPUs dealt anew.
"""
import collections
import random
import subprocess
import sys
import xml.etree.ElementTree as ET

VMGEN, ROUNDS, HOME = sys.argv[1], int(sys.argv[2]), sys.argv[3]
OPTIONS = sys.argv[4:]
MIB = 1024  # KiB, libvirt's unit
rng = random.Random(7)


def numbers(text):
    result = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        result += range(int(first), int(last or first) + 1)
    return result


class Host:
    """One to four nodes of cores with 1 to 8 threads, some offline; CPU -> core, node."""

    def __init__(self):
        self.node_of, self.core_of, self.memory, self.pages, self.taken = {}, {}, {}, {}, set()
        nodes, threads = rng.randint(1, 4), rng.choice([1, 2, 2, 4, 8])
        self.distances = [[10] * nodes for _ in range(nodes)]
        for i in range(nodes):
            for j in range(i):
                far = rng.choice([11, 12, 16, 21, 32, 40, 255])
                self.distances[i][j] = self.distances[j][i] = far
        self.text, cpu = "machine: t\nnodes:\n", 0
        for node in range(nodes):
            cores = []
            for _ in range(rng.randint(2, 10)):
                core = [c for c in range(cpu, cpu + threads) if rng.random() > .15] or [cpu]
                cpu += threads
                for each in core:
                    self.core_of[each], self.node_of[each] = core[0], node
                cores.append("+".join(map(str, core)))
            self.memory[node] = rng.choice([4, 8, 16]) * 1024 * MIB
            self.pages[node] = rng.randint(0, self.memory[node] // (2 * MIB))
            self.text += (f"  - node: {node}\n    memory: {self.memory[node] // MIB} MiB\n"
                          f"    distances: {self.distances[node]}\n"
                          f"    hugepages: [{{size: 2 MiB, total: {self.pages[node]}, free: {self.pages[node]}}}]\n"
                          f"    cpus: [{{package: {node}, cores: {' '.join(cores)}}}]\n")

    def room(self, node, huge):
        """Pages of a hugepage pool are nobody else's memory."""
        pool = self.pages[node] * 2 * MIB
        return pool if huge else self.memory[node] - pool

    def claims(self):
        """Another guest, which owns some CPUs."""
        self.taken = {cpu for cpu in self.core_of if rng.random() < .15}
        line = ",".join(map(str, sorted(self.taken)))
        return "vmgen-claims 1\n" + (
            f"11111111-2222-3333-4444-555555555555 state=running cpus={line} name=other\n"
            if line else "")


class Policy:
    def __init__(self, host):
        self.vcpus = rng.randint(1, 16)
        self.nodes = rng.randint(1, min(self.vcpus, len(host.memory)))
        self.smt = rng.choice(["isolate", "require", "prefer", "any"])
        self.huge = rng.random() < .4
        self.memory = (rng.choice([512, 1024, 2048, 3072, 6144, 8192, 10240]) +
                       rng.choice([0, 0, 2, 6])) * MIB
        helpers = rng.choice(["own", "housekeeping"])
        self.text = (f"policy: t\nmatch: {{name: ['*']}}\n"
                     f"domain: {{template: performance, name: t, vcpus: {self.vcpus}, "
                     f"memory: {self.memory // MIB} MiB}}\n"
                     f"cputune: {{vcpupin: dedicated, smt: {self.smt}, emulatorpin: {helpers}}}\n"
                     f"numatune: {{mode: strict, nodes: NODES}}\n" +
                     ("memoryBacking: {hugepages: 2 MiB}\n" if self.huge else ""))


class Guest:
    """What the XML says."""

    def __init__(self, xml):
        self.domain = ET.fromstring(xml)
        find, each = self.domain.find, self.domain.iter
        self.pins = {int(e.get("vcpu")): numbers(e.get("cpuset")) for e in each("vcpupin")}
        self.emulator = set(numbers(find("cputune/emulatorpin").get("cpuset")))
        self.nodes = numbers(find("numatune/memory").get("nodeset"))
        self.memnodes = {int(e.get("cellid")): numbers(e.get("nodeset")) for e in each("memnode")}
        self.cells = self.domain.findall("cpu/numa/cell")
        self.topology = find("cpu/topology")

    def cell_cpus(self, cell):
        return [self.pins[vcpu][0] for vcpu in numbers(cell.get("cpus"))]


def judge_pins(host, policy, guest):
    cpus = [guest.pins[vcpu][0] for vcpu in sorted(guest.pins)]
    cores = [host.core_of.get(cpu) for cpu in cpus]
    yield "a vCPU without a CPU of its own", (
        sorted(guest.pins) != list(range(policy.vcpus)) or len(set(cpus)) < policy.vcpus or
        any(len(pin) != 1 for pin in guest.pins.values()))
    yield "a CPU that is offline", None in cores
    yield "a CPU of another guest", bool((set(cpus) | guest.emulator) & host.taken)
    yield "emulator on a vCPU", bool(guest.emulator & set(cpus))
    if policy.smt == "isolate":
        owned = set(cores)
        yield "isolate shares a core", (
            len(owned) < policy.vcpus or any(host.core_of[c] in owned for c in host.taken) or
            any(host.core_of[c] in owned for c in guest.emulator))
    if policy.smt == "require":
        alone = sum(n == 1 for n in collections.Counter(cores).values())
        yield "require leaves a vCPU alone", len(set(map(host.node_of.get, cpus))) == 1 and \
            alone > policy.vcpus % 2


def judge_nodes(host, policy, guest):
    nodes = sorted({host.node_of[pin[0]] for pin in guest.pins.values()})
    yield "more nodes than allowed", len(nodes) > policy.nodes
    yield "memory is not where the vCPUs are", not guest.cells and guest.nodes != nodes
    yield "several nodes without cells", not guest.cells and len(nodes) > 1
    use = collections.Counter()
    for i, cell in enumerate(guest.cells):
        use[guest.memnodes[i][0]] += int(cell.get("memory"))
    if not guest.cells:
        use[guest.nodes[0]] = policy.memory
    yield "more memory than a node has", any(
        n > host.room(node, policy.huge) for node, n in use.items())


def judge_cells(host, policy, guest, made):
    on = [guest.memnodes.get(i, [None])[0] for i in range(len(guest.cells))]
    yield "memnode does not match the cells", (
        len(guest.memnodes) != len(on) or (made and len(set(on)) < len(on)) or
        sorted(set(on)) != guest.nodes or any(len(m) != 1 for m in guest.memnodes.values()))
    vcpus = sorted(v for cell in guest.cells for v in numbers(cell.get("cpus")))
    memory = [int(cell.get("memory")) for cell in guest.cells]
    yield "cells are not all of the guest", (vcpus != list(range(policy.vcpus)) or
                                             sum(memory) != policy.memory)
    for i, cell in enumerate(guest.cells):
        yield "a cell is not where its vCPUs are", \
            {host.node_of[cpu] for cpu in guest.cell_cpus(cell)} != {on[i]}
    if not made:
        return
    for i, cell in enumerate(guest.cells):
        seen = {int(s.get("id")): int(s.get("value")) for s in cell.iter("sibling")}
        yield "distances are not the host's", \
            seen != {j: host.distances[on[i]][to] for j, to in enumerate(on)}
    unit = 2 * MIB if policy.huge else 1
    uneven = any(abs(m * policy.vcpus - policy.memory * len(numbers(cell.get("cpus")))) >
                 2 * policy.vcpus * max(unit, MIB) for m, cell in zip(memory, guest.cells))
    full = any(m + unit > host.room(node, policy.huge) for m, node in zip(memory, on))
    yield "memory is not split as the vCPUs are, and no node is full", uneven and not full


def judge_topology(host, policy, guest):
    if guest.topology is None:
        return
    sockets, cores, threads = (int(guest.topology.get(x)) for x in ("sockets", "cores", "threads"))
    on = [host.core_of[guest.pins[vcpu][0]] for vcpu in range(policy.vcpus)]
    pairs = [on[i:i + threads] for i in range(0, len(on), threads)]
    yield "topology is not the number of vCPUs", sockets * cores * threads != policy.vcpus
    yield "a guest core is on several host cores", any(len(set(pair)) > 1 for pair in pairs)
    twice = [on[i:i + 2 * threads] for i in range(0, len(on), 2 * threads)]
    yield "the guest has more siblings than it sees", (
        policy.vcpus % (2 * threads) == 0 and all(len(set(core)) == 1 for core in twice))
    for cell in guest.cells:
        yield "a cell is on several sockets, or a socket on several cells", (
            len({v // (cores * threads) for v in numbers(cell.get("cpus"))}) > 1 or
            sockets != len(guest.cells))


def write(name, text):
    path = f"{HOME}/{name}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def vmgen(*words):
    run = subprocess.run([VMGEN, *words, *OPTIONS], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True)
    assert not run.returncode or "[placement]" in run.stderr or "--control" in run.stderr, \
        run.stderr
    return Guest(run.stdout) if run.returncode == 0 else None


def dealt_anew(guest, policy):
    """The guest as one of before: its cells keep their sizes, their vCPUs are shuffled."""
    for tag in ("cputune", "numatune"):
        guest.domain.remove(guest.domain.find(tag))
    if guest.topology is not None:
        guest.domain.find("cpu").remove(guest.topology)
    vcpus = list(range(policy.vcpus))
    rng.shuffle(vcpus)
    for cell in guest.cells:
        mine = [vcpus.pop() for _ in numbers(cell.get("cpus"))]
        cell.set("cpus", ",".join(map(str, sorted(mine))))
    return ET.tostring(guest.domain, encoding="unicode")


def main():
    counts, faults = collections.Counter(), collections.Counter()

    def judge(judges):
        for each in judges:
            faults.update(name for name, faulty in each if faulty)

    for _ in range(ROUNDS):
        host = Host()
        policy = Policy(host)
        where = ["--host", write("host.yaml", host.text),
                 "--claims", write("claims", host.claims())]
        path = write("policy.yaml", policy.text.replace("NODES", str(policy.nodes)))
        guest = vmgen("render", "--templates", "templates", *where, path)
        counts["placed" if guest else "refused"] += 1
        if not guest:
            continue
        judge([judge_pins(host, policy, guest), judge_nodes(host, policy, guest),
               judge_cells(host, policy, guest, True) if guest.cells else (),
               judge_topology(host, policy, guest)])
        if not guest.cells:
            continue
        counts["with cells"] += 1
        policy.nodes = rng.randint(1, len(guest.cells))
        path = write("fewer.yaml", policy.text.replace("NODES", str(policy.nodes)))
        guest = vmgen("rewrite", *where, path, write("guest.xml", dealt_anew(guest, policy)))
        if guest:
            counts["with cells given"] += 1
            judge([judge_pins(host, policy, guest), judge_nodes(host, policy, guest),
                   judge_cells(host, policy, guest, False)])
    for name, count in sorted(faults.items()):
        print(f"{count} {name}")
    print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())), file=sys.stderr)


main()

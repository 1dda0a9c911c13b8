#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""kernel_names.py KERNEL...: compares FKT's names of numbers with those in the headers of kernels.

KERNEL: a folder of tests/vm/get-kernel. Prints each system call, interrupt vector, softirq and exception that the tools
name otherwise or not at all, and each vector whose tracepoints the module does not use. Fails if there are any.
"""
import pathlib
import re
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent


def read(path):
    return (CHECKOUT / path).read_text()


def function(text, name):
    return re.search(rf"NumberNames::{name}\(.*?^}}", text, re.S | re.M)[0]


def listed(text):
    """The names of an array of texts, by their places."""
    return dict(enumerate(re.findall(r'"(\w+)"', text[:text.index(";")])))


def known():
    names = read("lib/format/number_names.cc")
    calls = re.findall(r"^FKT_SYSCALL\((\d+), (\d+), (\w+)\)$", read("lib/format/syscalls.def"), re.M)
    traps = function(names, "trap")
    return {
        "system call (64 bit)": {int(n): name for abi, n, name in calls if abi == "64"},
        "system call (32 bit)": {int(n): name for abi, n, name in calls if abi == "32"},
        "vector": {int(n, 16): name for n, name in
                   re.findall(r'case (0x\w+):\s+return "(\w+)"', function(names, "vector"))},
        "softirq": listed(function(names, "softirq")),
        "exception": listed(traps) | {int(n): name for n, name in re.findall(r'== (\d+)\) return "(\w+)"', traps)},
    }


def of_headers(kernel):
    """The headers' names in the place of those of known(); None: the number must have a name, whichever."""
    roots = [path for path in pathlib.Path(kernel).glob("*/usr/src/linux-headers-*") if path.is_dir()]

    def header(name):
        paths = [path for root in roots for path in [root / name] if path.exists()]
        if not paths:
            sys.exit(f"kernel_names.py: {kernel}: no header {name}")
        return paths[0].read_text()

    def calls(bits):
        text = header(f"arch/x86/include/generated/uapi/asm/unistd_{bits}.h")
        return {int(n): name for name, n in re.findall(r"^#define __NR_(\w+) (\d+)$", text, re.M) if name != "syscalls"}

    softirqs = re.search(r"HI_SOFTIRQ=0,.*?NR_SOFTIRQS", header("include/linux/interrupt.h"), re.S)[0]
    found = {
        "system call (64 bit)": calls(64),
        "system call (32 bit)": calls(32),
        # Vectors below these are devices' and the processor's.
        "vector": {int(n, 16): name.lower() for name, n in re.findall(
            r"^#define (\w+)_VECTOR\s+(0x[ef]\w)$", header("arch/x86/include/asm/irq_vectors.h"), re.M)},
        "softirq": dict(enumerate(re.findall(r"(\w+)_SOFTIRQ\b", softirqs))),
        "exception": {int(n): None for n in re.findall(
            r"^#define X86_TRAP_\w+\s+(\d+)\b", header("arch/x86/include/asm/trapnr.h"), re.M)},
    }
    traced = re.findall(r"^DEFINE_IRQ_VECTOR_EVENT\((\w+)\)", header("arch/x86/include/asm/trace/irq_vectors.h"), re.M)
    # Named by its tracepoint where it has one.
    found["vector"] = {n: f"{name}_apic" if f"{name}_apic" in traced else name for n, name in found["vector"].items()}
    if not traced or not all(found.values()):
        sys.exit(f"kernel_names.py: {kernel}: its headers have another form")
    return found, set(traced)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    ours, bad = known(), []
    probed = set(re.findall(r"\bDO\((\w+)\)", read("module/arch/x86/events/vectors.c") + read("module/arch/x86/x86_compat.h")))
    for kernel in sys.argv[1:]:
        names, traced = of_headers(kernel)
        for kind, table in names.items():
            for number, name in sorted(table.items()):
                mine = ours[kind].get(number)
                if mine is None or (name is not None and mine != name):
                    bad.append(f"{kernel}: {kind} {number} is {name or 'in its headers'}, FKT says {mine}")
        bad += [f"{kernel}: vector {name} has tracepoints that the module does not use" for name in sorted(traced - probed)]
    print(*bad, sep="\n", end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())

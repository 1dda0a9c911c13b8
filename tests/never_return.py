#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Finds the kernel's functions whose whole calls must not be traced, for include/fkt/never_return.def.

    never_return.py KERNEL...                             objtool's list, which its program in the kernel's headers has
    never_return.py --source KERNEL <linux-source.tar.xz  ... from the source, and the functions of threads that the
                                                          kernel or one of its modules has

KERNEL: a folder of tests/vm/get-kernel. Prints the names that the .def file does not have, and fails if there are any.
"""
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tarfile

DEF = pathlib.Path(__file__).resolve().parent.parent / "include/fkt/never_return.def"
# In objtool's list, but they only end their task, for which module/calls/calls.c counts (never_return.def).
ENDS_TASK = set("""
    do_exit do_group_exit kthread_exit kthread_complete_and_exit make_task_dead rewind_stack_and_make_dead
    __module_put_and_kthread_exit __x64_sys_exit __x64_sys_exit_group __ia32_sys_exit __ia32_sys_exit_group
    """.split())
# Only source files of what x86 has: other folders of arch/ are left out, and what is not the kernel.
LEFT_OUT = re.compile(r"^(arch/(?!x86/)|arch/x86/kernel/apm_32|tools/(?!objtool/)|samples/|scripts/|Documentation/|rust/)")
STARTS = re.compile(r"\b(?:_*kthread_(?:create|run)(?:_on_node|_on_cpu)?|create_io_thread|kernel_thread|user_mode_thread|"
                    r"vhost_task_create|svc_create_pooled|svc_create)\s*\(([^;]*?)\)\s*;|"
                    r"\b(?:sv_)?thread_?fn\s*=\s*&?(\w+)\s*[,;]")
# What all of them are: int function(void *).
THREAD = re.compile(r"^(?:[a-z_]+ +)*(?:int|void)\s+(?:__\w+ +)?(\w+)\s*\(\s*void\s*\*\s*\w+\s*\)\s*\{", re.M)


def of_objtool_source(path, text):
    if path.endswith("objtool/noreturns.h"):
        return set(re.findall(r"^NORETURN\((\w+)\)", text, re.M))
    table = re.search(r"global_noreturns\[\] = \{(.*?)\};", text, re.S) if path.endswith("objtool/check.c") else None
    return set(re.findall(r'"(\w+)"', table[1])) if table else set()


def of_source(stream):
    """objtool's list, and the functions that are given to what creates threads and are such functions in that file or
    another one of its folder."""
    found, given, threads = set(), {}, {}
    with tarfile.open(fileobj=stream, mode="r|xz") as tar:
        for member in tar:
            path = member.name.split("/", 1)[-1]
            if not member.isfile() or path[-2:] not in (".c", ".h") or LEFT_OUT.match(path):
                continue
            text = tar.extractfile(member).read().decode("utf-8", "replace")
            found |= of_objtool_source(path, text)
            folder = path.rsplit("/", 1)[0]
            for call, named in STARTS.findall(text):
                given.setdefault(folder, set()).update(re.findall(r"\b[a-z_]\w*", call), [named])
            threads.setdefault(folder, set()).update(THREAD.findall(text))
    if not found:
        sys.exit("never_return.py: that source has no list of objtool's")
    for folder, names in given.items():
        found |= names & threads[folder]
    return found


def relocations(path):
    """The places of pointers in the file's data, and what they point to."""
    lines = subprocess.run(["readelf", "-rW", path], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        words = line.split()
        if len(words) == 4 and words[2] == "R_X86_64_RELATIVE":
            yield int(words[0], 16), int(words[3], 16)


def of_objtool(path):
    """The array of texts that has panic in it: pointers without a gap, to names."""
    data = pathlib.Path(path).read_bytes()
    offset, = struct.unpack_from("<Q", data, 0x20)
    size, count = struct.unpack_from("<HH", data, 0x36)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]

    def text(address):
        for kind, _, start, virtual, _, length in segments:
            if kind == 1 and virtual <= address < virtual + length:
                begin = start + address - virtual
                return data[begin:data.index(b"\0", begin)].decode("ascii", "replace")
        return ""

    names = {place: text(to) for place, to in relocations(path)}
    found = set()
    for place in [place for place, name in names.items() if name == "panic"]:
        for step in (8, -8):
            at = place
            while re.fullmatch(r"\w+", names.get(at, "")):
                found.add(names[at])
                at += step
    return found


def of_headers(kernel):
    """Debian has an objtool for each machine behind a program that chooses one, or only one."""
    found = set()
    for path in pathlib.Path(kernel).glob("*/usr/lib/linux-kbuild-*/tools/objtool/objtool*"):
        if path.name in ("objtool", "objtool.real-x86"):
            found |= of_objtool(path)
    if not found:
        sys.exit(f"never_return.py: {kernel}: the list is not found in the headers' objtool")
    return found


def unpacked(path):
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.name != "vmlinuz":
        return data
    xz, zstd = data.find(b"\xfd7zXZ\0"), data.find(b"\x28\xb5\x2f\xfd")
    if xz >= 0:
        return lzma.LZMADecompressor().decompress(data[xz:])
    return subprocess.run(["zstd", "-dcq"], input=data[zstd:], capture_output=True, check=False).stdout


def of_kernel(names, kernel):
    """Those of the names that are names in the kernel's types, or in a module's symbols."""
    found = set()
    for path in [pathlib.Path(kernel, "vmlinuz"), *pathlib.Path(kernel).glob("lib/modules/**/*.ko*")]:
        found |= names.intersection(text.decode("latin1") for text in unpacked(path).split(b"\0"))
    return found


def main():
    known = set(re.findall(r"^FKT_NEVER_RETURNS\((\w+)\)", DEF.read_text(), re.M)) | ENDS_TASK
    if len(sys.argv) == 3 and sys.argv[1] == "--source":
        missing = of_kernel(of_source(sys.stdin.buffer) - known, sys.argv[2])
    elif len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        missing = set().union(*map(of_headers, sys.argv[1:])) - known
    else:
        sys.exit(__doc__)
    for name in sorted(missing):
        print("include/fkt/never_return.def lacks", name)
    return bool(missing)


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""call_names.py KERNEL...: compares FKT's names of system calls' arguments and of their values with the headers of kernels.

KERNEL: a folder of tests/vm/get-kernel. A compiler says what the names of lib/format/call_arguments.def are in the headers
for programs; a few names are only in those of the kernel itself. Prints each name with another value, each that no kernel
has, and each call whose prototype has other arguments. Fails if there are any.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = """linux/types.h linux/fiemap.h asm/fcntl.h linux/fcntl.h linux/stat.h linux/fs.h asm/mman.h linux/mman.h linux/futex.h
    linux/sched.h linux/wait.h asm/signal.h asm/siginfo.h linux/resource.h linux/ioprio.h linux/time.h linux/timerfd.h
    linux/eventfd.h linux/eventpoll.h linux/signalfd.h linux/inotify.h linux/fanotify.h linux/in.h linux/in6.h linux/tcp.h linux/udp.h asm/socket.h
    linux/random.h linux/memfd.h linux/prctl.h asm/prctl.h linux/personality.h linux/ptrace.h asm/ptrace.h linux/mount.h
    linux/reboot.h linux/keyctl.h linux/bpf.h linux/perf_event.h linux/io_uring.h linux/landlock.h linux/seccomp.h
    linux/membarrier.h linux/rseq.h linux/falloc.h linux/fadvise.h linux/xattr.h linux/kcmp.h linux/kexec.h linux/module.h
    linux/userfaultfd.h linux/pidfd.h linux/close_range.h linux/sem.h linux/msg.h linux/shm.h linux/ipc.h linux/mempolicy.h
    linux/lsm.h asm/ioctls.h""".split()
# Of the kernel itself.
OWN_HEADERS = ("include/linux/socket.h", "include/linux/net.h", "include/linux/fs.h", "include/linux/splice.h",
               "include/linux/swap.h", "include/linux/syslog.h", "include/linux/fs/super_types.h")
# Of the C library's headers.
NOT_OF_KERNEL = {"F_OK", "X_OK", "W_OK", "R_OK", "SHUT_RD", "SHUT_WR", "SHUT_RDWR", "SIGCHLD"}
# The kernel has other functions for these on x86-64.
CALLED = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "sendfile": "sendfile64",
          "umount2": "umount"}


def ours():
    """The names with their values; the arguments' names of each form of each call."""
    text = (CHECKOUT / "lib/format/call_arguments.def").read_text()
    text = text[text.index("*/\nFKT"):]
    values = {}
    for body in re.findall(r"^FKT_NAMES\(\w+, \w+,\n(.*?)\)$", text, re.M | re.S):
        for word in " ".join(re.findall(r'"([^"]*)"', body)).split():
            name, value = word.split("=")
            values.setdefault(name, set()).add(int(value.split("/")[0], 0) & 0xffffffffffffffff)
    calls = {}
    for call, row in re.findall(r'^FKT_CALL\((\w+), [^"]*"(.*)"\)$', text, re.M):
        calls.setdefault(call, []).append([word.split(":")[0] for word in row.split()])
    return values, calls


def of_programs(common, generated, names, work):
    """What a compiler says of the names in the headers for programs."""
    options = ["gcc", "-w", "-nostdinc", f"-I{work}/none", "-D__user=", "-D__force=", "-D__EXPORTED_HEADERS__",
               "-D__attribute_const__=", "-D__always_inline=inline"]
    options += [f"-I{root}/{path}" for root, path in (
        (common, "arch/x86/include/uapi"), (generated, "arch/x86/include/generated/uapi"), (common, "include/uapi"),
        (generated, "include/generated/uapi"))]
    there = [h for h in HEADERS if any((pathlib.Path(o[2:]) / h).exists() for o in options if o.startswith("-I"))]
    head = "typedef unsigned long size_t;\n" + "".join(f"#include <{h}>\n" for h in there)
    (work / "all.h").write_text(head)
    while True:  # headers that those for programs leave out are empty
        seen = subprocess.run([*options, "-E", "-dD", str(work / "all.h")], capture_output=True, text=True)
        missing = re.search(r"fatal error: (\S+): No such file", seen.stderr)
        if not missing:
            break
        empty = work / "none" / missing[1]
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.touch()
    known = set(re.findall(r"\b[A-Z_]\w+\b", seen.stdout))
    names = [name for name in names if name in known]
    for _ in range(3):
        lines = [f' printf("{name} %lld\\n", (long long)({name}));\n' for name in names]
        (work / "all.c").write_text(head + "int printf(const char *, ...);\nint main(void) {\n" + "".join(lines) + "}\n")
        made = subprocess.run([*options, "-o", str(work / "all"), str(work / "all.c")], capture_output=True, text=True)
        if made.returncode == 0:
            break
        # Mentioned, but no value of its own.
        wrong = set(re.findall(r"error: .(\w+). undeclared", made.stderr))
        names = [name for name in names if name not in wrong]
    if made.returncode:
        sys.exit(f"call_names.py: {common}: {made.stderr[:1000]}")
    out = subprocess.run([str(work / "all")], capture_output=True, text=True, check=True).stdout
    return {name: int(value) & 0xffffffffffffffff for name, value in (line.split() for line in out.splitlines())}


def of_kernel(common, values):
    found = {}
    for path in OWN_HEADERS:
        text = (common / path).read_text() if (common / path).exists() else ""
        for name, value in re.findall(r"^#\s*define\s+([A-Z_]\w+)\s+\(?(0x[0-9a-fA-F]+|\d+)[UL]*\)?\s*(?:/\*.*)?$", text, re.M):
            found[name] = int(value, 0 if value.startswith("0x") or not value.startswith("0") else 8)
        for body in re.findall(r"\benum\s+\w+\s*\{(.*?)\}", text, re.S):
            found.update((n, int(v, 0)) for n, v in re.findall(r"(\b[A-Z_]\w+)\s*=\s*(\d+)", body))
        found.update((n, next(iter(values[o]))) for n, o in re.findall(r"^#define (SOCK_\w+)\s+(O_\w+)$", text, re.M) if o in values)
    return found


def prototypes(common):
    text = "".join((common / p).read_text() for p in ("include/linux/syscalls.h", "arch/x86/include/asm/syscalls.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for call, body in re.findall(r"asmlinkage long sys_(\w+)\(([^;{]*?)\)\s*;", text, re.S):
        words = [" ".join(a.split()) for a in body.split(",")]
        # A prototype without names says only how many there are.
        names = [re.fullmatch(r".+[ *](\w+)", a) for a in words]
        named = all(m and m[1] not in ("int", "long", "unsigned", "__user", "size_t") for m in names)
        found.setdefault(call, []).append([m[1] for m in names] if named else len(words) if words != ["void"] else 0)
    return found


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    values, calls = ours()
    bad, seen, compared = [], set(NOT_OF_KERNEL), 0
    for kernel in sys.argv[1:]:
        roots = {p.name.rpartition("-")[2]: p for p in pathlib.Path(kernel).glob("*/usr/src/linux-headers-*") if p.is_dir()}
        common = roots.get("common") or next((p for n, p in roots.items() if n.startswith("common")), None)
        if not common or len(roots) < 2:
            sys.exit(f"call_names.py: {kernel}: no headers")
        generated = next(p for p in roots.values() if p != common)
        with tempfile.TemporaryDirectory() as work:
            known = of_kernel(common, values) | of_programs(common, generated, values, pathlib.Path(work))
        for name, mine in sorted(values.items()):
            if name in known and name not in NOT_OF_KERNEL:
                seen.add(name)
                # Flags of an int may be negative in the headers.
                if not {known[name], known[name] & 0xffffffff} & mine:
                    bad.append(f"{kernel}: {name} is {known[name]:#x}, FKT says {[hex(v) for v in mine]}")
        theirs = prototypes(common)
        for call, forms in calls.items():
            for form in forms:
                all_forms = theirs.get(CALLED.get(call, call), [])
                if not all_forms:
                    continue
                compared += 1
                # A form may leave out last arguments, and one that it has otherwise has another name.
                fits = any(len(form) <= (f if isinstance(f, int) else len(f)) for f in all_forms)
                same = any(isinstance(f, int) or sum(a == b for a, b in zip(form, f)) >= len(form) - 2 for f in all_forms)
                if not fits or not same:
                    bad.append(f"{kernel}: {call} has {all_forms}, FKT says {form}")
    bad += [f"no kernel has {name}" for name in sorted(set(values) - seen)]
    print(*bad, sep="\n", end="\n" if bad else "")
    print(f"call_names.py: {len(seen)} names of values, {compared} prototypes", file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())

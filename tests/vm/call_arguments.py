#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""call_arguments.py make CHECKOUT: prints lines for tests/vm/programs/call_each, each form of each system call with random
names of each of its arguments' values, and each value once.

call_arguments.py agree CHECKOUT TRACE DUMP LEAST: compares the arguments in a dump (fkt_print --dump --json) name by name
with those of the same calls in a trace of strace -f. Fails if they differ, or there are fewer than LEAST different calls;
prints how many calls and names agree.
"""
import json
import pathlib
import random
import re
import sys

NO_PROCESS, NO_FILE, BAD = 0x7ffffffe, 99, 8  # BAD: no address of the program's
# They would disturb call_each, or make the kernel complain of a signal; other arguments would end the guest, stop its
# messages, or have a process killed where strace loses it.
LEFT_OUT = {"fork", "vfork", "clone", "clone3", "rt_sigreturn", "vhangup", "uretprobe", "uprobe", "restart_syscall"}
FORCED = {("reboot", "magic2"): 0, ("syslog", "type"): 3, ("seccomp", "uargs"): BAD}
FORCED |= {("prctl", f"arg{n}"): 4097 for n in range(2, 6)}
PROCESSES = {"pid", "tgid", "pid1", "pid2", "who", "pgid"}


def tables(checkout):
    text = (checkout / "lib/format/call_arguments.def").read_text()
    text = text[text.index("*/\nFKT"):]
    numbers = {name: int(n) for n, name in re.findall(
        r"^FKT_SYSCALL\(64, (\d+), (\w+)\)$", (checkout / "lib/format/syscalls.def").read_text(), re.M)}
    sets = {}
    for name, kind, body in re.findall(r"^FKT_NAMES\((\w+), (\w+),\n(.*?)\)$", text, re.M | re.S):
        words = " ".join(re.findall(r'"([^"]*)"', body)).split()
        sets[name] = kind, [(w.split("=")[0], int(w.split("=")[1].split("/")[0], 0)) for w in words]
    calls = [(name, int(a, 0), int(mask, 0), int(value, 0), row.split()) for name, a, mask, value, row in re.findall(
        r'^FKT_CALL\((\w+), (\d+), (-?\w+), (-?\w+), "(.*)"\)$', text, re.M)]
    return numbers, sets, calls


def word(call, argument, sets, dice):
    name, _, kind = argument.partition(":")
    kind = kind.removeprefix(":")
    if (call, name) in FORCED:
        return FORCED[call, name]
    if kind == "p":
        return "path"
    if kind in ("fd", "dfd"):
        return dice.choice((NO_FILE, NO_FILE, -100))
    if kind == "sig":
        return dice.randrange(1, 32)
    if kind in sets:
        form, names = sets[kind]
        if form == "values":
            return dice.choice(names)[1]
        value = 0
        for _ in range(dice.randrange(4)):
            value |= dice.choice(names)[1]
        return value & 0xffffffff
    if name in PROCESSES:
        return NO_PROCESS
    if kind == "":
        return dice.choice((0, BAD))
    return dice.choice((0, 1, 7, 4096)) if kind != "o" else dice.choice((0, 0o644, 0o1777))


def make(checkout):
    numbers, sets, calls = tables(checkout)
    dice = random.Random(1)
    for call, at, mask, value, row in calls:
        if call in LEFT_OUT:
            continue
        rounds = [{}]
        for i, argument in enumerate(row):
            kind = argument.partition(":")[2].removeprefix(":")
            if kind in sets and not mask and (call, argument.split(":")[0]) not in FORCED:
                rounds = rounds + [{i: v} for _, v in sets[kind][1]]
        for fixed in rounds:
            words = [word(call, a, sets, dice) for a in row] + [0] * (6 - len(row))
            for i, v in fixed.items():
                words[i] = v
            if mask:
                words[at] = (int(words[at]) & ~mask | value) & 0xffffffff
            print(numbers[call], *(w if w == "path" else w & (1 << 64) - 1 for w in words))


def split(text):
    """The parts of strace's arguments, which commas outside of brackets and quotation marks separate."""
    parts, depth, quoted, part = [], 0, False, ""
    text = re.sub(r"/\*.*?\*/", lambda m: "?" if "???" in m[0] else "", text)
    i = 0
    while i < len(text):
        c = text[i]
        if quoted and c == "\\":
            part += text[i:i + 2]
            i += 2
            continue
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        if c == "," and not quoted and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += c
        i += 1
    return parts + [part.strip()] if part.strip() or parts else []


NAMES = re.compile(r"^(~?[A-Z_][A-Za-z0-9_]*|0x[0-9a-f]+|\d+)(\|([A-Z_][A-Za-z0-9_]*|0x[0-9a-f]+|\d+))*$")


def number(text):
    if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text):
        return int(text, 8 if re.fullmatch(r"0[0-7]+", text) else 0) & 0xffffffff
    return None


def joined(numbers):
    all_of = 0
    for one in numbers:
        all_of |= one
    return all_of


def parts(text):
    return {number(p) if number(p) is not None else p for p in text.split("|") if p != "0"}


def traced(path):
    """The calls of strace's lines by process; a line of a call that another's line cuts is put together."""
    open_calls, calls = {}, {}
    for line in open(path, errors="replace"):
        m = re.match(r"(\d+)\s+(.*)", line)
        if not m:
            continue
        pid, text = int(m[1]), m[2]
        if text.endswith("<unfinished ...>"):
            open_calls[pid] = text.removesuffix("<unfinished ...>")
            calls.setdefault(pid, []).append(None)
            begun = re.match(r"(\w+)\((.*)", open_calls[pid])
            if begun:
                calls[pid][-1] = (begun[1], None)
            continue
        m = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if m:
            text = open_calls.pop(pid, "") + m[1]
        m = re.match(r"(\w+)\((.*)\)\s+= ", text)
        if m:
            if pid in calls and calls[pid] and calls[pid][-1] == (m[1], None):
                calls[pid].pop()
            calls.setdefault(pid, []).append((m[1], m[2]))
    return calls


def agree(checkout, trace, dump, least):
    theirs, ours = traced(trace), {}
    values_of = {name: value & 0xffffffff for _, names in tables(checkout)[1].values() for name, value in names}
    for line in open(dump):
        event = json.loads(line)
        if "arguments" in event["args"] or event["name"].startswith("sys_"):
            ours.setdefault(event["pid"], []).append((event["name"][4:], event["args"].get("arguments", {})))
    seen, names, bad, compared, left_out = set(), set(), {}, 0, 0
    for pid, calls in theirs.items():
        mine = iter(ours.get(pid, []))
        for call, text in calls:
            found = next((m for m in mine if m[0] == call), None)
            if found is None or text is None:
                continue
            seen.add(call)
            values = split(text)
            for i, (name, value) in enumerate(found[1].items()):
                value = re.sub(r"<.*>$", "", value)  # the file of a descriptor
                if i >= len(values) or (call, name) in OTHERWISE:
                    left_out += i >= len(values)
                    continue
                said = values[i]
                if "?" in said or not NAMES.match(said) and number(said) is None and said != "NULL":
                    if said.startswith('"') and value.startswith("/"):
                        compared += 1
                        if said.strip('".') != value:
                            bad.setdefault((call, name), []).append((said, value))
                    continue
                compared += 1
                a, b = parts(said), parts(value)
                a, b = ({ALIKE.get(x, x) for x in s} - {None} for s in (a, b))
                a = {y for x in a for y in ((x.removesuffix("_PRIVATE"), "FUTEX_PRIVATE_FLAG") if str(x).endswith("_PRIVATE") and
                                            str(x).startswith("FUTEX") else (x,))}
                # strace is older than some names: what it has as a number is what they are together.
                newer, unnamed = {x for x in b - a if x in values_of}, {x for x in a - b if isinstance(x, int)}
                if unnamed and a - b == unnamed and b - a == newer and joined(unnamed) == joined(values_of[x] for x in newer):
                    continue
                if a != b:
                    bad.setdefault((call, name), []).append((said, value))
                else:
                    names |= {x for x in b if isinstance(x, str)}
    for (call, name), pairs in sorted(bad.items()):
        print(f"{call} {name}: {len(pairs)}, as {pairs[:3]}")
    print(len(seen), "different calls,", len(names), "different names agree,", compared, "arguments compared,", left_out, "that strace has not")
    return bool(bad) or len(seen) < int(least)


# Values with two names, and arguments that strace shows by means that FKT has not: other arguments, structures.
ALIKE = {"NULL": None, 0: None, "MAP_FILE": None, "PTRACE_PEEKUSER": "PTRACE_PEEKUSR", "PTRACE_POKEUSER": "PTRACE_POKEUSR",
         "SIGIO": "SIGPOLL", "SCHED_OTHER": "SCHED_NORMAL", "WSTOPPED": "WUNTRACED"}
OTHERWISE = {("open_by_handle_at", "mountdirfd"), ("socket", "protocol"), ("getsockopt", "optname"), ("setsockopt", "optname")}
OTHERWISE |= {(call, f"arg{n}") for call in ("prctl", "keyctl") for n in range(2, 6)}
OTHERWISE |= {("ptrace", "addr"), ("ptrace", "data")}

if __name__ == "__main__":
    where = pathlib.Path(sys.argv[2])
    sys.exit(make(where) if sys.argv[1] == "make" else agree(where, *sys.argv[3:6]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Computes fkt_kd's tables (and those of --tasks, and fkt_print's percentiles) once more, by other means, and compares every figure.

usage: kd_independent.py FKT_KD FKT_PRINT FOLDER

1. FKT recordings: from the events that `fkt_print --dump --json` prints.
2. KFT logs: a simulated CPU writes a log and keeps its own accounts of who ran when.
"""
import collections
import csv
import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

KEYS = ("count", "cut", "time", "local", "sub", "cpu", "blocked", "preempted", "interrupts", "min", "max")


class Row:
    def __init__(self):
        self.count = self.local = self.sub = self.blocked = self.preempted = 0
        self.walls = []
        self.subs = collections.Counter()
        self.sub_times = collections.Counter()

    def figures(self):
        time = sum(self.walls)
        known = self.local + self.sub + self.blocked + self.preempted
        return dict(count=self.count, cut=self.count - len(self.walls), time=time, local=self.local, sub=self.sub,
                    cpu=self.local + self.sub, blocked=self.blocked, preempted=self.preempted,
                    interrupts=time - known, min=min(self.walls, default=0), max=max(self.walls, default=0))


class Call:
    def __init__(self, name, begin, key=None):
        self.name, self.begin, self.key = name, begin, key
        self.own = self.sub = self.blocked = self.preempted = 0
        self.children = []  # (name, wall)


def finish(rows, call, end, parent):
    """Books a call that was seen whole."""
    row = rows[call.name]
    wall = end - call.begin
    row.walls.append(wall)
    row.local += call.own
    row.sub += call.sub
    row.blocked += call.blocked
    row.preempted += call.preempted
    for name, time in call.children:
        row.subs[name] += 1
        row.sub_times[name] += time
    if parent is not None:
        parent.children.append((call.name, wall))
        parent.sub += call.own + call.sub
        parent.blocked += call.blocked
        parent.preempted += call.preempted


BEGIN = {0x10: "call", 0x11: "call", 0x12: "call", 0x18: "call", 0x19: "call", 0x1a: "call",
         0x28: "irq", 0x29: "irq", 0x2b: "vector", 0x2e: "softirq"}
END = {0x13: "call", 0x14: "call", 0x1b: "call", 0x1c: "call", 0x2a: "irq", 0x2c: "vector", 0x2f: "softirq"}


class Machine:
    """Follows the events of a recording without gaps."""

    def __init__(self):
        self.rows = collections.defaultdict(Row)
        self.tasks = collections.defaultdict(list)
        self.cpus = collections.defaultdict(list)
        self.last = {}  # per CPU: time of its last event
        self.off = {}   # per task: (since, state)
        self.running = {}

    @staticmethod
    def name(event, kind):
        if kind == "call":
            return event["name"], None
        args = event["args"]
        number = args.get("irq", args.get("vector", args.get("vec")))
        text = next((v for k, v in args.items() if k.endswith("_name")), None)
        if kind == "irq":
            return f"irq {number}" + (f" {text}" if text else ""), number
        return f"{kind} {text if text else number}", number

    def charge(self, event):
        cpu, pid = event["cpu"], event["pid"]
        if cpu not in self.last:
            return
        stack = self.cpus[cpu] or self.tasks[pid]
        if pid == 0 and not self.cpus[cpu]:
            return
        if stack:
            stack[-1].own += event["time"] - self.last[cpu]

    def resume(self, event):
        pid, cpu = event["pid"], event["cpu"]
        if self.running.get(cpu) == pid:
            return
        self.running[cpu] = pid
        if pid in self.off and self.tasks[pid]:
            since, state = self.off.pop(pid)
            ticks = self.last[cpu] - since
            if state in ("R", "R+"):
                self.tasks[pid][-1].preempted += ticks
            else:
                self.tasks[pid][-1].blocked += ticks
        self.off.pop(pid, None)

    def event(self, event):
        code, pid, cpu, time = event["code"], event["pid"], event["cpu"], event["time"]
        self.resume(event)
        self.charge(event)
        self.last[cpu] = time
        if code in BEGIN:
            kind = BEGIN[code]
            name, number = self.name(event, kind)
            self.rows[name].count += 1
            stack = self.tasks[pid] if kind == "call" else self.cpus[cpu]
            if kind == "call":
                stack.clear()
            stack.append(Call(name, time, (kind, number)))
        elif code in END:
            self.end(event, END[code])
        elif event["name"] == "switch":
            self.cpus[cpu].clear()
            self.off[pid] = (time, event["args"]["state"])
            if event["args"]["state"] in ("X", "Z"):
                self.tasks[pid].clear()

    def end(self, event, kind):
        stack = self.tasks[event["pid"]] if kind == "call" else self.cpus[event["cpu"]]
        if not stack:
            return
        if kind != "call":
            _, number = self.name(event, kind)
            assert stack[-1].key == (kind, number), (event, stack[-1].key)
        call = stack.pop()
        # An interrupt is not a sub-routine of the function it interrupts.
        finish(self.rows, call, event["time"], stack[-1] if stack and kind == "call" else None)


def recording(print_tool, path):
    machine = Machine()
    dump = subprocess.run([print_tool, "--dump", "--json", "--time", "cycles", path], check=True,
                          capture_output=True, text=True).stdout
    for line in dump.splitlines():
        machine.event(json.loads(line))
    return machine.rows


class Sleeper:
    """One task as `fkt_kd --tasks` sees it."""

    def __init__(self):
        self.times = collections.Counter()
        self.asleep_in = collections.defaultdict(lambda: [0, 0])
        self.woken_by = collections.defaultdict(lambda: [0, 0])
        self.waits = []
        self.doing = None
        self.since = self.waker = self.name = self.call = None

    def change(self, doing, time):
        if self.doing:
            self.times[self.doing] += time - self.since
        if self.doing in ("asleep", "disk"):
            entry = self.asleep_in[self.call or "no call"]
            entry[0] += 1
            entry[1] += time - self.since
        if doing == "running" and self.waker is not None:
            self.waits.append(time - self.since)
            self.woken_by[self.waker][1] += time - self.since
            self.waker = None
        self.doing, self.since = doing, time


def sleepers(print_tool, path):
    """Follows a recording without gaps and without numbers used twice."""
    dump = subprocess.run([print_tool, "--dump", "--json", "--time", "cycles", path], check=True,
                          capture_output=True, text=True).stdout
    tasks = collections.defaultdict(Sleeper)
    interrupts = collections.defaultdict(list)
    for event in map(json.loads, dump.splitlines()):
        code, pid, cpu, time, args = event["code"], event["pid"], event["cpu"], event["time"], event["args"]
        task = tasks[(pid, cpu) if pid == 0 else pid]
        task.name = f"{event['task']} ({pid})"
        if task.doing is None and pid:
            task.change("running", time)
        kind = BEGIN.get(code)
        if kind == "call":
            task.call = event["name"]
        elif kind:
            interrupts[cpu].append(Machine.name(event, kind)[0])
        elif END.get(code) == "call":
            task.call = None
        elif code in END:
            if interrupts[cpu]:
                interrupts[cpu].pop()
        elif event["name"] == "switch":
            interrupts[cpu].clear()
            if pid:
                state = args["state"]
                task.change({"R": "ready", "R+": "ready", "D": "disk", "X": "dead", "Z": "dead"}.get(state, "asleep"), time)
            if args["next"]:
                tasks[args["next"]].times["runs"] += 1
                tasks[args["next"]].change("running", time)
        elif event["name"] in ("waking", "wakeup_new"):
            woken = tasks[args["tid"]]
            if woken.doing in ("asleep", "disk", None):
                waker = interrupts[cpu][-1] if interrupts[cpu] else ("pid", pid, cpu if pid == 0 else 0)
                woken.woken_by[waker][0] += 1
                woken.change("ready", time)
                woken.waker = waker
    end = json.loads(subprocess.run([print_tool, "--stats", "--json", "--time", "cycles", path], check=True,
                                    capture_output=True, text=True).stdout)["recording"]["duration"]
    for task in tasks.values():
        task.waker = None
        task.change(None, end)
    return tasks


def compare_tasks(kd_tool, print_tool, path):
    tasks = sleepers(print_tool, path)
    out = subprocess.run([kd_tool, "--tasks", "--json", "--time", "cycles", path], check=True, capture_output=True,
                         text=True).stdout
    bad = rows = 0

    def check(what, want, have):
        nonlocal bad
        if want != have:
            print(f"{path}: {what} is {have}, not {want}")
            bad += 1

    for row in json.loads(out)["tasks"]:
        rows += 1
        task = tasks[row["pid"]]
        for key in ("running", "ready", "asleep", "disk", "runs"):
            check(f"{row['name']}: {key}", task.times[key], row[key])
        check(f"{row['name']}: wakeups", sum(entry[0] for entry in task.woken_by.values()), row["wakeups"])
        check(f"{row['name']}: longest wait", max(task.waits, default=0), row["wait_max"])
        check(f"{row['name']}: asleep in", {k: tuple(v) for k, v in task.asleep_in.items()},
              {part["name"]: (part["count"], part["time"]) for part in row["asleep_in"]})
        wakers = collections.Counter()
        for who, (count, _) in task.woken_by.items():
            name = who if isinstance(who, str) else tasks[who[1:] if who[1] == 0 else who[1]].name
            wakers[name] += count
        got = collections.Counter()
        for part in row["woken_by"]:
            got[part["name"]] += part["count"]
        check(f"{row['name']}: woken by", wakers, got)
        if task.waits:
            true = percentile(task.waits, 50)
            if abs(row["wait_p50"] - true) > true / 64 + 1:
                check(f"{row['name']}: wait_p50", true, row["wait_p50"])
    known = {pid for pid, task in tasks.items()
             if not isinstance(pid, tuple) and sum(v for k, v in task.times.items() if k in ("running", "ready", "asleep", "disk"))}
    check("rows", len(known), rows)
    return bad, rows


class Simulator:
    """One CPU, some tasks, interrupts; writes what KFT would, knows what was true."""

    FUNCTIONS = [f"do_{name}" for name in ("open", "read", "map", "link", "sync", "copy", "walk", "lock")]

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.clock = 1000
        self.rows = collections.defaultdict(Row)
        self.lines = []
        self.tasks = {pid: [] for pid in (7, 19, 230, 4711)}
        self.since = {}
        self.now = 7

    def spend(self, stack):
        ticks = self.random.randint(1, 40)
        self.clock += ticks
        if stack:
            stack[-1].own += ticks

    def enter(self, stack, name, pid):
        caller = stack[-1].name if stack else "entry"
        call = Call(name, self.clock)
        self.rows[name].count += 1
        call.line = len(self.lines)
        self.lines.append([self.clock, None, pid, name, f"{caller}+0x{self.random.randint(1, 255):x}"])
        stack.append(call)

    def leave(self, stack, nested=True):
        call = stack.pop()
        self.lines[call.line][1] = self.clock - call.begin
        finish(self.rows, call, self.clock, stack[-1] if stack and nested else None)

    def interrupt(self, stack):
        irq = []
        pid = self.now
        self.enter(irq, "handle_irq", pid)
        if stack:
            self.lines[-1][4] = f"{stack[-1].name}+0x3"
        self.spend(irq)
        for _ in range(self.random.randint(1, 3)):
            self.enter(irq, self.random.choice(("tick", "ack", "raise")), -1)
            self.spend(irq)
            self.leave(irq)
            self.spend(irq)
        self.leave(irq, nested=False)

    def switch(self, stack):
        self.enter(stack, "schedule", self.now)
        self.spend(stack)
        self.since[self.now] = self.clock
        self.now = self.random.choice([pid for pid in self.tasks if pid != self.now])
        stack = self.tasks[self.now]
        if stack:  # it returns from schedule
            stack[-1].blocked += self.clock - self.since[self.now]
            self.leave(stack)
        # Its next call begins at once: otherwise the log would not tell when it continued.
        self.enter(stack, self.random.choice(self.FUNCTIONS), self.now)
        self.spend(stack)

    def run(self, steps):
        self.enter(self.tasks[self.now], "do_first", self.now)
        for _ in range(steps):
            stack = self.tasks[self.now]
            self.spend(stack)
            choice = self.random.random()
            if choice < 0.4 and len(stack) < 9:
                self.enter(stack, self.random.choice(self.FUNCTIONS), self.now)
                self.spend(stack)
            elif choice < 0.85 and len(stack) > 1:
                self.leave(stack)
            elif choice < 0.93 and stack:
                self.interrupt(stack)
            elif len(stack) < 12:
                self.switch(stack)

    def log(self):
        # A function that begins at the same tick as its caller is listed after it.
        text = ["Kernel Instrumentation Run ID 1", "", " Entry Delta PID Function Called At", "----- ----- --- -------- ---------"]
        for entry, delta, pid, name, caller in self.lines:
            text.append(f"{entry:10} {delta if delta is not None else 'no exit':>10} {pid:7} {name:>27}   {caller}")
        return "\n".join(text) + "\n"


def kd(tool, path):
    # One tick in a log is 1 us.
    unit = "us" if path.endswith(".lst") else "cycles"
    out = subprocess.run([tool, "--json", "--time", unit, path], check=True, capture_output=True, text=True).stdout
    return {row["function"]: row for row in json.loads(out)["functions"]}


def percentile(values, percent):
    rank = max(1, -(-percent * len(values) // 100))
    return sorted(values)[rank - 1]


def compare(what, expected, got):
    bad = 0
    names = {name for name, row in expected.items() if row.count}
    if names != set(got):
        print(f"{what}: functions differ: {names ^ set(got)}")
        bad += 1
    for name in sorted(names & set(got)):
        want, have = expected[name].figures(), got[name]
        for key in KEYS:
            if want[key] != have[key]:
                print(f"{what}: {name}: {key} is {have[key]}, not {want[key]}")
                bad += 1
        subs = {sub["function"]: (sub["count"], sub["time"]) for sub in have["subs"]}
        truth = {sub: (count, expected[name].sub_times[sub]) for sub, count in expected[name].subs.items()}
        if subs != truth:
            print(f"{what}: {name}: sub-routines are {subs}, not {truth}")
            bad += 1
        for percent in (50, 90, 99) if expected[name].walls else ():
            true = percentile(expected[name].walls, percent)
            if abs(have[f"p{percent}"] - true) > true / 64 + 1:
                print(f"{what}: {name}: p{percent} is {have[f'p{percent}']}, not {true} within 1/64")
                bad += 1
    return bad, len(names)


def rank_test(old, new):
    """Mann and Whitney's test on the values themselves: (share that is slower, p)."""
    wins = sum((b > a) + (a == b) / 2 for a in old for b in new)
    n1, n2 = len(old), len(new)
    n = n1 + n2
    ties = sum(t ** 3 - t for t in collections.Counter(old + new).values())
    variance = n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1)))
    z = abs(wins - n1 * n2 / 2) / math.sqrt(variance)
    return wins / (n1 * n2), math.erfc(z / math.sqrt(2))


def compare_diff(print_tool, old, new, old_path, new_path):
    out = subprocess.run([print_tool, "--diff", old_path, "--json", "--time", "ns", new_path], check=True,
                         capture_output=True, text=True).stdout
    bad = 0
    changes = json.loads(out)["changes"]
    for row in changes:
        before, after = old[row["function"]].walls, new[row["function"]].walls
        want = dict(old_count=old[row["function"]].count, new_count=new[row["function"]].count,
                    old_time=sum(before) * 1000, new_time=sum(after) * 1000)
        if before and after:
            want["old_average"] = sum(before) * 1000 // len(before)
            want["new_average"] = sum(after) * 1000 // len(after)
            want["extra"] = round(sum(after) * 1000 - sum(before) * 1000 * len(after) / len(before))
        for key, value in want.items():
            if abs(row[key] - value) > (key == "extra"):
                print(f"{new_path}: {row['function']}: {key} is {row[key]}, not {value}")
                bad += 1
        if min(len(before), len(after)) >= 8:
            share, p = rank_test(before, after)
            # Values of one bucket count as equal, so the results are not exact.
            if abs(row["slower_share"] - share) > 0.01 or abs(row["p_value"] - p) > 0.05:
                print(f"{new_path}: {row['function']}: {row['slower_share']}, {row['p_value']}, not {share}, {p}")
                bad += 1
    return bad, len(changes)


def compare_pictures(kd_tool, rows, path):
    """Folded stacks and flame graph of a log, against the local times of its functions."""

    def run(*options):
        return subprocess.run([kd_tool, *options, path], check=True, capture_output=True, text=True).stdout

    bad = 0
    local = collections.Counter()
    tree = collections.Counter()
    for line in run("--folded", "--time", "us").splitlines():
        stack, ticks = line.rsplit(" ", 1)
        names = stack.split(";")
        local[names[-1]] += int(ticks)
        for depth in range(len(names)):
            tree[tuple(names[:depth + 1])] += int(ticks)
    truth = {name: row.local for name, row in rows.items() if row.local}
    if dict(local) != truth:
        print(f"{path}: folded stacks: {dict(local)}, not {truth}")
        bad += 1
    # Parents come first: a box's path is the path of the box below it plus its own name.
    total = sum(local.values())
    around = []
    drawn = collections.Counter()
    for box in xml.etree.ElementTree.fromstring(run("--flamegraph")).iter("{http://www.w3.org/2000/svg}g"):
        x, width, depth = (float(box.get(f"data-{key}")) for key in "xwd")
        around = around[:int(depth)]
        if around and not (around[-1][1] - 1e-8 <= x and x + width <= around[-1][2] + 1e-8):
            print(f"{path}: flame graph: {box.get('data-name')} is wider than what is below it")
            bad += 1
        around.append((box.get("data-name"), x, x + width))
        drawn[tuple(name for name, _, _ in around[1:])] += width * total
    for stack, ticks in tree.items():
        # Boxes narrower than a tenth of a pixel are omitted.
        if ticks / total * 1200 > 0.1 and abs(drawn[stack] - ticks) > 0.01:
            print(f"{path}: flame graph: {stack} has {drawn[stack]}, not {ticks}")
            bad += 1
    return bad, len(tree)


def compare_durations(print_tool, expected, path):
    """The percentiles of fkt_print's statistics, as JSON and as CSV."""
    def run(form):
        return subprocess.run([print_tool, "--stats", form, "--time", "cycles", path], check=True, capture_output=True,
                              text=True).stdout

    from_json = {row["name"]: row for row in json.loads(run("--json"))["durations"]}
    lines = [line for line in csv.reader(io.StringIO(run("--csv"))) if line]
    head = next(line for line in lines if line[0] == "table" and "p99" in line)
    from_csv = {line[1]: dict(zip(head, line)) for line in lines if line[0] == "durations"}
    whole = {name: row for name, row in expected.items() if row.walls}
    bad = 0
    if not set(whole) == set(from_json) == set(from_csv):
        print(f"{path}: durations of {set(from_json)} and {set(from_csv)}, not {set(whole)}")
        return 1, 0
    for name, row in whole.items():
        want = dict(count=len(row.walls), time=sum(row.walls), min=min(row.walls), max=max(row.walls),
                    p50=percentile(row.walls, 50), p90=percentile(row.walls, 90), p99=percentile(row.walls, 99))
        for key, true in want.items():
            near = true / 64 + 1 if key[0] == "p" else 0
            for have in (from_json[name][key], int(from_csv[name][key])):
                if abs(have - true) > near:
                    print(f"{path}: {name}: {key} is {have}, not {true}")
                    bad += 1
    return bad, len(whole)


def main():
    kd_tool, print_tool, folder = sys.argv[1:]
    bad = 0
    rows = collections.Counter()  # by the comparison

    def add(found, what):
        nonlocal bad
        bad += found[0]
        rows[what] += found[1]

    find = f"{folder}/find.fkt"
    add(compare("find.fkt", recording(print_tool, find), kd(kd_tool, find)), "functions of find.fkt")
    add(compare_durations(print_tool, recording(print_tool, find), find), "durations")
    add(compare_tasks(kd_tool, print_tool, find), "tasks")
    with tempfile.TemporaryDirectory() as scratch:
        before = None
        for seed in range(20):
            simulator = Simulator(seed)
            simulator.run(400)
            path = str(pathlib.Path(scratch) / f"{seed}.lst")
            pathlib.Path(path).write_text(simulator.log())
            add(compare(f"seed {seed}", simulator.rows, kd(kd_tool, path)), "functions of logs")
            add(compare_pictures(kd_tool, simulator.rows, path), "stacks")
            if before:
                add(compare_diff(print_tool, before[0], simulator.rows, before[1], path), "differences of logs")
            before = simulator.rows, path
    print(f"{sum(rows.values())} rows compared, {bad} differences: {dict(rows)}")
    few = [what for what in ("functions of find.fkt", "durations", "tasks") if rows[what] < 2]
    few += [what for what in ("functions of logs", "stacks", "differences of logs") if rows[what] < 100]
    if few:
        print(f"too few rows to compare: {few}")
    return 1 if bad or few else 0


if __name__ == "__main__":
    sys.exit(main())

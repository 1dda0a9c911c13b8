#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Computes the tables of fkt_print --calls, --sched and --summary and of fkt_kd --offcpu once more, from the printed
events, and compares every figure.

usage: views_independent.py FKT_PRINT FKT_KD RECORDING...

The recordings have no gaps, no thread with two numbers, no number used twice, and no functions.
"""
import collections
import csv
import io
import json
import subprocess
import sys

from kd_independent import BEGIN, END, Machine, percentile


def run(tool, *options):
    return subprocess.run([tool, *options], check=True, capture_output=True, text=True).stdout


def lines(tool, *options):
    return [json.loads(line) for line in run(tool, *options).splitlines()]


class Called:
    def __init__(self):
        self.took, self.begun, self.errors = [], 0, collections.Counter()


def calls(events):
    """By pid and name of the call."""
    rows, inside = collections.defaultdict(Called), {}
    for event in events:
        kind = BEGIN.get(event["code"])
        if kind == "call":
            inside[event["pid"]] = (event["name"], event["time"])
            rows[event["pid"], event["name"]].begun += 1
        elif END.get(event["code"]) == "call":
            name, begin = inside.pop(event["pid"], (None, 0))
            if name is None:
                continue
            row = rows[event["pid"], name]
            row.took.append(event["time"] - begin)
            error = event["args"].get("ret_name")
            if error:
                row.errors[error.lstrip("-")] += 1
    return rows


def runs(events, end):
    """In the order in which they end."""
    on, off, woken, interrupts, seen = {}, {}, {}, collections.defaultdict(list), []

    def name(event):
        return f"{event['task']} ({event['pid']})"

    def leave(cpu, time, left):
        if cpu in on and on[cpu]["pid"] != 0:
            run = on[cpu]
            begin = run.pop("from")
            seen.append({**run, "until": time, "ran": time - begin, "left": left})

    def come(cpu, pid, time, begun):
        waited = time - off.pop(pid) if pid in off else None
        at, waker = woken.pop(pid, (None, None))
        on[cpu] = {"pid": pid, "cpu": cpu, "from": time, "begun": begun, "waited": waited,
                   "delay": time - at if at is not None else None, "waker": waker}

    for event in events:
        code, pid, cpu, time, args = event["code"], event["pid"], event["cpu"], event["time"], event["args"]
        if cpu not in on:
            come(cpu, pid, time, False)
        if code in BEGIN and BEGIN[code] != "call":
            interrupts[cpu].append(Machine.name(event, BEGIN[code])[0])
        elif code in END and END[code] != "call" and interrupts[cpu]:
            interrupts[cpu].pop()
        elif event["name"] == "switch":
            interrupts[cpu].clear()
            leave(cpu, time, args["state"])
            if args["state"] not in ("X", "Z"):
                off[pid] = time
            come(cpu, args["next"], time, True)
        elif event["name"] in ("waking", "wakeup_new", "wakeup"):
            runs_now = any(run["pid"] == args["tid"] for run in on.values())
            if not runs_now and args["tid"] not in woken and not runnable(args["tid"], seen, off):
                woken[args["tid"]] = (time, interrupts[cpu][-1] if interrupts[cpu] else name(event))
    for cpu in sorted(on):
        if on[cpu]["from"] < end:
            leave(cpu, end, None)
    return seen


def runnable(pid, seen, off):
    """Whether it left its CPU runnable, so that nobody has to wake it."""
    last = next((run for run in reversed(seen) if run["pid"] == pid), None)
    return pid in off and last is not None and last["left"] in ("R", "R+")


def waits(events, end):
    """What tasks waited for: by task, call, what for and waker; and how long each task ran."""
    rows, ran = collections.defaultdict(list), collections.Counter()
    doing, inside, faulted, names, on = {}, {}, set(), {}, {}
    interrupts = collections.defaultdict(list)

    def change(pid, now, time, waker=None):
        what, since, call = doing.get(pid, (None, 0, None))
        if what == "running":
            ran[pid] += time - since
        elif what and time > since:
            rows[pid, call, what, waker].append(time - since)
        slept_in = inside.get(pid) or ("page fault" if pid in faulted and now != "cpu" else "no call")
        doing[pid] = (now, time, slept_in)

    for event in events:
        code, pid, cpu, time, args = event["code"], event["pid"], event["cpu"], event["time"], event["args"]
        names[pid] = event["task"]
        if on.get(cpu) != pid and pid:
            if cpu not in on:
                change(pid, "running", time)
            on[cpu] = pid
        kind = BEGIN.get(code) or END.get(code)
        if kind == "call":
            inside[pid] = event["name"] if code in BEGIN else None
            faulted.discard(pid)
        elif code in BEGIN:
            interrupts[cpu].append(Machine.name(event, kind)[0])
        elif code in END and interrupts[cpu]:
            interrupts[cpu].pop()
        elif event["name"] == "fault_user":
            faulted.add(pid)
        elif event["name"] == "switch":
            interrupts[cpu].clear()
            if pid:
                state = {"R": "cpu", "R+": "cpu", "D": "disk", "X": None, "Z": None}.get(args["state"], "asleep")
                change(pid, state, time)
            on[cpu] = args["next"]
            if args["next"]:
                change(args["next"], "running", time)
        elif event["name"] in ("waking", "wakeup_new", "wakeup") and doing.get(args["tid"], (None,))[0] in (None, "asleep", "disk"):
            # A task is called what it was called at last.
            waker = interrupts[cpu][-1] if interrupts[cpu] else pid or f"{event['task']} (0)"
            names.setdefault(args["tid"], "")
            change(args["tid"], "cpu", time, waker)
    for pid in list(doing):
        change(pid, None, end)
    named = collections.defaultdict(list)
    for (pid, call, what, waker), times in rows.items():
        waker = f"{names[waker]} ({waker})" if isinstance(waker, int) else waker
        named[f"{names[pid]} ({pid})", call, what, waker] += times
    return named, ran


def duration(tool, path):
    return json.loads(run(tool, "--stats", "--json", "--time", "cycles", path))["recording"]["duration"]


def compare_waits(tool, path, events, kd):
    want, _ = waits(events, duration(tool, path))
    rows = json.loads(run(kd, "--offcpu", "--json", "--time", "cycles", path))["off_cpu"]
    whole, wrong = sum(map(sum, want.values())), []
    for row in rows:
        times = want.pop((row["task"], row["in"], row["for"], row["woken_by"]), [0])
        true = {"time": sum(times), "count": len(times), "max": max(times), "average": (sum(times) + len(times) // 2) // len(times)}
        wrong += [(row, key, value) for key, value in true.items() if row[key] != value]
        if abs(row["percent"] - 100 * sum(times) / whole) > 0.01:
            wrong.append((row, "percent"))
    return wrong + [(key, "missing") for key in want], len(rows)


def compare_summary(tool, path, events):
    recording = json.loads(run(tool, "--stats", "--json", "--time", "cycles", path))["recording"]
    members = {recording["workload_pid"]}
    for event in events:
        if event["name"] == "fork" and event["pid"] in members:
            members.add(event["args"]["child"])
    off, ran = waits(events, recording["duration"])
    sums, slept, own = collections.Counter(), collections.Counter(), {f"({pid})" for pid in members}
    for (task, call, what, waker), times in off.items():
        if task.split()[-1] not in own:
            continue
        sums["ready"] += sum(times) if what == "cpu" else 0
        if what != "cpu" and waker and waker.split()[-1] in own:
            slept["asleep until another of its tasks woke it"] += sum(times)
        elif what != "cpu":
            name = "asleep" + (f" in {call}" if call != "no call" else "") + (f", woken by {waker}" if waker else "")
            slept[name] += sum(times)
    answer = json.loads(run(tool, "--summary", "--json", "--time", "cycles", "--top", "1000", path))
    have = {row["what"]: row["time"] for row in answer["where"]}
    running = sum(time for what, time in have.items() if what.startswith("running") or what == "interrupts")
    wrong = []
    for what, true, said in (("running", sum(ran[pid] for pid in members), running),
                             ("ready", sums["ready"], have.get("waiting for a CPU", 0)),
                             ("asleep", dict(slept), {k: v for k, v in have.items() if k.startswith("asleep")}),
                             ("all", answer["time"], sum(have.values())),
                             ("slowest", sorted((took for (pid, _), row in calls(events).items() if pid in members
                                                 for took in row.took), reverse=True)[:1000],
                              [call["time"] for call in answer["slowest"]])):
        if true != said:
            wrong.append((what, true, said))
    return wrong, len(have)


def compare_calls(tool, path, events):
    wrong, want = [], calls(events)
    rows = lines(tool, "--calls", "--json", "--time", "cycles", path)
    for row in rows:
        true = want.pop((row["pid"], row["call"]), Called())
        took = sorted(true.took)
        known = {"count": len(took), "cut": true.begun - len(took), "total": sum(took) if took else None,
                 "max": max(took, default=None), "average": (sum(took) + len(took) // 2) // len(took) if took else None}
        wrong += [(row, key) for key, value in known.items() if row[key] != value]
        if {error["name"]: error["count"] for error in row["errors"]} != true.errors:
            wrong.append((row, "errors"))
        for share in (50, 99):
            exact = percentile(took, share) if took else 0
            if abs((row[f"p{share}"] or 0) - exact) > exact / 64 + 1:
                wrong.append((row, f"p{share}"))
    wrong += [(key, "missing") for key in want]
    table = list(csv.DictReader(io.StringIO(run(tool, "--calls", "--csv", "--time", "cycles", path))))
    if [row["call"] for row in table] != [row["call"] for row in rows] or \
            [int(row["total"] or -1) for row in table] != [row["total"] if row["count"] else -1 for row in rows]:
        wrong.append(("--csv", "differs"))
    return wrong, len(rows)


def compare_runs(tool, path, events):
    want, have = runs(events, duration(tool, path)), lines(tool, "--sched", "--json", "--time", "cycles", path)
    wrong = [] if len(want) == len(have) else [("runs", len(want), len(have))]
    for true, row in zip(want, have):
        true["woken_by"] = true.pop("waker")
        wrong += [(true, row, key) for key, value in true.items() if row[key] != value]
    return wrong, len(have)


def main():
    tool, kd, bad = sys.argv[1], sys.argv[2], 0

    def compare_off_cpu(*arguments):
        return compare_waits(*arguments, kd)

    for path in sys.argv[3:]:
        events = lines(tool, "--dump", "--json", "--time", "cycles", path)
        for compare in (compare_calls, compare_runs, compare_off_cpu, compare_summary):
            wrong, count = compare(tool, path, events)
            for what in wrong[:5]:
                print(f"{path}: {compare.__name__}:", *what)
            print(f"{path}: {compare.__name__}: {count} rows, {len(wrong)} differences")
            bad += bool(wrong) + (count == 0)
    sys.exit(bad)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Computes the tables of fkt_print --calls and --sched once more, from the printed events, and compares every figure.

usage: views_independent.py FKT_PRINT RECORDING...

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
    end = json.loads(run(tool, "--stats", "--json", "--time", "cycles", path))["recording"]["duration"]
    want, have = runs(events, end), lines(tool, "--sched", "--json", "--time", "cycles", path)
    wrong = [] if len(want) == len(have) else [("runs", len(want), len(have))]
    for true, row in zip(want, have):
        true["woken_by"] = true.pop("waker")
        wrong += [(true, row, key) for key, value in true.items() if row[key] != value]
    return wrong, len(have)


def main():
    tool, bad = sys.argv[1], 0
    for path in sys.argv[2:]:
        events = lines(tool, "--dump", "--json", "--time", "cycles", path)
        for compare in (compare_calls, compare_runs):
            wrong, count = compare(tool, path, events)
            for what in wrong[:5]:
                print(f"{path}: {compare.__name__}:", *what)
            print(f"{path}: {compare.__name__}: {count} rows, {len(wrong)} differences")
            bad += bool(wrong) + (count == 0)
    sys.exit(bad)


if __name__ == "__main__":
    main()

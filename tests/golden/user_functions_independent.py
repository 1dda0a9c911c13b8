#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Computes the table of fkt_kd --functions once more, from the events that fkt_print --dump --json prints, and compares
every figure.

usage: user_functions_independent.py FKT_KD FKT_PRINT RECORDING...

The recordings have no gaps and no number that two threads had.
"""
import collections
import json
import subprocess
import sys

from kd_independent import BEGIN, END

USER_BEGIN, USER_END = (0x542, 0x543), 0x544
KEYS = ("count", "cut", "time", "own", "system", "waiting", "called", "interrupts", "syscalls")


class Thread:
    def __init__(self):
        self.functions = []  # open ones: [name, begin, sums]
        self.in_kernel = False
        self.off_since = None

    def add(self, key, ticks):
        if self.functions:
            self.functions[-1][2][key] += ticks


def computed(events):
    rows, threads = collections.defaultdict(collections.Counter), collections.defaultdict(Thread)
    last, current, interrupts = {}, {}, collections.Counter()
    for event in events:
        cpu, now, code = event["cpu"], event["time"], event["code"]
        thread = threads[event["pid"]]
        if cpu in last and interrupts[cpu] == 0 and current[cpu] != 0:
            running = threads[current[cpu]]
            running.add("system" if running.in_kernel else "own", now - last[cpu])
        last[cpu], current[cpu] = now, event["pid"]
        kind, ended = BEGIN.get(code), END.get(code)
        if kind == "call":
            thread.in_kernel = True
            thread.add("syscalls", 1)
        elif ended == "call":
            thread.in_kernel = False
        elif kind:
            interrupts[cpu] += 1
        elif ended:
            interrupts[cpu] = max(0, interrupts[cpu] - 1)
        elif 0x400 <= code <= 0x409:
            thread.off_since = now
            current[cpu] = event["args"]["next"]
            comes = threads[current[cpu]]
            if comes.off_since is not None:
                comes.add("waiting", now - comes.off_since)
            comes.off_since = None
        elif code in USER_BEGIN:
            rows[event["args"]["event_name"]]["count"] += 1
            thread.functions.append((event["args"]["event_name"], now, collections.Counter()))
        elif code == USER_END:
            name, begin, sums = thread.functions.pop()
            assert name == event["args"]["event_name"], event
            thread.add("called", now - begin)
            row = rows[name]
            row.update(sums)
            row["time"] += now - begin
            row["whole"] += 1
    for row in rows.values():
        row["cut"] = row["count"] - row["whole"]
        row["interrupts"] = row["time"] - sum(row[k] for k in ("own", "system", "waiting", "called"))
    return rows


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    kd, fkt_print, *recordings = sys.argv[1:]
    for recording in recordings:
        lines = run(fkt_print, "--dump", "--json", "--time", "cycles", recording).splitlines()
        expected = computed(map(json.loads, lines))
        table = json.loads(run(kd, "--functions", "--json", "--time", "cycles", recording))["user_functions"]
        assert {row["function"] for row in table} == set(expected), (table, expected)
        for row in table:
            for key in KEYS:
                assert row[key] == expected[row["function"]][key], (row["function"], key, row[key], expected[row["function"]])
        print(f"{recording}: {len(table)} functions, {len(lines)} events")


main()

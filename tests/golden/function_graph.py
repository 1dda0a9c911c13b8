#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares fkt_kd's table of functions with what ftrace's function_graph tracer says of them.

usage: function_graph.py FKT_KD GRAPH_TO_FKT TEXT

TEXT is what `trace-cmd report -R -t` printed of a recording with functions, switches and interrupts, cut
out of its middle. An exit says when its function began and ended, so every figure follows from stretches of
time that overlap or do not: there is no stack here, and no event is followed to the next one.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

from kd_independent import Row, compare, kd

OPENS = {"irq_handler_entry": "irq", "softirq_entry": "softirq", "local_timer_entry": "vector"}
CLOSES = {"irq_handler_exit": "irq", "softirq_exit": "softirq", "local_timer_exit": "vector"}
SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()
RUNNABLE = (0, 256)


class Stretch:
    """What was under way on a task or a CPU: a call, an interrupt, a task's absence."""

    def __init__(self, name, cpu, task, begin, end, kind="function"):
        self.name, self.cpu, self.task, self.begin, self.end, self.kind = name, cpu, task, begin, end, kind
        self.interrupt = kind != "function"  # in an interrupt its time is the CPU's

    def holds(self, other):
        return self.begin <= other.begin and other.end <= self.end and self is not other

    def wall(self):
        return self.end - self.begin


def lines(path):
    for line in open(path):
        who, cpu, time, event, *values = line.split()
        fields = dict(value.split("=", 1) for value in values if "=" in value)
        seconds, ns = time.rstrip(":").split(".")
        yield (int(who.rpartition("-")[2]), int(cpu.strip("[]")), int(seconds) * 10 ** 9 + int(ns),
               event.rstrip(":"), fields)


def interrupt_name(kind, fields):
    if kind == "irq":
        return f"irq {fields['irq']} {fields['name']}"
    return "softirq " + SOFTIRQS[int(fields["vec"])] if kind == "softirq" else "vector local_timer"


def read(path):
    calls, interrupts, away, entries = [], [], [], collections.Counter()
    first, open_interrupts, left = {}, collections.defaultdict(list), {}
    for pid, cpu, time, event, fields in lines(path):
        first.setdefault(cpu, time)
        task = pid or -1 - cpu  # each CPU has its own idle task
        if event == "funcgraph_entry":
            entries[fields["func"]] += 1
        elif event == "funcgraph_exit":
            calls.append(Stretch(fields["func"], cpu, task, int(fields["calltime"], 16), int(fields["rettime"], 16)))
        elif event in OPENS:
            open_interrupts[cpu].append((OPENS[event], interrupt_name(OPENS[event], fields), time))
            entries[open_interrupts[cpu][-1][1]] += 1
        elif event in CLOSES and open_interrupts[cpu]:
            kind, name, begin = open_interrupts[cpu].pop()
            assert kind == CLOSES[event], (kind, event)
            interrupts.append(Stretch(name, cpu, task, begin, time, kind))
        elif event == "sched_switch":
            left[task] = time, int(fields["prev_state"])
            back = int(fields["next_pid"]) or -1 - cpu
            if back in left:
                since, state = left.pop(back)
                kind = "preempted" if state in RUNNABLE else "blocked"
                away.append(Stretch(kind, cpu, back, since, time, kind))
    # Calls entered before the first line have no entry in the text.
    calls = [c for c in calls if c.begin >= min(first.values()) and entered(path, c)]
    return calls, interrupts, away, entries


def entered(path, call, seen={}):
    """Is the entry of `call` in the text? It was written down a little later than the call began."""
    if not seen:
        for pid, cpu, time, event, fields in lines(path):
            if event == "funcgraph_entry":
                seen.setdefault((fields["func"], pid or -1 - cpu), []).append(time)
    return any(call.begin <= time <= call.end for time in seen.get((call.name, call.task), ()))


def figures(calls, interrupts, away, entries):
    rows = collections.defaultdict(Row)
    for call in calls:
        call.interrupt = any(i.cpu == call.cpu and i.holds(call) for i in interrupts)
    everything = calls + interrupts
    for one in everything:
        def inside(other):
            if one.interrupt:
                return other.interrupt and other.cpu == one.cpu and one.holds(other)
            return not other.interrupt and other.task == one.task and one.holds(other)

        nested = [other for other in everything if inside(other)]
        direct = [other for other in nested if not any(x.holds(other) for x in nested)]
        gone = [] if one.interrupt else [a for a in away if a.task == one.task and one.holds(a)]
        if one.interrupt:
            taken = [i for i in interrupts if i.cpu == one.cpu and one.holds(i)]
        else:
            taken = [i for i in interrupts if i.task == one.task and one.holds(i)]
        one.taken = sum(i.wall() for i in taken if not any(x.holds(i) for x in taken))
        one.gone = {kind: sum(a.wall() for a in gone if a.kind == kind) for kind in ("blocked", "preempted")}
        one.cpu_time = one.wall() - one.taken - sum(one.gone.values())
        one.direct = direct
    for one in everything:
        subs = [d for d in one.direct if d.kind == "function"]
        row = rows[one.name]
        row.walls.append(one.wall())
        row.sub += sum(d.cpu_time for d in subs)
        row.local += one.cpu_time - sum(d.cpu_time for d in subs)
        row.blocked += one.gone["blocked"]
        row.preempted += one.gone["preempted"]
        for sub in subs:
            row.subs[sub.name] += 1
            row.sub_times[sub.name] += sub.wall()
    for name, count in entries.items():
        rows[name].count = count
    return rows


def main():
    kd_tool, graph_to_fkt, text = sys.argv[1:]
    rows = figures(*read(text))
    with tempfile.TemporaryDirectory() as scratch:
        recording = str(pathlib.Path(scratch) / "graph.fkt")
        subprocess.run([graph_to_fkt, text, recording], check=True)
        got = kd(kd_tool, recording)
    bad, names = compare("function_graph.txt", rows, got)
    for row in got.values():
        known = row["local"] + row["sub"] + row["blocked"] + row["preempted"] + row["interrupts"]
        bad += row["time"] != known or row["cpu"] != row["local"] + row["sub"]
        whole = row["count"] - row["cut"]
        bad += whole > 0 and abs(row["average"] - row["time"] / whole) > 1
    asleep = sum(row.blocked > 0 for row in rows.values())
    taken = sum(row.figures()["interrupts"] > 0 for row in rows.values())
    print(f"{names} rows compared, {asleep} with sleep, {taken} with interrupts, {bad} differences")
    return 1 if bad or names < 20 or asleep < 3 or taken < 3 else 0


if __name__ == "__main__":
    sys.exit(main())

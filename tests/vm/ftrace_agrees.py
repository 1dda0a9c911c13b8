#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds a recording against ftrace's trace of the same time, event by event.

ftrace_agrees.py RECORDER EVENTS TRACE...: EVENTS is what `fkt_print --dump --json --time cycles` prints, a TRACE
a CPU's per_cpu/cpuN/trace with the clock x86-tsc, RECORDER the process that recorded.

On each CPU both must have the same events of the same threads in the same order, from the recording's start to its
stop. Three things may differ, and are counted:
 - swaps: both tracers' probes at one place run one after the other. When an interrupt comes between, all of its
   events stand before that event for the one and behind it for the other. Only events that ftrace calls an
   interrupt's may be passed so.
 - edges: the event that is under way on a CPU in the moment of the start.
 - introductions: FKT says the names of threads that are born with one, and its own drain's.
Then the comparison is made again on data in which something was changed, which it must find each time.
"""
import json
import re
import sys
from collections import namedtuple

Event = namedtuple("Event", "time key in_interrupt introduction")
LOOK = 600  # events that an interrupt may have, at most
LINE = re.compile(r"\s*.{1,16}-(\d+)\s+\[(\d+)\]\s+(\S+)\s+(\d+): (\w+): ?(.*)$")


def comparable_state(state):
    """A thread that ends goes from Z to X when its parent on another CPU collects it: each tracer reads its own moment."""
    return "Z" if state == "X" else state


def u64(number):
    return number & (1 << 64) - 1


def fields(text):
    return dict(re.findall(r"(\w+)=(\S+)", text))


def text_after(name, text, last=False):
    """The value of a field whose text may have blanks: up to the next field."""
    found = re.search(name + (r"=(.*)$" if last else r"=(.*?)(?= \w+=|$)"), text)
    return found[1].strip() if found else ""


# ---- ftrace's lines ----

def sys_enter(text):
    return ("sys", u64(int(text.split()[1])))


def sys_exit(text):
    return ("sysret", int(text.rsplit("=", 1)[1]))


def switch(text):
    state = re.search(r"prev_state=(\S+) ", text)[1]
    return ("switch", comparable_state("R+" if state == "R+" else state[0]), int(re.search(r"next_pid=(\d+)", text)[1]))


def by_fields(name, *wanted):
    def parse(text):
        found = fields(text)
        return (name,) + tuple(int(found[field], 0) for field in wanted)
    return parse


def vector(name):
    return lambda text: (name, int(text.split("=")[1].split()[0]))


def softirq(name):
    return lambda text: (name, int(re.search(r"vec=(\d+)", text)[1]))


def irq_exit(text):
    return ("irq_exit", int(re.search(r"irq=(\d+)", text)[1]), "ret=handled" in text)


def rename(text):
    return ("rename", int(re.search(r"\bpid=(\d+)", text)[1]), text_after("newcomm", text))


def exec_(text):
    found = fields(text)
    return ("exec", int(found["old_pid"]), text_after("filename", text))


FTRACE = {
    "sys_enter": sys_enter,
    "sys_exit": sys_exit,
    "sched_switch": switch,
    "sched_waking": by_fields("waking", "pid"),
    "sched_wakeup": lambda text: ("wakeup", int(re.search(r"\bpid=(\d+)", text)[1]),
                                  int(re.search(r"target_cpu=(\d+)", text)[1])),
    "sched_wakeup_new": lambda text: ("wakeup_new", int(re.search(r"\bpid=(\d+)", text)[1]),
                                      int(re.search(r"target_cpu=(\d+)", text)[1])),
    "task_newtask": lambda text: ("fork", int(re.search(r"\bpid=(\d+)", text)[1])),
    "sched_process_exec": exec_,
    "sched_process_exit": lambda text: ("exit", int(re.search(r"\bpid=(\d+)", text)[1])),
    "sched_migrate_task": by_fields("migrate", "pid", "orig_cpu", "dest_cpu"),
    "task_rename": rename,
    "irq_handler_entry": lambda text: ("irq", int(re.search(r"irq=(\d+)", text)[1])),
    "irq_handler_exit": irq_exit,
    "softirq_raise": softirq("softirq_raise"),
    "softirq_entry": softirq("softirq"),
    "softirq_exit": softirq("softirq_exit"),
    "page_fault_user": lambda text: ("fault_user", int(fields(text)["error_code"], 0), fields(text)["address"]),
    "page_fault_kernel": lambda text: ("fault_kernel", int(fields(text)["error_code"], 0)),
}


def parse_trace_line(line):
    """An event, or None for a head line."""
    if line.startswith("#") or not line.strip():
        return None
    found = LINE.match(line)
    if not found:
        sys.exit("ftrace lost events, or this is not its text: " + line.strip())
    pid, _, flags, time, name, text = found.groups()
    parse = FTRACE.get(name)
    if not parse:
        parse = vector("vector" if name.endswith("_entry") else "vector_exit")
    return Event(int(time), parse(text) + (int(pid),), flags[2] != ".", False)


def read_trace(path):
    with open(path, errors="replace") as lines:
        return [event for event in map(parse_trace_line, lines) if event]


# ---- FKT's ----

# What ftrace has no tracepoint for, or FKT says of itself.
ONLY_FKT = {"clock", "mask", "trap", "machine_check", "nmi", "nmi_handler", "pid_free", "hung_task", "soft_lockup",
            "drain_wake", "pages_submitted", "pages_written", "pages_recycled", "pages_extra"}


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def key_of(name, args):
    if "nr" in args:
        return ("sys", u64(number(args["nr"])))
    if name == "sysret":
        return (name, args["ret"])
    if name == "switch":
        return (name, comparable_state(args["state"]), args["next"])
    if name in ("wakeup", "wakeup_new"):
        return (name, args["tid"], args["cpu"])
    if name == "migrate":
        return (name, args["tid"], args["from"], args["to"])
    if name == "rename":
        return (name, args["tid"], args["comm"])
    if name == "exec":
        return (name, args["old_tid"], args["path"])
    if name == "irq_exit":
        return (name, args["irq"], args["handled"] == 1)
    if name == "fault_user":
        return (name, number(args["error"]), "%#x" % number(args["address"]))
    if name == "fault_kernel":
        return (name, number(args["error"]))
    first = {"waking": "tid", "fork": "child", "exit": "tid", "irq": "irq", "vector": "vector",
             "vector_exit": "vector"}.get(name, "vec")
    return (name, args[first])


def read_recording(path):
    """Events per CPU."""
    cpus = {}
    with open(path) as lines:
        for line in lines:
            e = json.loads(line)
            if "lost" in e:
                sys.exit("the recording has a gap: " + line)
            if e["name"] in ONLY_FKT:
                continue
            events = cpus.setdefault(e["cpu"], [])
            key = key_of(e["name"], e["args"])
            introduction = key[0] == "rename" and (
                key[2] == "fkt_drain" or bool(events) and events[-1].key[:2] == ("fork", key[1]))
            events.append(Event(e["time"], key + (e["pid"],), False, introduction))
    return cpus


# ---- both ----

def offset_of(trace, recording):
    """ftrace's time less the recording's, by what happens once only."""
    def once(cpus):
        times = {}
        for events in cpus.values():
            for e in events:
                if e.key[0] in ("fork", "exec", "exit"):
                    times.setdefault(e.key, []).append(e.time)
        return {key: t[0] for key, t in times.items() if len(t) == 1}
    theirs, ours = once(trace), once(recording)
    both = sorted(theirs[key] - ours[key] for key in theirs.keys() & ours.keys())
    if len(both) < 10:
        sys.exit("only %d events that could show where the recording lies in the trace" % len(both))
    return both[len(both) // 2]


class Comparison:
    """Of one CPU: `a` is ftrace's, `b` FKT's. Events of `a` behind `stop` may be alone."""

    def __init__(self, a, b, stop):
        self.a, self.b, self.stop = a, b, stop
        self.passed_a, self.passed_b = set(), set()  # matched out of turn
        self.matched = self.swaps = self.edges = self.introductions = 0
        self.wrong = []

    @staticmethod
    def ahead(events, at, passed):
        """The events from there on that are not matched yet, and their places."""
        return [(k, events[k]) for k in range(at, min(at + LOOK, len(events))) if k not in passed]

    @staticmethod
    def passes(found, key, over, interrupt):
        """
        The place of the event `key` among those `found`, if all before it are what comes next on the other side,
        and an interrupt's.
        """
        for k in range(1, min(len(found), len(over) + 1)):
            if not interrupt[k - 1][1].in_interrupt:
                break
            if found[k][1].key == key and sorted(e.key for _, e in found[:k]) == sorted(e.key for _, e in over[:k]):
                return found[k][0]
        return None

    def swap(self, i, j):
        """Is one of these two the event that an interrupt came upon?"""
        ours, theirs = self.ahead(self.b, j, self.passed_b), self.ahead(self.a, i, self.passed_a)
        # a[i] stands behind an interrupt for FKT: which follows it for ftrace.
        at = self.passes(ours, self.a[i].key, theirs[1:], theirs[1:])
        if at is not None:
            self.passed_b.add(at)
            return i + 1, j
        # b[j] stands before an interrupt that ftrace has first.
        at = self.passes(theirs, self.b[j].key, ours[1:], theirs)
        if at is not None:
            self.passed_a.add(at)
            return i, j + 1
        return None

    def complain(self, what, event):
        self.wrong.append("%s at %d: %s" % (what, event.time, event.key))

    def differ(self, i, j):
        """Neither equal nor swapped: which of the two is one too many?"""
        a, b = self.a, self.b
        for k in range(1, 50):
            if [e.key for e in a[i + k:i + k + 3]] == [e.key for e in b[j:j + 3]]:
                for e in a[i:i + k]:
                    self.complain("missing", e)
                return i + k, j
            if [e.key for e in b[j + k:j + k + 3]] == [e.key for e in a[i:i + 3]]:
                for e in b[j:j + k]:
                    self.complain("too many", e)
                return i, j + k
        self.complain("missing", a[i])
        self.complain("too many", b[j])
        return i + 1, j + 1

    def step(self, i, j):
        a, b = self.a, self.b
        if i in self.passed_a:
            return i + 1, j
        if j in self.passed_b:
            return i, j + 1
        if a[i].key == b[j].key:
            self.matched += 1
            return i + 1, j + 1
        if b[j].introduction:
            self.introductions += 1
            return i, j + 1
        after = self.swap(i, j)
        if after:
            self.swaps += 1
            self.matched += 1
            return after
        if not self.matched and i + 1 < len(a) and a[i + 1].key == b[j].key:
            self.edges += 1
            return i + 1, j
        return self.differ(i, j)

    def run(self):
        i = j = 0
        while i < len(self.a) and j < len(self.b) and len(self.wrong) < 100:
            i, j = self.step(i, j)
        for e in (e for k, e in enumerate(self.b[j:], j) if k not in self.passed_b):
            self.complain("too many", e)
        for e in (e for k, e in enumerate(self.a[i:], i) if k not in self.passed_a and e.time <= self.stop):
            self.complain("missing", e)
        return self


def compare(trace, recording, recorder):
    """A comparison of each CPU."""
    offset = offset_of(trace, recording)
    start = min(events[0].time for events in recording.values())
    # The last of the recorder's calls: its stop.
    stop = max(e.time for events in recording.values() for e in events
               if e.key[0] == "sys" and e.key[-1] == recorder)
    result = []
    for cpu, events in sorted(recording.items()):
        theirs = [e._replace(time=e.time - offset) for e in trace[cpu]]
        first = next((i for i, e in enumerate(theirs) if e.time >= start), 0)
        # An event that began before the start may have been stamped by FKT behind it.
        if first and theirs[first - 1].key == events[0].key and theirs[first].key != events[0].key:
            first -= 1
        result.append(Comparison(theirs[first:], events, stop).run())
    return result


def total(result, what):
    return sum(getattr(c, what) for c in result)


# ---- does the comparison find what is wrong? ----

def changed(recording, cpu, change):
    doctored = {c: list(events) for c, events in recording.items()}
    change(doctored[cpu])
    return doctored


def swappable(events, at):
    """From `at` on, the first two neighbours that differ and are no interrupt's."""
    plain = ("sys", "sysret", "waking", "switch")
    while events[at].key == events[at + 1].key or events[at].key[0] not in plain or events[at + 1].key[0] not in plain:
        at += 1
    return at


def doctored(recording, cpu):
    """Recordings in each of which one thing is not as it was."""
    n = len(recording[cpu])

    def other_thread(events):
        e = events[n // 2]
        events[n // 2] = e._replace(key=e.key[:-1] + (e.key[-1] + 1,))

    def other_order(events):
        at = swappable(events, n // 3)
        events[at], events[at + 1] = events[at + 1], events[at]

    for at in (n // 4, n // 2, n - n // 4):
        yield "an event gone", changed(recording, cpu, lambda events, at=at: events.pop(at))
        yield "an event twice", changed(recording, cpu, lambda events, at=at: events.insert(at, events[at]))
    yield "another thread", changed(recording, cpu, other_thread)
    yield "another order", changed(recording, cpu, other_order)


def main():
    recorder, recording = int(sys.argv[1]), read_recording(sys.argv[2])
    trace = {int(re.search(r"(\d+)$", path)[1]): read_trace(path) for path in sys.argv[3:]}
    result = compare(trace, recording, recorder)
    kinds = {e.key[0] for events in recording.values() for e in events}
    print("%d events of %d kinds on %d CPUs matched, %d swaps, %d edges, %d introductions" % (
        total(result, "matched"), len(kinds), len(result), total(result, "swaps"), total(result, "edges"),
        total(result, "introductions")))
    wrong = [line for c in result for line in c.wrong]
    if wrong:
        sys.exit("%d differences:\n" % len(wrong) + "\n".join(wrong[:40]))
    found = 0
    for cpu in recording:
        for what, data in doctored(recording, cpu):
            if not any(c.wrong for c in compare(trace, data, recorder)):
                sys.exit("%s on CPU %d is not found" % (what, cpu))
            found += 1
    print("%d changes of the recording found" % found)


main()

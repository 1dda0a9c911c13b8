# SPDX-License-Identifier: GPL-2.0-only
"""What a hit of an instrument costs, and what the whole kernel's functions do."""
from .common import rows_of, table

# name in the figures: (title, goal)
HITS = {
    "call": ("**a call recorded** with its duration", 70),
    "call-values": ("... with two arguments and its result", 110),
    "call-dropped": ("dropped in the kernel, by its duration", 30),
    "call-dropped-beside": ("..., while all calls of another function end the recording", 30),
    "call-dropped-cputime": ("dropped, by its time on the CPU", 90),
    "call-dropped-caller": ("dropped, because another function has not called it", 90),
    "call-dropped-caller-short": ("..., and by its duration", 90),
    "call-dropped-depth": ("dropped, by its depth, whatever its duration is", None),
    "call-dropped-kept": ("dropped, and held, because its caller may be recorded (of two calls, one in the other)", 90),
    "call-dropped-share": ("..., and too short for such a share of a recorded one's time", 90),
    "call-counted": ("counted in the kernel, no event", 60),
    "entry": ("an entry recorded", None),
    "entry-counted": ("an entry counted", None),
    "exit-probe": ("an exit recorded, by a return probe", None),
    "tracepoint": ("a tracepoint with three of its arguments", 110),
    "tracepoint-dropped": ("..., dropped by a condition", None),
    "tracepoint-fields": ("..., with three fields of the kernel's own record, which is made first", None),
    "instruction": ("an instruction recorded, by breakpoint", 560),
    "instruction-optimised": ("..., by jump", 150),
    "block-counted-by-kprobe": ("a block counted in the kernel, by kprobe", None),
    "block-counted-spliced": ("..., by splice", 15),
    "block-by-kprobe": ("a block recorded, by kprobe", None),
    "block-spliced": ("..., by splice", 65),
    "block-values-by-kprobe": ("a block recorded with two registers, by kprobe", None),
    "block-values-spliced": ("..., by splice", None),
    "probe": ("a probe of another module's (FKT_PROBE2) recorded", None),
    "probe-off": ("..., off", 2),
    "function_graph": ("ftrace: function_graph", None),
    "function_graph-dropped": ("ftrace: function_graph, dropped by tracing_thresh", None),
    "kprobe+kretprobe": ("ftrace: events of a kprobe and a kretprobe", None),
    "bpftrace-fentry": ("bpftrace: fentry and fexit, counts in maps", None),
}
# Of a function of a user program: name in the figures: title
USERS = {
    "user-entry": "**an entry recorded**",
    "user-entry-counted": "an entry counted in the kernel, no event",
    "user-exit": "**an exit recorded**",
    "user-call": "**a call recorded** with its duration",
    "uprobe": "ftrace: event of a uprobe",
    "uretprobe": "ftrace: event of a uretprobe",
    "uprobe+uretprobe": "ftrace: events of both",
    "perf-uprobe": "perf record: event of a uprobe",
    "perf-uprobe+uretprobe": "perf record: events of both",
    "bpftrace-uprobe": "bpftrace: a uprobe, count in a map",
    "bpftrace-uprobe+uretprobe": "bpftrace: both, counts in maps",
}
# workload, how: (title, goal)
WHOLE = {
    ("find", "slow"): ("find, calls of 500 us and more", 1.45),
    ("spawn", "slow"): ("fork + exec, calls of 500 us and more", 1.55),
    ("find", "all"): ("find, every call", 2.6),
    ("spawn", "all"): ("fork + exec, every call", 3.0),
    ("boot", "slow"): ("a machine's start from an initramfs, calls of 500 us and more", 1.5),
    ("tar", "ext4"): ("tar of 10,000 files, calls of `ext4_*` of 100 us and more", 1.03),
}


class Instruments:
    """Figures of one guest."""

    def __init__(self, directory):
        self.figures = {name: float(value) for name, value in rows_of(directory / "figures.tsv")}

    def ratio(self, workload, how):
        """Traced over untraced; None if either is missing."""
        traced, untraced = (self.figures.get(f"{workload}.{each}") for each in (how, "untraced"))
        return traced / untraced if traced and untraced else None

    def arming(self):
        """(functions, seconds of both requests); None if that was not measured."""
        found = [self.figures.get(name) for name in ("functions", "arm", "disarm")]
        return (int(found[0]), (found[1] + found[2]) / 1e9) if all(found) else None


def instruments_tables(directory, release):
    guest = Instruments(directory)
    if not guest.figures:
        return [], {}
    rows = [[title, f"{guest.figures[name]:.0f}"] for name, (title, _) in HITS.items() if name in guest.figures]
    tables = []
    if rows:
        tables.append(table(f"Linux {release}: guest instructions per hit", ["", "above the untraced loop"], rows))
    rows = [[title, f"{guest.figures[name]:.0f}"] for name, title in USERS.items() if name in guest.figures]
    if rows:
        tables.append(table(f"Linux {release}: guest instructions per hit in a user program", ["", "above the untraced loop"], rows))
    rows = [[title, f"{guest.ratio(*key):.2f}"] for key, (title, _) in WHOLE.items() if guest.ratio(*key)]
    if guest.arming():
        rows.append(["arming and disarming {:,} functions".format(guest.arming()[0]), f"{guest.arming()[1]:.2f} s"])
    if rows:
        tables.append(table(f"Linux {release}: many functions traced at once", ["", "times untraced"], rows))
    return tables, {}

# SPDX-License-Identifier: GPL-2.0-only
"""What an event costs, in instructions and in bytes; and what one takes natively."""
import functools
import json
import re
import statistics
import struct
import subprocess

from .common import CHECKOUT, EVENTS_PER_CALL, TITLES, lines_of, plain, rows_of, table
from .picture import bars

FILE_HEADER = struct.Struct("<8sIIQQQII")  # struct fkt_file_header
RECORDERS = [t for t in TITLES if t not in ("none", "idle", "probes", "bpftrace", "bpftrace-print")]


class Guest:
    """What one kernel's guest measured."""

    def __init__(self, directory, release):
        self.release = release
        self.directory = directory
        self.rows = [(tracer, what, int(calls), float(value))
                     for tracer, what, calls, value in rows_of(directory / "figures.tsv")]

    def failure(self, tracer):
        path = self.directory / f"{tracer}.failed"
        return path.read_text().strip() if path.exists() else None

    def values(self, tracer, what, calls=None):
        return [v for t, w, c, v in self.rows if (t, w) == (tracer, what) and calls in (None, c)]

    def calls(self, tracer):
        return sorted({c for t, w, c, _ in self.rows if (t, w) == (tracer, "busy")})

    def per_call(self, tracer, pick):
        """Everything per further call: what the longer recording took beyond the shorter one.
        Now and then the guest does something of its own meanwhile, so it is picked (minimum,
        median) before it is subtracted: pairs would spread twice as much."""
        small, large = self.calls(tracer)
        took = pick(self.values(tracer, "busy", large)) - pick(self.values(tracer, "busy", small))
        return took / (large - small)

    def measured(self, tracer):
        return len(self.calls(tracer)) == 2 and not self.failure(tracer)


class Recording:
    """One recording's size and what its own tool finds in it. Some readers take minutes: what they
    found stays beside the recording."""

    def __init__(self, directory, tracer, calls):
        self.calls = calls
        self.place = directory / f"{tracer}.{calls}"
        self.files = [p for p in self.place.rglob("*") if p.is_file()]
        self.bytes = sum(p.stat().st_size for p in self.files)
        self.events = self.getppid = self.page_area = 0
        found = directory / f"{self.place.name}.found"
        if found.exists() and found.stat().st_mtime > self.place.stat().st_mtime:
            self.events, self.getppid, self.page_area = (int(n) for n in found.read_text().split())
            return
        COUNT[tracer if tracer in COUNT else tracer.removesuffix("-a").removesuffix("-plain")](self)
        found.write_text(f"{self.events} {self.getppid} {self.page_area}\n")

    @functools.cached_property
    def zstd_bytes(self):
        return sum(zstd_bytes(p) for p in self.files)

    def lost(self):
        """getppid events that happened and are not in the recording."""
        return EVENTS_PER_CALL * self.calls - self.getppid


@functools.cache
def recording(directory, tracer, calls):
    """Read once, however many tables want it."""
    return Recording(directory, tracer, calls)


def zstd_bytes(path):
    with subprocess.Popen(["zstd", "-q", "-3", "-c", path], stdout=subprocess.PIPE) as p:
        return sum(len(part) for part in iter(lambda: p.stdout.read(1 << 20), b""))


def count_fkt(recording):
    """Returns are one line for all calls, so what the entries say is taken for the exits too."""
    path = recording.place / "trace_file"
    counts = {}
    for line in lines_of(CHECKOUT / "build/bin/fkt_print", "--counts", path):
        count, _, name = line.rstrip("\n").split("\t")
        counts[name] = int(count)
    recording.events = sum(counts.values())
    entries = sum(n for name, n in counts.items() if name.startswith("sys") and name != "sysret")
    missing_exits = max(0, entries - counts.get("sysret", 0) - EXITS_NEVER_SEEN)
    recording.getppid = EVENTS_PER_CALL * counts.get("sys_getppid", 0) - missing_exits
    with open(path, "rb") as file:
        header = FILE_HEADER.unpack(file.read(FILE_HEADER.size))
    recording.page_area = header[5] - header[4]


# Calls of a recording that may lack their exit: exit_group, the recorder's own last one, and those
# in which other tasks wait when it ends.
EXITS_NEVER_SEEN = 20


def count_lines(recording, command, getppid, event=r"(sys_(enter|exit)|syscall_(entry|exit)_\w+):"):
    for line in lines_of(*command):
        if re.search(event, line):
            recording.events += 1
            recording.getppid += bool(re.search(getppid, line))


def count_trace_cmd(recording):
    count_lines(recording, ["trace-cmd", "report", "-i", recording.place / "trace.dat"], r" NR 110 ")


def count_perf(recording):
    count_lines(recording, ["perf", "script", "-f", "-i", recording.place / "perf.data", "-F", "event,trace"],
                r" NR 110 ")


def count_lttng(recording):
    count_lines(recording, ["babeltrace2", recording.place / "lttng"], r"syscall_(entry|exit)_getppid:")


def count_sysdig(recording):
    """Its own reader names the calls; it knows no getppid by that name in every version, so the number counts."""
    for line in lines_of("sysdig", "-r", recording.place / "trace.scap", "-p", "%evt.type %evt.args"):
        recording.events += 1
        recording.getppid += line.startswith("getppid") or bool(re.search(r"ID=110\(getppid\)|nativeID=110", line))


def count_bpftrace(recording):
    """What the map says: kept are counts, not events."""
    for kind, number, count in re.findall(r"@(enter|exit)\[(-?\d+)\]: (\d+)", text_of(recording.place / "map")):
        recording.events += int(count)
        recording.getppid += int(count) if number == "110" else 0


def count_bpftrace_print(recording):
    count_lines(recording, ["cat", recording.place / "events.txt"], r" [EX] 110\b", r" [EX] -?\d")


def text_of(path):
    return path.read_text(errors="replace") if path.exists() else ""


COUNT = {"fkt": count_fkt, "fkt-no-pairs": count_fkt, "trace-cmd": count_trace_cmd, "perf": count_perf,
         "lttng": count_lttng, "sysdig": count_sysdig, "bpftrace": count_bpftrace, "bpftrace-print": count_bpftrace_print}


def lost_of(recording):
    return f"{recording.lost():,} of {EVENTS_PER_CALL * recording.calls:,}"


def cost_table(guest, recordings):
    def loop(tracer, pick):
        return pick(guest.values(tracer, "loop", guest.calls(tracer)[-1]))

    def per_event(figure, tracer):
        low, middle = ((figure(tracer, pick) - figure("none", pick)) / EVENTS_PER_CALL
                       for pick in (min, statistics.median))
        return f"{low:.1f} / {middle:.1f}"

    rows = []
    for tracer in TITLES:
        if tracer in ("none", "idle") or not guest.measured(tracer):
            continue
        large = guest.calls(tracer)[-1]
        recording = recordings.get(tracer, {}).get(large)
        lost = lost_of(recording) if recording else ""
        rows.append([TITLES[tracer], per_event(loop, tracer), per_event(guest.per_call, tracer), lost])
    return table(f"Linux {guest.release}: guest instructions per system-call event (minimum / median)",
                 ["", "while the loop runs", "until all is on disk", "getppid events lost"], rows)


def idle_table(guests):
    rows = []
    for guest in guests:
        exact = {t: guest.values(t, "exact") for t in ("none", "idle")}
        if not all(exact.values()):
            continue
        difference = min(exact["idle"]) - min(exact["none"])
        rows.append([guest.release, f"{min(exact['none']):.3f}", f"{min(exact['idle']):.3f}", f"{difference:.3f}"])
    return table("Guest instructions per call of the untraced loop (minimum of 100 loops of 1000 calls)",
                 ["", "without fkt.ko", "loaded, not recording", "difference"], rows)


def size_row(tracer, small, large):
    events = large.events - small.events
    per_event = (large.bytes - small.bytes) / events
    packed = (large.zstd_bytes - small.zstd_bytes) / events
    fixed = large.bytes - per_event * large.events
    if tracer.startswith("fkt"):
        per_event = large.page_area / large.events
        fixed = large.bytes - large.page_area
    return [TITLES[tracer], f"{per_event:.3f}", f"{packed:.2f}", f"{fixed / 1000:,.0f} kB", f"{large.events:,}",
            lost_of(large)]


def size_table(guest, recordings):
    rows = [size_row(t, *(recordings[t][c] for c in guest.calls(t))) for t in recordings if len(recordings[t]) == 2]
    if not rows:
        return ""
    return table(f"Linux {guest.release}, 2 CPUs: bytes per event on disk",
                 ["", "as written", "after zstd -3", "fixed part", "events counted", "getppid events lost"], rows)


def ring_table(path):
    """(table, picture)"""
    times = {}
    for run in json.loads(path.read_text())["benchmarks"]:
        if run.get("run_type") == "iteration":
            times.setdefault(run["run_name"], []).append(run["cpu_time"])
    clock = statistics.median(times["rdtsc"])
    rows = [[name.replace("_", " "), f"{min(v):.2f} / {statistics.median(v):.2f}",
             f"{statistics.median(v) / clock:.2f}", str(len(v))] for name, v in times.items()]
    text = table("ring.h natively: nanoseconds of CPU time (minimum / median)",
                 ["", "ns", "of the bare clock", "repeats"], rows)
    return text, bars("ring.h natively", "nanoseconds of CPU time, median", ["median"],
                      [(name.replace("_", " "), [statistics.median(v)]) for name, v in times.items()], goal=1.4 * clock)


def cost_picture(guest):
    def figures(tracer):
        loop = min(guest.values(tracer, "loop", guest.calls(tracer)[-1])) - min(guest.values("none", "loop", guest.calls("none")[-1]))
        return [loop / EVENTS_PER_CALL, (guest.per_call(tracer, min) - guest.per_call("none", min)) / EVENTS_PER_CALL]

    groups = [(plain(t), figures(t)) for t in TITLES if t not in ("none", "idle") and guest.measured(t)]
    return bars(f"Linux {guest.release}: what a system-call event costs", "guest instructions per event",
                ["while the loop runs", "until all is on disk"], groups, log=True)


def size_picture(guest, recordings):
    rows = [size_row(t, *(recordings[t][c] for c in guest.calls(t))) for t in recordings if len(recordings[t]) == 2]
    groups = [(title.replace("**", "").replace("`", ""), [float(written), float(packed)]) for title, written, packed, *_ in rows]
    return bars(f"Linux {guest.release}: bytes per event on disk", "bytes per event", ["as written", "after zstd -3"], groups, log=True)


def recordings_of(guest):
    found = {}
    for tracer in RECORDERS:
        if guest.measured(tracer):
            found[tracer] = {calls: recording(guest.directory, tracer, calls) for calls in guest.calls(tracer)
                             if (guest.directory / f"{tracer}.{calls}").is_dir()}
    return found

# SPDX-License-Identifier: GPL-2.0-only
"""What real work becomes under each tracer, and the drain's share of it."""
import statistics

from .common import TITLES, plain, rows_of, table
from .picture import bars

WORKLOADS = {"find": "find", "tar": "tar", "spawn": "fork + exec", "fio": "fio", "compile": "gcc"}


class Work:
    """Figures of one guest."""

    def __init__(self, directory):
        self.directory = directory
        self.rows = [(t, w, what, float(wall), int(awake), int(drain))
                     for t, w, what, wall, awake, drain in rows_of(directory / "figures.tsv")]

    def values(self, tracer, workload, what, column):
        return [row[column] for row in self.rows if row[:3] == (tracer, workload, what)]

    def ratio(self, tracer, workload, column):
        """Traced over untraced, both from the same stretch of time; None if either is missing."""
        traced, untraced = (self.values(tracer, workload, what, column) for what in ("traced", "untraced"))
        return statistics.median(traced) / statistics.median(untraced) if traced and untraced else None

    def tracers(self):
        return [t for t in TITLES if any(row[0] == t for row in self.rows)]

    def failure(self, tracer, workload):
        path = self.directory / f"{tracer}.{workload}.failed"
        return path.read_text().strip() if path.exists() else None


WALL, AWAKE, DRAIN = 3, 4, 5


def ratio_table(work, title, column):
    def cell(tracer, workload):
        value = work.ratio(tracer, workload, column)
        return f"{value:.3f}" if value else "failed" if work.failure(tracer, workload) else ""

    rows = [[TITLES[t]] + [cell(t, w) for w in WORKLOADS] for t in work.tracers()]
    return table(title, [""] + list(WORKLOADS.values()), rows)


def drain_shares(work):
    """By workload: (by the recorder's last line, by the thread's schedstat, over the time awake)."""
    said = {w: [float(p) for v, p in rows_of(work.directory / "drain.tsv") if v == w and p] for w in WORKLOADS}
    shares = {}
    for workload in WORKLOADS:
        drain, awake = (work.values("fkt", workload, "traced", column) for column in (DRAIN, AWAKE))
        if drain and said[workload]:
            seen = 100 * statistics.median(drain) / statistics.median(awake)
            shares[workload] = (statistics.median(said[workload]), seen)
    return shares


def drain_table(guests):
    rows = []
    for name, work in guests:
        for workload, (said, seen) in drain_shares(work).items():
            rows.append([f"{WORKLOADS[workload]}, {name}", f"{said:.1f} %", f"{seen:.2f} %"])
    return table("The drain's share of CPU time", ["", "by `fkt_record`'s last line", "by the thread's schedstat, of the time awake"], rows) if rows else ""


def workloads_tables(directory, release):
    """directory: the kernel's; below it are the boot with --icount and the one without."""
    counted, timed = Work(directory / "workloads"), Work(directory / "workloads-wall")
    tables, pictures = [], {}
    if counted.rows:
        title = f"Linux {release}: guest instructions of the traced workload over those of the untraced one"
        tables.append(ratio_table(counted, title, AWAKE) + "\n![workloads](benchmarks/workloads.svg)\n")
        pictures["workloads"] = picture(counted, "What a workload becomes", "guest instructions over those of the untraced workload", AWAKE)
    if timed.rows:
        title = f"Linux {release}, 2 CPUs: time on the wall over that of the untraced workload, median"
        tables.append(ratio_table(timed, title, WALL) + "\n![workloads-wall](benchmarks/workloads-wall.svg)\n")
        pictures["workloads-wall"] = picture(timed, "What a workload becomes, by the clock on the wall",
                                             "time over that of the untraced workload", WALL)
    tables.append(drain_table([(name, work) for name, work in (("1 CPU, instructions", counted), ("2 CPUs", timed)) if work.rows]))
    return [t for t in tables if t], pictures


def picture(work, title, unit, column):
    tracers = work.tracers()
    names = [plain(t).split(",")[0].split(" ")[0] + (" (prints)" if t == "bpftrace-print" else "") for t in tracers]
    groups = [(label, [work.ratio(t, w, column) for t in tracers]) for w, label in WORKLOADS.items()]
    return bars(title, unit, names, groups)

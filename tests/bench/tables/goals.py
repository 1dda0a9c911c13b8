# SPDX-License-Identifier: GPL-2.0-only
"""What was to be reached, beside what was measured: rows of (goal, measured, verdict)."""
import json
import re
import statistics

from .common import EVENTS_PER_CALL, table
from .cost import Guest, recording
from .engines import BEFORE, Pages
from .instruments import HITS, WHOLE, Instruments
from .loss import Race
from .workloads import WORKLOADS, Work, drain_shares


def verdict(value, limit):
    return "reached" if value <= limit else f"missed by {value - limit:,.4g}"


def page_goals(place):
    pages = Pages(place / "engines")
    for kind, name in (("ext4", "fallocated ext4"), ("block", "block device")):
        value = pages.per_page(kind, "direct", "stored") if pages.rows else None
        if value is not None:
            yield [f"direct, {name}: at most 2,500 instructions a page", f"{value:,.0f}", verdict(value, 2500)]
    checkin = pages.per_page("ext4", BEFORE["checkin"], "ended") if pages.rows else None
    write = pages.per_page("ext4", "write-64k", "ended") if pages.rows else None
    if checkin and write:
        yield ["checkin on ext4 before write-back: no dearer than a buffered write of 64 KiB",
               f"{checkin:,.0f}; the write {write:,.0f}: {100 * checkin / write:.0f} %", verdict(checkin, write)]


def recycling_goal(place):
    """Of 6.12, where frames come back."""
    pages = Pages(place / "engines")
    checkin = pages.before_write_back("ext4", "checkin") if pages.rows else None
    if checkin is not None:
        write = pages.per_page("ext4", "write-64k", "ended")
        yield ["6.12: checkin whose frames come back, less write-back: at most 70 % of a buffered write of 64 KiB",
               f"{checkin:,.0f}; the write {write:,.0f}: {100 * checkin / write:.0f} %", verdict(checkin, 0.7 * write)]


def race_goals(place):
    race = Race(place / "loss")
    if race.whole("fkt"):
        found = race.recording("fkt")
        if found:
            yield ["two CPUs in a loop: no event lost", f"{found.lost():,} of {EVENTS_PER_CALL * found.calls:,}",
                   "reached" if found.lost() <= 0 else "missed"]
    if race.whole("fkt") and race.whole("lttng-a"):
        fkt, lttng = (statistics.median(race.speeds(t)) for t in ("fkt", "lttng-a"))
        yield ["... and at least twice the speed that LTTng leaves the loops", f"{fkt / lttng:.2f} times ({fkt:.3f} and {lttng:.3f} of the untraced)",
               "reached" if fkt >= 2 * lttng else "missed"]


def drain_goals(place):
    for name, question in (("1 CPU, instructions", "workloads"), ("2 CPUs", "workloads-wall")):
        shares = drain_shares(Work(place / question))
        for workload in ("tar", "find"):
            if workload in shares:
                value = shares[workload][1]
                yield [f"the drain's share during {WORKLOADS[workload]} ({name}): under 1 %", f"{value:.2f} %", verdict(value, 1)]


def cost_goal(place, limit=85, of=""):
    guest = Guest(place / "cost", "")
    if guest.rows and guest.measured("fkt") and guest.measured("none"):
        large = guest.calls("fkt")[-1]
        untraced = min(guest.values("none", "loop", guest.calls("none")[-1]))
        value = (min(guest.values("fkt", "loop", large)) - untraced) / EVENTS_PER_CALL
        yield [f"{of}pairs: at most {limit} instructions an event, while the loop runs", f"{value:.1f}", verdict(value, limit)]


def newest_cost_goal(place):
    return cost_goal(place, 90, "7.3: ")


def size_goal(place):
    sizes = Guest(place / "sizes", "")
    if sizes.rows and sizes.measured("fkt"):
        found = recording(sizes.directory, "fkt", sizes.calls("fkt")[-1])
        value = found.page_area / found.events
        yield ["pairs: at most 4.1 bytes an event", f"{value:.3f}", verdict(value, 4.1)]


def ring_goal(native):
    path, times = native / "ring.json", {}
    if not path.exists():
        return
    for run in json.loads(path.read_text())["benchmarks"]:
        if run.get("run_type") == "iteration":
            times.setdefault(run["run_name"], []).append(run["cpu_time"])
    value = statistics.median(times["record_16_bytes"]) / statistics.median(times["rdtsc"])
    yield ["ring.h natively, a 16-byte record: at most 1.4 times the bare clock", f"{value:.2f}", verdict(value, 1.4)]


def instrument_goals(place):
    guest = Instruments(place / "instruments")
    for name, (title, limit) in HITS.items():
        if limit and name in guest.figures:
            yield [f"instruments: {title.strip('*. ').replace('**', '')}: at most {limit} instructions", f"{guest.figures[name]:.0f}",
                   verdict(guest.figures[name], limit)]
    for key, (title, limit) in WHOLE.items():
        value = guest.ratio(*key)
        if value:
            yield [f"the whole kernel traced: {title}: at most {limit} times untraced", f"{value:.2f}", verdict(value, limit)]
    if guest.arming():
        functions, seconds = guest.arming()
        yield [f"arming and disarming {functions:,} functions: at most 1 s", f"{seconds:.2f} s", verdict(seconds, 1)]


def newest_call_goal(place):
    value = Instruments(place / "instruments").figures.get("call")
    if value is not None:
        yield ["7.3: a call recorded with its duration: at most 75 instructions", f"{value:.0f}", verdict(value, 75)]


# For each question, the functions that yield its goals and the kernel measured: most goals were set
# for 6.1.
GOALS = {
    "cost": [(cost_goal, "6.1"), (newest_cost_goal, "7.3")],
    "instruments": [(instrument_goals, "6.1"), (newest_call_goal, "7.3")],
    "sizes": [(size_goal, "6.1")],
    "ring": [(ring_goal, "native")],
    "engines": [(page_goals, "6.1"), (recycling_goal, "6.12")],
    "loss": [(race_goals, "6.1")],
    "workloads": [(drain_goals, "6.1")],
}


def goals_of(question, directory):
    """One question's rows, with its name in them."""
    return [[goal, question, measured, reached] for rows, place in GOALS[question]
            for goal, measured, reached in rows(directory / place)]


COLUMNS = ["", "question", "measured", ""]


def goals_table(rows):
    return table("Goals, and what was measured (6.1)", COLUMNS, rows).replace("### ", "## ", 1) if rows else ""


def kept_goals(text):
    """What goals_table() once wrote into a document, by question."""
    found = re.search(r"^## Goals, .*?\n\n((?:\|.*\n)+)", text, re.M)
    kept = {}
    for line in found.group(1).splitlines()[2:] if found else []:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(COLUMNS):
            kept.setdefault(cells[1], []).append(cells)
    return kept

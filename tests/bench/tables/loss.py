# SPDX-License-Identifier: GPL-2.0-only
"""Two CPUs at full speed: what is kept, what is lost, and what speed the loops keep."""
import statistics

from .common import EVENTS_PER_CALL, TITLES, plain, rows_of, table
from .cost import recording
from .picture import bars


class Race:
    """Figures of one guest: turn by turn, before, traced, after."""

    def __init__(self, directory):
        self.directory = directory
        self.turns = {}
        for tracer, what, turn, calls, speed in rows_of(directory / "figures.tsv"):
            self.turns.setdefault(tracer, {}).setdefault(int(turn), {})[what] = (int(calls), int(speed))

    def whole(self, tracer):
        return [t for t in self.turns.get(tracer, {}).values() if len(t) == 3]

    def speeds(self, tracer):
        """The traced loops' speed as a share of the untraced ones', turn by turn."""
        return [2 * t["traced"][1] / (t["before"][1] + t["after"][1]) for t in self.whole(tracer)]

    def last_calls(self, tracer):
        return self.turns[tracer][max(self.turns[tracer])]["traced"][0]

    def last_speed(self, tracer):
        return self.turns[tracer][max(self.turns[tracer])]["traced"][1]

    def recording(self, tracer):
        if not (self.directory / f"{tracer}.0").is_dir():
            return None
        found = recording(self.directory, tracer, 0)
        found.calls = self.last_calls(tracer)
        return found


def row(race, tracer, lttng):
    speed = statistics.median(race.speeds(tracer))
    calls = race.last_calls(tracer)
    found = race.recording(tracer)
    happened = EVENTS_PER_CALL * calls
    kept = found.getppid if found else 0
    lost = max(0, happened - kept)
    seconds = calls / race.last_speed(tracer)
    return [TITLES[tracer], f"{speed:.3f} ({min(race.speeds(tracer)):.3f} to {max(race.speeds(tracer)):.3f})",
            f"{speed / lttng:.1f}" if lttng else "", f"{happened:,}", f"{lost:,} ({100 * lost / happened:.1f} %)",
            f"{kept / seconds:,.0f}"]


def loss_tables(directory, release):
    race = Race(directory)
    tracers = [t for t in TITLES if race.whole(t)]
    if not tracers:
        return [], {}
    lttng = statistics.median(race.speeds("lttng-a")) if race.whole("lttng-a") else None
    rows = [row(race, t, lttng) for t in tracers]
    turns = len(race.whole(tracers[0]))
    text = table(f"Linux {release}, 2 CPUs in a system-call loop, everything at its defaults, {turns} turns",
                 ["", "speed of the loops, of the untraced (range)", "of LTTng's", "getppid events, last turn", "of them lost", "kept per second"], rows)
    groups = [(plain(t), [statistics.median(race.speeds(t)), 1 - share_lost(r)]) for t, r in zip(tracers, rows)]
    picture = bars("Two CPUs in a system-call loop: the speed they keep, and the events that are kept",
                   "share (1: the untraced loop's speed; all events)", ["speed of the loops", "events kept"], groups)
    return [text + "\n![loss](benchmarks/loss.svg)\n"], {"loss": picture}


def share_lost(cells):
    return float(cells[4].split("(")[1].split()[0]) / 100

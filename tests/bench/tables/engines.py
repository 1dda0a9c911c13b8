# SPDX-License-Identifier: GPL-2.0-only
"""What a page costs on its way to the disk."""
from .common import rows_of, table
from .picture import COLOURS, bars

OUTPUTS = {"ext4": "ext4", "ext2": "ext2", "xfs": "xfs", "btrfs": "btrfs", "tmpfs": "tmpfs", "block": "block device"}
ENGINES = {
    "direct": "**FKT** `--drain=direct`",
    "checkin": "**FKT** `--drain=checkin`",
    "buffered": "**FKT** `--drain=buffered`",
    "sendfile": "**FKT** `--drain=sendfile`",
    "uring": "**FKT** `--drain=uring`",
    "uring-z": "**FKT** `-z`",
    "write-direct": "`write(2)`, O_DIRECT, 64 KiB each",
    "write-64k": "`write(2)`, 64 KiB each",
    "write-4k": "`write(2)`, 4 KiB each",
}
WRITES = ("write-direct", "write-64k", "write-4k")
# With a ring of this size, check-in's own thread starts no write-back during the recording.
BEFORE = {"checkin": "checkin-p14"}


class Pages:
    """Figures of one guest."""

    def __init__(self, directory):
        self.directory = directory
        self.rows = [(*row[:3], int(row[3]), int(row[4]), float(row[5])) for row in rows_of(directory / "figures.tsv")]

    def values(self, kind, engine, what):
        """By length: {calls: ([nanoseconds ...], pages)}."""
        found = {}
        for k, e, w, pages, calls, value in self.rows:
            if (k, e, w) == (kind, engine, what):
                found.setdefault(calls, ([], pages))[0].append(value)
        return dict(sorted(found.items()))

    def exact(self, engine):
        return min(v for row in self.values("-", engine, "exact").values() for v in row[0])

    def checksum(self):
        """Of a full page's events, as the drain makes it, or None."""
        return self.exact("checksum") if self.values("-", "checksum", "exact") else None

    def per_call(self):
        """What a traced call takes where no page is filled and no timer ticks, and of that the ticks
        of the time it takes, as they show in a long untraced loop."""
        (short, a), (long, b) = self.values("-", "untraced", "ended").items()
        untraced = (min(b[0]) - min(a[0])) / (long - short)
        return self.exact("traced") * untraced / self.exact("untraced")

    def per_page(self, kind, engine, what):
        """A long recording less a short one, less what its calls would take anyhow. Of each length the
        quickest: what else the guest does now and then only adds."""
        by_length = self.values(kind, engine, what)
        if len(by_length) != 2:
            return None
        (short, a), (long, b) = by_length.items()
        took = min(b[0]) - min(a[0])
        if engine not in WRITES:
            took -= self.per_call() * (long - short)
        pages = b[1] - a[1]
        return took / pages if pages > 0 else None

    def kept(self, per_page_calls):
        """Pages that are filled and given back without being written."""
        by_length = self.values("tmpfs", "kept", "ended")
        if len(by_length) != 2:
            return None
        (short, a), (long, b) = by_length.items()
        took = (min(b[0]) - min(a[0])) / (long - short)
        return (took - self.per_call()) * per_page_calls

    def calls_per_page(self):
        by_length = self.values("ext4", "direct", "ended")
        if len(by_length) != 2:
            return 0
        (short, a), (long, b) = by_length.items()
        return (long - short) / (b[1] - a[1])

    def outputs(self):
        """Those that were asked for, with their titles."""
        asked = {k for k, e, *_ in self.rows if e in ENGINES} | {path.name.split(".")[0] for path in self.directory.glob("*.*.failed")}
        return {kind: title for kind, title in OUTPUTS.items() if kind in asked}

    def engines(self, engines):
        """Of these, those that were asked for."""
        asked = {e for _, e, *_ in self.rows} | {path.name.split(".")[1] for path in self.directory.glob("*.*.failed")}
        return {engine: title for engine, title in engines.items() if engine in asked}

    def before_write_back(self, kind, engine):
        """Of an engine that has each page written back before it is done: what is left when that is
        as dear as it is behind write(2)."""
        values = [self.per_page(kind, *of) for of in ((engine, "stored"), ("write-64k", "stored"), ("write-64k", "ended"))]
        return None if None in values else values[0] - (values[1] - values[2])

    def failure(self, kind, engine):
        path = self.directory / f"{kind}.{engine}.failed"
        return path.read_text().strip() if path.exists() else None


def cell(pages, kind, engine, what, notes):
    value = pages.per_page(kind, engine, what)
    if value is not None:
        return f"{value:,.0f}"
    why = pages.failure(kind, engine) or pages.failure(kind, engine.removesuffix("-p14")) or "not measured"
    why = why.replace("/run/bench/trace_file", "FILE").replace("fkt_record: ", "")
    if why not in notes:
        notes.append(why)
    return f"({notes.index(why) + 1})"


def engine_rows(pages, what, notes, engines):
    def variant(engine):
        return BEFORE.get(engine, engine) if what == "ended" else engine

    return [[title] + [cell(pages, kind, variant(engine), what, notes) for kind in pages.outputs()]
            for engine, title in pages.engines(engines).items()]


def engines_tables(directory, release):
    """(tables, pictures); pictures: {name: svg}."""
    pages = Pages(directory)
    if not pages.rows:
        return [], {}
    notes = []
    cached = {e: t for e, t in ENGINES.items() if e in ("checkin", "buffered", "sendfile", "write-64k", "write-4k")}
    columns = [""] + list(pages.outputs().values())
    stored = table(f"Linux {release}: guest instructions per 4 KiB page until all is on the RAM disk", columns,
                   engine_rows(pages, "stored", notes, ENGINES))
    ended = table(f"Linux {release}: the same before write-back, where the page cache is used", columns,
                  engine_rows(pages, "ended", notes, cached))
    kept = pages.kept(pages.calls_per_page())
    remarks = [f"({i + 1}) {why}" for i, why in enumerate(notes)]
    if kept is not None:
        remarks.append("Pages that are filled, given back and never written (`--when-full=overwrite`), each with a wake-up "
                       f"of its own: {kept:,.0f}.")
    if (checksum := pages.checksum()) is not None:
        remarks.append(f"The checksum of a full page's events, which is part of each of FKT's figures: {checksum:,.0f}.")
    below = "\n".join(f"- {r}" for r in remarks)
    if len(pages.outputs()) < len(OUTPUTS):
        return [stored, f"{ended}\n{below}\n"], {}
    pictures = {"engines": picture(pages, "stored", "What a page costs until it is on the disk", 2500),
                "engines-before": picture(pages, "ended", "What a page costs before write-back", None)}
    return [f"{stored}\n{link('engines')}", f"{ended}\n{link('engines-before')}\n{below}\n"], pictures


def link(name):
    return f"![{name}](benchmarks/{name}.svg)\n"


def picture(pages, what, title, goal):
    cached = ["checkin", "buffered", "sendfile", "write-64k"]
    names = ["direct", "uring"] + cached if what == "stored" else cached
    groups = [(label, [pages.per_page(kind, BEFORE.get(n, n) if what == "ended" else n, what) for n in names])
              for kind, label in OUTPUTS.items()]
    return bars(title, "guest instructions per 4 KiB page", [n.replace("write-64k", "write(2) of 64 KiB") for n in names], groups,
                goal=goal, whose="direct's",
                colours=COLOURS if what == "stored" else COLOURS[2:])

# SPDX-License-Identifier: GPL-2.0-only
"""Events of an ftrace instance, from the raw pages of its buffers: values as the kernel wrote them, while
its text hides addresses and shows flags by their names. Imported by cases in tests/vm/cases."""
import os
import re
import struct

PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31  # kinds of entries that are not events (ring_buffer.h)


def formats(tracing):
    """{id: (event, [(declaration, offset, bytes, signed)])} of the events that are on."""
    known = {}
    for system in os.listdir(tracing + "/events"):
        folder = f"{tracing}/events/{system}"
        for event in os.listdir(folder) if os.path.isdir(folder) else []:
            enable = f"{folder}/{event}/enable"
            if not os.path.exists(enable) or open(enable).read().strip() != "1":
                continue
            text = open(f"{folder}/{event}/format").read()
            number = int(re.search(r"^ID: (\d+)", text, re.M)[1])
            fields = [(m[1], int(m[2]), int(m[3]), m[4] == "1") for m in re.finditer(
                r"field:(.*?);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d)", text)]
            known[number] = (event, [f for f in fields if " common_" not in f[0]])
    return known


def field(data, declaration, offset, size, signed):
    """(name, value) as FKT shows it; the value is None for fields that FKT does not record."""
    name = re.search(r"(\w+)(\[.*\])?$", declaration)[1]
    raw = data[offset:offset + size]
    if declaration.startswith(("__data_loc char[]", "__rel_loc char[]")):
        where = struct.unpack("<I", raw)[0] & 0xffff
        where += offset + 4 if declaration.startswith("__rel") else 0
        return name, data[where:].split(b"\0")[0][:32].decode("latin-1")
    if declaration.startswith(("__data_loc", "__rel_loc", "cpumask_t")):
        return name, None
    if re.match(r"(const )?char \w+\[", declaration):
        return name, raw.split(b"\0")[0][:64].decode("latin-1")
    if "[" in declaration or size not in (1, 2, 4, 8):
        return name, ":".join("%02x" % b for b in raw)
    return name, int.from_bytes(raw, "little", signed=signed)


def entries(page):
    """The events' bytes in one page of the buffer."""
    commit = struct.unpack_from("<Q", page, 8)[0] & 0xfffff
    at, end = 16, 16 + commit
    while at < end:
        head = struct.unpack_from("<I", page, at)[0]
        kind = head & 31
        at += 4
        if kind == PADDING:
            if head >> 5 == 0:
                return
            at += struct.unpack_from("<I", page, at)[0]
        elif kind in (TIME_EXTEND, TIME_STAMP):
            at += 4
        else:
            size = 4 * kind if kind else struct.unpack_from("<I", page, at)[0]
            start = at if kind else at + 4
            yield page[start:at + size]
            at += size


def events(tracing, known):
    """Yields (CPU, event, [(name, value)]) of all buffers, those of one CPU in their order; asserts that none
    was overwritten."""
    for cpu in sorted(os.listdir(tracing + "/per_cpu")):
        stats = open(f"{tracing}/per_cpu/{cpu}/stats").read()
        assert "\noverrun: 0\n" in stats, stats
        pages = os.open(f"{tracing}/per_cpu/{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        while True:
            try:
                page = os.read(pages, 4096)
            except BlockingIOError:
                break
            if len(page) < 16:
                break
            for data in entries(page):
                event, fields = known.get(struct.unpack_from("<H", data)[0], (None, None))
                if event:
                    yield int(cpu[3:]), event, [field(data, *f) for f in fields]
        os.close(pages)

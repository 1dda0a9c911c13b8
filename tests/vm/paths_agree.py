# SPDX-License-Identifier: GPL-2.0-only
"""What fkt_paths says of a function's paths, beside those of a recording of all its blocks by ftrace's kprobes in the same run.

paths_agree.py probes BLOCKS.JSON            writes the name of an event for each block, and the places where it can be.
paths_agree.py compare BLOCKS.JSON PATHS.JSON TRACE OUTSIDE
    BLOCKS.JSON: fkt_blocks --json --code; PATHS.JSON: fkt_paths --json; TRACE: text of the trace of these events;
    OUTSIDE: at most so many calls were made while ftrace did not record.
"""
import bisect, collections, json, re, sys


def fail(text):
    sys.exit("paths_agree: " + text)


def probes(function):
    symbols = []
    for line in open("/proc/kallsyms"):
        address, kind, name = line.split()[:3]
        if kind in "tT": symbols.append((int(address, 16), name))
    symbols.sort()

    def place(address):
        begin, name = symbols[bisect.bisect(symbols, (address, "~")) - 1]
        # Of several names of one address, the function's own.
        return f"{function['function'] if begin == function['address'] else name}+{address - begin}"

    for number, block in enumerate(function["blocks"]):
        code = block["code"]
        # At the entry, those behind the function tracer's own instruction.
        if number == 0: code = [one for one in code if not re.match(r"endbr64|nop|call", one["text"])]
        if not code: fail("no instruction in the first block")
        print(f"b{number}", *(place(one["address"]) for one in code))


class Calls:
    """Takes the blocks of each thread as they come, and makes calls of them. An interrupt's calls end before it does."""

    def __init__(self, function):
        self.next, self.leaves = collections.defaultdict(set), set()
        for edge in function["edges"]:
            if edge.get("to") in (None, 0): self.leaves.add(edge["from"])
            else: self.next[edge["from"]].add(edge["to"])
        self.open, self.done = collections.defaultdict(list), []

    def end(self, thread):
        self.done.append(self.open[thread].pop())

    def take(self, thread, block):
        open_calls = self.open[thread]
        # A call that may have left by its last block has, if this block does not follow it.
        while open_calls and open_calls[-1][-1] in self.leaves and block not in self.next[open_calls[-1][-1]]:
            self.end(thread)
        if block == 0: open_calls.append([0])
        elif not open_calls: return  # it had begun before
        elif block in self.next[open_calls[-1][-1]]: open_calls[-1].append(block)
        else: fail(f"{thread}: block {block} behind {open_calls[-1]}")

    def finish(self):
        for thread, calls in self.open.items():
            while calls and calls[-1][-1] in self.leaves: self.end(thread)


def parts(call, cut):
    """Cuts a call's blocks where paths end, by what fkt_paths says."""
    begin = 0
    for i in range(1, len(call)):
        if (call[i - 1], call[i]) in cut:
            yield tuple(call[begin:i]), f"to {call[i]}"
            begin = i
    yield tuple(call[begin:]), None


def compare(function, found, trace, outside):
    calls = Calls(function)
    line = re.compile(r"\s*(?:.*)-(\d+)\s+\[(\d+)\]\s+\S+\s+\d+:\s+b(\d+):")
    events = 0
    for text in trace:
        match = line.match(text)
        if not match:
            if " b" in text and "0x" in text: fail("a line that is not understood: " + text)
            continue
        pid, cpu, block = match.groups()
        calls.take(("cpu", cpu) if pid == "0" else pid, int(block))
        events += 1
    calls.finish()
    cut = {tuple(way) for way in found["cut"]}
    ours, theirs = collections.Counter(), collections.Counter()
    for call in calls.done:
        for blocks, end in parts(call, cut): theirs[blocks, end] += 1
    for path in found["taken"]:
        end = path["end"] if path["end"].startswith("to ") else None
        ours[tuple(path["blocks"]), end] += path["times"]
    more = found["calls"] - len(calls.done)
    print(f"{function['function']}: {events} blocks by ftrace, {len(calls.done)} calls, {len(theirs)} paths taken; "
          f"fkt_paths: {found['calls']} calls, {len(ours)} of {found['paths']} paths, {len(found['watched'])} of "
          f"{found['ways']} ways watched, {found['ways_taken']} taken; left out {found['left_out']}")
    if len(calls.done) < 50: fail("too few calls")
    if not 0 <= more <= outside: fail(f"{more} calls more than ftrace has")
    wrong = [(path, ours[path], theirs[path]) for path in sorted(set(ours) | set(theirs), key=str)
             if not 0 <= ours[path] - theirs[path] <= (more and outside * 50)]
    if wrong: fail("path, fkt_paths, ftrace:\n" + "\n".join(map(str, wrong[:10])))
    whole = sum(n for (blocks, end), n in ours.items() if end is None)
    if whole != found["calls"]: fail(f"{whole} paths leave the function in {found['calls']} calls")
    if sum((ours - theirs).values()) < more: fail("fewer paths than calls")


if __name__ == "__main__":
    what = json.load(open(sys.argv[2]))[0]
    if sys.argv[1] == "probes": probes(what)
    else: compare(what, json.load(open(sys.argv[3])), open(sys.argv[4], errors="replace"), int(sys.argv[5]))

# SPDX-License-Identifier: GPL-2.0-only
"""What the tables of tests/bench/report have in common: how they are written, how tools are asked."""
import platform
import re
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
EVENTS_PER_CALL = 2

TITLES = {
    "none": "no tracer",
    "idle": "fkt.ko loaded, nothing recorded",
    "probes": "two empty probes",
    "fkt": "**FKT** `fkt_record`",
    "fkt-no-pairs": "FKT, `--no-pairs`",
    "trace-cmd": "trace-cmd `record -e raw_syscalls`",
    "trace-cmd-plain": "trace-cmd, `--compression none`",
    "perf": "perf `record -e raw_syscalls:*`",
    "perf-a": "perf, `-a`",
    "lttng": "LTTng `--syscall getppid`",
    "lttng-a": "LTTng `--syscall --all`",
    "bpftrace": "bpftrace, counts in a map",
    "bpftrace-print": "bpftrace, prints each event",
    "sysdig": "sysdig `-w`",
}

def plain(tracer):
    """The title without its marks, for pictures."""
    return TITLES[tracer].replace("**", "").replace("`", "")


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def lines_of(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        yield from p.stdout


def rows_of(path):
    """A table that a guest has left: a list of lists of words."""
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def table(title, columns, rows):
    """The same lines serve on a terminal and as Markdown."""
    cells = [columns] + rows
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    def line(row):
        return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(row, widths))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([f"### {title}", "", line(columns), rule] + [line(row) for row in rows]) + "\n"


def first_line(*command):
    return output_of(*command).strip().split("\n")[0]


def package_version(name):
    return output_of("dpkg-query", "-W", "-f", "${Version}", name)


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()).group(1)
    memory = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()).group(1))
    threads = len(re.findall(r"^processor", Path("/proc/cpuinfo").read_text(), re.M))
    return f"{model}, {threads} CPUs, {memory / 2**20:.0f} GiB, Linux {platform.release()}"

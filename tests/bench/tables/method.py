# SPDX-License-Identifier: GPL-2.0-only
"""How each question is asked: the text above its tables."""

INSTRUCTIONS = """\
with `-icount`: one CPU, one guest instruction is one nanosecond of guest time, so the figures are
instructions and repeat; they know nothing of cache misses, locked instructions or traps."""

COST = f"""\
One static program calls getppid() in a loop. In one boot per kernel it runs untraced and under each
tracer, {INSTRUCTIONS}
A call has two events, its entry and its exit: per event = (traced - untraced) / 2.

- *while the loop runs*: by the loop's own clock; contains what the consumer did in that time, but not
  what it left for later.
- *until all is on disk*: all the CPU was awake for, from the recorder's start to the end of `sync(1)`
  behind it, of a long recording less a short one. So it contains the whole drain, the recorder's work
  at its end and the write-back, and not what is the same for every recording (start-up, symbols).
- *lost*: entries and exits of getppid that happened (2 per call) less those that the tracer's own
  reader finds in the recording. Less than none: perf record asks a ring twice how far to read, saves
  up to the second answer and goes on from the first, so some events stand in its file twice.
- bpftrace records nothing: it counts each call number in a map, or prints a line per event into a
  file; sysdig's program runs beside the loop, and both of its ends are part of every recording.
- On 7.3 programs can be preempted in the tracepoints of system calls: the kernel holds rcu_tasks_trace around the
  probes, which the two empty ones have in them, and each probe of FKT's switches preemption off and on.
- Each tracer's first run is not counted.
"""

ENGINES = f"""\
A getppid() loop is recorded with `--args` (73 bytes a call) to one RAM disk (brd, all of its memory
allocated before), by each engine, one file system after the other in one boot
{INSTRUCTIONS}
From a long recording's total a short one's is subtracted, and from that what the calls take
where no page is filled: the smallest of 300 rounds of 20 traced calls. What is left is everything that
a page causes, per 4 KiB: closing it and opening the next, the interrupt that wakes the drain, the
events that these record about themselves, writing, waiting, allocating, write-back, the index at the
end, and the RAM disk's own copy (about 530). Symbols are left out (/proc/kallsyms is empty), write-back
comes when `sync(1)` asks for it, after the recorder's end. `write(2)` of as much from one buffer is the
yardstick. *Before write-back*: until the recorder, or writer, has ended; check-in with `-p 14`, so that
its synchronising thread has nothing to do yet. A number in brackets is a reason, below the tables.
"""

LOSS = """\
A program with a thread on each of two CPUs calls getppid() as fast as it can for two seconds: untraced,
traced, untraced again, for each tracer in turn, in one boot (multi-threaded TCG, or KVM where it works).
Speed is the traced loop's over the mean of the two beside it, because the machine's other users take
their share of both. *kept* is what the tracer's own reader finds, for bpftrace's map what it counted.
"""

WORKLOADS = """\
Each workload runs untraced and traced, turn about, in one boot; its files are in memory: `find` over
3,000 files with `-size +1`, `tar cf /dev/null` of them, 30 times fork and exec of a program that does
nothing, fio (3,000 random direct 4 KiB reads and writes on a RAM disk), `gcc -O1 -c` of a small file. The ratio is what
the CPUs were awake for, or the wall, from the workload's begin to its end: what consumers did meanwhile
is part of it, a tracer's start and end are not. FKT records its default layers (system calls, faults,
interrupts, softirqs, context switches, processes), the peers system calls alone.
"""

RING = """\
Google Benchmark on the machine itself, which others use too.
"""

SIZES = """\
The getppid() loop again, in a boot of two CPUs.
FKT: page area, headers and padding included, by all events that `fkt_print
--counts` finds in it; the rest of the file is its fixed part. Others: a long recording less a short
one by the difference of their events; what is then left over is the fixed part. zstd likewise, over
whole files. Contents differ: trace-cmd and perf store six arguments of each entry, trace-cmd's own
default compresses, LTTng stores typed arguments, and the thread only where asked to; FKT stores
number, return value and time, and the thread is known for every event. The
clock runs freely here: evenly ticking ones, as with `-icount`, compress better than real ones.
"""

INSTRUMENTS = f"""\
The getppid() loop, in which the kernel's function __do_sys_getppid calls __task_pid_nr_ns, untraced and with one of
them traced, in one boot per kernel {INSTRUCTIONS}
The smallest of 60 loops of 1,000 calls, less the untraced loop. FKT records the layer `process` beside the instrument:
it has no event in the loop. What fills and drains pages is hardly in it. *In a user program*: the same of a loop that
calls a function of its own, which each tracer sees by uprobes. *Many functions*: find over 3,000 files in
memory, 30 times fork and exec of a program that does nothing, tar of 10,000 files on ext4, and the start of a machine
until its real root is mounted; what the CPU was awake for while they ran, over that of the untraced ones. Arming and disarming is the time of the two requests that start and stop the recording.
"""

METHODS = {"instruments": INSTRUMENTS, "sizes": SIZES, "cost": COST, "engines": ENGINES, "loss": LOSS, "workloads": WORKLOADS, "ring": RING}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Functions and instructions of the kernel, as arguments of FKT_START and FKT_EXCHANGE (ioctl.h):
 * fkt_instruments.calls, fkt_instruments.entries and fkt_instruments.instructions.
 */
#ifndef FKT_CALL_PLACE_H
#define FKT_CALL_PLACE_H

#include <linux/types.h>

/* A function whose calls, exits or entries are hits of an instrument, or an instruction. */
struct fkt_called {
	__u64 function; /* its address, as in kallsyms */
	/* ticks: shorter calls are dropped before the programs run; 0 except for whole calls and exits */
	__u64 shortest;
	__u32 number; /* in its events; below 1 << FKT_ARG_BITS */
	__u16 program; /* which pair of fkt_calls.programs decides and fetches values */
	__u16 instrument; /* index */
	/* FKT_CALLED_*; in fkt_instruments.entries FKT_CALLED_MORE or 0, in fkt_instruments.instructions 0 */
	__u32 how;
	__u32 pad;
};

/*
 * Traced by a return probe of the kernel (kretprobe, fprobe), because the function may have arguments on the stack and
 * so cannot be called through. At most FKT_RETURN_PROBES_MOST functions.
 */
#define FKT_CALLED_BY_PROBE 0x1
#define FKT_CALLED_EXIT 0x2 /* the event is the function's exit, without begin and duration */
/*
 * A further instrument on the function of the previous element, for calls and entries: its hits come after those of the
 * previous one. For calls, no first program of the function has instructions. At most FKT_CALLED_MORE_MOST of them.
 */
#define FKT_CALLED_MORE 0x4
#define FKT_CALLED_MORE_MOST 15

#define FKT_KEEP_IN_TASK 0x1
#define FKT_KEEP_IN_INTERRUPT 0x2 /* softirqs too */

/*
 * Calls that their program or `shortest` would drop are held until the calls that contain them have returned. If a
 * containing call is recorded, the held calls are recorded before it, each with its own event. Calls that could not be
 * held for lack of memory count as FKT_MISSED_HELD of the containing call's instrument; the count may be too high if
 * that call had begun before memory ran out. Calls in NMIs are not held. EINVAL: a function has a first program, a
 * recorded exit, a return probe, or values other than the context word.
 */
struct fkt_keep {
	__u64 shortest; /* ticks: shorter calls are not held */
	__u32 where; /* FKT_KEEP_IN_*: in which contexts calls are held; 0: in none */
	__u32 levels; /* at most so many levels below the recorded call; 0: all */
	__u32 percent; /* at least this share of the recorded call's duration; at most 100; 0: all */
	__u32 deepest; /* largest FKT_CALL_DEPTH of a held call; 0: all */
};

/*
 * In fkt_instruments.entries and fkt_instruments.instructions, only the first program of a pair runs, and emits the
 * words of the event (call_hit.h); the second one has no instructions. In fkt_instruments.instructions, the "functions"
 * are addresses of instructions; their numbers are below FKT_INSTRUCTIONS_MOST.
 */
struct fkt_calls {
	__u64 functions; /* user pointer to struct fkt_called[count], ascending by address (but FKT_CALLED_MORE) */
	__u64 programs; /* user pointer to pairs of programs, for entry and return (call_hit.h), one behind the other */
	__u32 count; /* 1 to FKT_CALLS_MOST */
	__u32 program_bytes; /* of all programs; at most FKT_CALLS_PROGRAM_BYTES */
	__u32 program_count; /* pairs */
	/*
	 * FKT_CALL_CPUTIME and FKT_CALL_DEPTH are known for threads with lower numbers; at most FKT_TASK_FLAGS_MOST; 0:
	 * no program uses them, and no call is held. The first table of the recording with a number here decides.
	 */
	__u32 threads;
	struct fkt_keep keep; /* must not differ between the tables of a recording that have functions */
};

#define FKT_CALLS_MOST (1U << 17)
#define FKT_RETURN_PROBES_MOST 512
#define FKT_INSTRUCTIONS_MOST 8192
#define FKT_KPROBES_MOST 512 /* of these, by kprobes: the others by jumps in their places (fkt_splices.ko) */
#define FKT_CALLS_PROGRAM_BYTES (1U << 22)

#endif /* FKT_CALL_PLACE_H */

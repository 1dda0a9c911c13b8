/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running the programs of instruments: what all kinds of places share. Called with preemption disabled, in any context,
 * NMI included.
 */
#ifndef FKT_PROGRAMS_H
#define FKT_PROGRAMS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/program_run.h>

#include "records/records.h"

/* Memory for the run of a program: too large for the stack of a task that may be deep in the kernel. */
struct fkt_scratch {
	u64 hit[FKT_CALL_FIRST_KEPT + FKT_CALL_KEPT];
	u64 words[FKT_CALL_VALUES_LONG_HEAD + FKT_PROGRAM_WORDS]; /* of the event */
	struct fkt_record_room room; /* for a tracepoint's own record; valid while fkt_scratch_records_get() holds */
	unsigned long stack; /* stack pointer of the code that the hit is in: fkt_run_program() */
	bool asks_lowest; /* the program has read FKT_CONTEXT_LOWEST_STACK */
};

/* Room for a record. ftrace's own limit is a little less. */
#define FKT_RECORD_BYTES 4096

/*
 * Most nested hits on a CPU: one each in a task, a softirq, an interrupt and an NMI. Deeper ones are hits of functions
 * that are called to record a hit, and that have instruments, too: they could go on for ever. Writing an event calls
 * such functions only at the end of a page.
 */
#define FKT_HITS_DEEP 4
DECLARE_PER_CPU(u32, fkt_hit_depth);

/*
 * A bit per enum fkt_level in which a hit calls functions of the kernel that may be called very often: to read memory,
 * to take a stack. Hits of these that would call them again, for a program, are missed: each level of nesting would
 * multiply their number. Accessed with preemption disabled; an interrupt restores it before it returns.
 */
DECLARE_PER_CPU(u8, fkt_hit_calls);

int fkt_scratch_records_get(void);
void fkt_scratch_records_put(void);
struct fkt_scratch *fkt_scratch_get(void);
void fkt_scratch_put(void);
struct fkt_scratch *fkt_scratch_now(void);
int fkt_read_memory(void *to, __u64 address, __u32 bytes);

/* For a hit without a program. Returns false if too many are recorded already; else fkt_hit_end() must be called. */
static __always_inline bool fkt_hit_begin(void)
{
	if (likely(this_cpu_read(fkt_hit_depth) < FKT_HITS_DEEP)) {
		this_cpu_inc(fkt_hit_depth);
		return true;
	}
	return false;
}

static __always_inline void fkt_hit_end(void)
{
	this_cpu_dec(fkt_hit_depth);
}

#endif /* FKT_PROGRAMS_H */

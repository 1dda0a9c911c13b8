/* SPDX-License-Identifier: GPL-2.0-only */
/* The probes of calls (call_hits.c), for what arms them (calls_arm.c). */
#ifndef FKT_CALL_HITS_H
#define FKT_CALL_HITS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/call_hit.h>

#include "calls/calls.h"

struct pt_regs;

#define FKT_CALL_PROBES_CUT 1ULL

/*
 * Changed under the recording's lock. The probes read it without a lock: all but the last are set before the first
 * function is traced.
 */
extern struct fkt_call_probes {
	/*
	 * Combined with the mark of the programs, this is the first kept word of a call. It is random, so that words
	 * that were kept for an earlier recording are detected. Bit FKT_CALL_PROBES_CUT is 0 here, and 1 in the kept
	 * word if a text was cut.
	 */
	u64 mark;
	u64 since; /* TSC before the first of its calls */
	/* fkt_calls_take_held(); NULL: no function is called through */
	fkt_calls_take_held_fn take_held;
	/* A table is being exchanged: traced functions may be missing from the table in force. */
	bool is_changing;
} fkt_call_probes;

/*
 * Counts since the module was loaded: calls of functions that replace one of the table (livepatch), and are not in it
 * themselves; and calls of functions with a return probe that were shorter than table.shortest_probed. (fkt_calls
 * counts those that it drops itself.)
 */
DECLARE_PER_CPU(u64, fkt_call_strangers);
DECLARE_PER_CPU(u64, fkt_call_too_short);

void fkt_call_probes_give(struct fkt_calls_plan *plan);

/* Data of a call that a return probe keeps. */
struct fkt_probed_call {
	u64 begin; /* TSC */
	u64 offset; /* fkt_clock_offset() then */
	bool keeps; /* words, in `kept` */
	u64 kept[1 + FKT_CALL_KEPT];
};

bool fkt_record_calls_entered(unsigned long body, const struct pt_regs *regs, struct fkt_probed_call *probed);
/* regs: on the stack, below the address that the function returns to */
void fkt_record_calls_returned(unsigned long body, const struct pt_regs *regs, const struct fkt_probed_call *probed);

#endif /* FKT_CALL_HITS_H */

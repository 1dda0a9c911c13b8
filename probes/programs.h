/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running the programs of instruments: what all kinds of places share. Called with preemption disabled, in any context,
 * NMI included.
 */
#ifndef FKT_PROBES_PROGRAMS_H
#define FKT_PROBES_PROGRAMS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/program_run.h>

#include "call_context.h"
#include "call_table.h"
#include "filter.h"
#include "write.h"

/* What a program has and makes: too much for the stack of a task that may be deep in the kernel. */
struct fkt_scratch {
	u64 hit[FKT_CALL_FIRST_KEPT + FKT_CALL_KEPT];
	u64 words[FKT_CALL_VALUES_LONG_HEAD + FKT_PROGRAM_WORDS]; /* of the event */
};

struct fkt_scratch *fkt_scratch_get(void);
void fkt_scratch_put(void);
int fkt_read_memory(void *to, __u64 address, __u32 bytes);

/* Returns whether hits of instruments of this layer are recorded here and now. */
static __always_inline bool fkt_instruments_on(u32 layer)
{
	return fkt_layer_number_on(layer) && !(static_branch_unlikely(&fkt_key_special) && !fkt_keep_current());
}

/* Counts a hit that is not recorded. */
static inline void fkt_count_hit(struct fkt_call_sums __percpu *sums, enum fkt_run says)
{
	if (says == FKT_RUN_DROP)
		this_cpu_inc(sums->dropped);
	else if (says == FKT_RUN_FAULT)
		this_cpu_inc(sums->missed);
}

/* Adds what an instrument's sums are on all CPUs. */
static inline void fkt_add_sums(struct fkt_call_counts *counts, const struct fkt_call_sums __percpu *sums)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct fkt_call_sums *of_cpu = per_cpu_ptr(sums, cpu);

		counts->kept += READ_ONCE(of_cpu->kept);
		counts->dropped += READ_ONCE(of_cpu->dropped);
		counts->missed += READ_ONCE(of_cpu->missed);
	}
}

#endif /* FKT_PROBES_PROGRAMS_H */

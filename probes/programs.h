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

/* What a program has and makes: too much for the stack of a task that may be deep in the kernel. */
struct fkt_scratch {
	u64 hit[FKT_CALL_FIRST_KEPT + FKT_CALL_KEPT];
	u64 words[FKT_CALL_VALUES_LONG_HEAD + FKT_PROGRAM_WORDS]; /* of the event */
};

struct fkt_scratch *fkt_scratch_get(void);
void fkt_scratch_put(void);
int fkt_read_memory(void *to, __u64 address, __u32 bytes);

#endif /* FKT_PROBES_PROGRAMS_H */

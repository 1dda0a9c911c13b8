/* SPDX-License-Identifier: GPL-2.0-only */
/* Records calls of functions. */
#ifndef FKT_PROBES_CALLS_H
#define FKT_PROBES_CALLS_H

#include <linux/types.h>

#include <fkt/call_hit.h>

struct fkt_call_table;
struct fkt_hit_counts;
struct fkt_instrument_table;
struct pt_regs;

int fkt_record_calls_arm(const struct fkt_call_table *table, u64 *refused);
void fkt_record_calls_disarm(const struct fkt_instrument_table *instruments);
void fkt_record_calls_settle(void);
void fkt_record_calls_load(void);
void fkt_record_calls_wait(void);
bool fkt_record_calls_end(const struct fkt_instrument_table *instruments);
void fkt_record_calls_totals(struct fkt_hit_counts *counts);

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

#endif /* FKT_PROBES_CALLS_H */

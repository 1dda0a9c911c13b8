/* SPDX-License-Identifier: GPL-2.0-only */
/* Arms the probes of calls, and adds up what they count. */
#ifndef FKT_CALLS_ARM_H
#define FKT_CALLS_ARM_H

#include <linux/types.h>

struct fkt_call_table;
struct fkt_hit_counts;
struct fkt_instrument_table;

int fkt_record_calls_arm(const struct fkt_call_table *table, u64 *refused);
void fkt_record_calls_disarm(const struct fkt_instrument_table *instruments);
void fkt_record_calls_settle(void);
void fkt_record_calls_load(void);
bool fkt_record_calls_stays(unsigned long address);
void fkt_record_calls_wait(void);
bool fkt_record_calls_end(const struct fkt_instrument_table *instruments);
void fkt_record_calls_totals(struct fkt_hit_counts *counts);

#endif /* FKT_CALLS_ARM_H */

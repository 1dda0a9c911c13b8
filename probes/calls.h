/* SPDX-License-Identifier: GPL-2.0-only */
/* Records calls of functions. */
#ifndef FKT_PROBES_CALLS_H
#define FKT_PROBES_CALLS_H

struct fkt_call_table;
struct fkt_hit_counts;

void fkt_record_calls_load(void);
int fkt_record_calls_begin(struct fkt_call_table *table);
void fkt_record_calls_wait(void);
void fkt_record_calls_end(void);
void fkt_record_calls_free(void);
void fkt_record_calls_totals(struct fkt_hit_counts *counts);

#endif /* FKT_PROBES_CALLS_H */

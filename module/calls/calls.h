/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces calls of kernel functions: the time of their entry, the time of their return, and the result. For one user at
 * a time.
 *
 * Calls that are asleep when tracing ends return through the code of this module, perhaps days later. So it is a
 * module of its own, which cannot be unloaded before the last of them has returned; its user can be.
 */
#ifndef FKT_CALLS_H
#define FKT_CALLS_H

#include <linux/types.h>

#include "call.h"

int fkt_calls_begin(const struct fkt_calls_plan *plan);
void fkt_calls_end(void);
int fkt_calls_arm(const struct fkt_calls_plan *plan);
void fkt_calls_disarm(const struct fkt_calls_plan *plan);
void fkt_calls_set_shortest(u64 ticks);
void fkt_calls_totals(struct fkt_calls_totals *totals);
unsigned long fkt_calls_in_flight(void);

#endif /* FKT_CALLS_H */

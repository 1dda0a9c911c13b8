/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of calls that return: for calls.c, which begins and ends the tracing. */
#ifndef FKT_CALLS_RETURNS_H
#define FKT_CALLS_RETURNS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "call.h"

/* Longer than any call. */
#define FKT_CALLS_LONGEST U64_MAX

DECLARE_PER_CPU(u64, fkt_calls_begun);
DECLARE_PER_CPU(u64, fkt_calls_returned);
DECLARE_PER_CPU(u64, fkt_calls_too_short);

u64 fkt_returns_open(int cpu);
void fkt_returns_watch(fkt_call_fn record);
void fkt_returns_set(const struct fkt_calls_plan *plan);
void fkt_returns_clear(void);
void fkt_returns_follow_shortest(const struct fkt_calls_plan *plan);
void fkt_returns_lower_shortest(const struct fkt_calls_plan *plan);
void fkt_returns_set_shortest(u64 ticks);

#endif /* FKT_CALLS_RETURNS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose values are unmodified arguments and results (call_quick.h), without a program. For hits/call_hits.c;
 * called with preemption disabled, in any context.
 */
#ifndef FKT_CALLS_QUICK_H
#define FKT_CALLS_QUICK_H

#include <linux/percpu.h>
#include <linux/preempt.h>

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "calls/calls.h"
#include "instruments/call_quick.h"
#include "instruments/instrument_table.h"
#include "ring/write.h"
#include "hits_quick.h"

/* Returns the function's slot; NULL: it is not here. */
static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_find_in(const struct fkt_call_quick *quick,
									       unsigned long body)
{
	return fkt_call_quick_search(quick, fkt_call_quick_first(quick, body), body);
}

static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_find(unsigned long body)
{
	return fkt_call_quick_find_in(READ_ONCE(fkt_call_quick), body);
}

enum fkt_call_quick_done {
	FKT_CALL_QUICK_NOT, /* nothing was done */
	FKT_CALL_QUICK_WRITTEN,
	FKT_CALL_QUICK_WAKES, /* written, and the page is complete: fkt_call_quick_wake() must be called with *run */
};

/*
 * Writes a call with its values, if the function has any. Precondition: the frame has the arguments that they need.
 * now: TSC at the return.
 */
static __always_inline enum fkt_call_quick_done fkt_call_quick_write(const struct fkt_call_quick_slot *slot,
								      const struct fkt_call *call, u64 ticks, u64 now,
								      u32 *run)
{
	const struct fkt_call_quick_values *values = slot->values;
	struct fkt_page_header *h;
	u64 next, *at;
	s64 i;

	/* So fkt_call_values_are_short(), and there is no change of the period in `ticks`. */
	BUILD_BUG_ON(FKT_CALL_NUMBER_BITS + 31 > 64);
	if (unlikely(ticks > S32_MAX ||
		     !fkt_ring_try_reserve(FKT_RING_OF_CPU, current->pid, READ_ONCE(values->bytes), 0, now, &h, &next)))
		return FKT_CALL_QUICK_NOT;
	at = fkt_ring_tried(h, next, 0);
	i = values->first;
	now -= ticks;
	/* So that the compiler takes no registers that must be saved. */
	OPTIMIZER_HIDE_VAR(now);
	OPTIMIZER_HIDE_VAR(i);
	at[i - 1] = now;
	OPTIMIZER_HIDE_VAR(i);
	at[i - 3] = values->head | ((now + ticks) & FKT_TIME_MASK);
	OPTIMIZER_HIDE_VAR(i);
	/* fkt_call_values_word() */
	at[i - 2] = ticks << FKT_CALL_NUMBER_BITS | slot->head;
	OPTIMIZER_HIDE_VAR(i);
	do {
		at[i] = fkt_quick_value(values, i, call);
		OPTIMIZER_HIDE_VAR(i);
	} while (++i);
	this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	*run = next >> 32;
	return fkt_ring_try_commit_by(h, values->commit) ? FKT_CALL_QUICK_WAKES : FKT_CALL_QUICK_WRITTEN;
}

/* The end of a probe whose event has completed its page: page `run`. */
static noinline void fkt_call_quick_wake(u32 run)
{
	fkt_wake(this_cpu_ptr(&fkt_rings), run);
	preempt_enable_notrace();
}

#endif /* FKT_CALLS_QUICK_H */

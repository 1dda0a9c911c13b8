/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls with values that are arguments and results as they are (call_quick.h), without a program. For probes/calls.c;
 * called with preemption disabled, in any context.
 */
#ifndef FKT_PROBES_CALLS_QUICK_H
#define FKT_PROBES_CALLS_QUICK_H

#include <linux/percpu.h>
#include <linux/preempt.h>

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "../calls/calls.h"
#include "call_quick.h"
#include "instrument_table.h"
#include "write.h"

/* Of the CPU that runs this. */
#define FKT_RING_OF_CPU ((struct fkt_ring FKT_RING_HERE *)(unsigned long)&fkt_rings)

/* Returns the function's slot; NULL: it is not here. */
static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_find(unsigned long body)
{
	const struct fkt_call_quick *quick = READ_ONCE(fkt_call_quick);

	return fkt_call_quick_search(quick, fkt_call_quick_first(quick, body), body);
}

enum fkt_call_quick_done {
	FKT_CALL_QUICK_NOT, /* nothing was done */
	FKT_CALL_QUICK_WRITTEN,
	FKT_CALL_QUICK_WAKES, /* written, and the page is complete: fkt_call_quick_wake() must be called with *run */
};

/*
 * Writes a call with its values, if the function has any. Precondition: the frame has what they need. now: TSC at the
 * return.
 */
static __always_inline enum fkt_call_quick_done fkt_call_quick_write(const struct fkt_call_quick_slot *slot,
								      const struct fkt_call *call, u64 ticks, u64 now,
								      u32 *run)
{
	const struct fkt_call_quick_values *values = slot->values;
	u64 next, value, sign, *at;
	struct fkt_page_header *h;
	s64 i;

	/* `small` shows whether fkt_call_values_are_short(), and that there is no change of the period in `ticks`. */
	BUILD_BUG_ON(FKT_CALL_NUMBER_BITS + FKT_TIME_BITS > 64);
	if (unlikely(!fkt_ring_try_reserve(FKT_RING_OF_CPU, current->pid, READ_ONCE(values->bytes),
					   ticks >> (64 - FKT_CALL_NUMBER_BITS - FKT_TIME_BITS), now, &h, &next)))
		return FKT_CALL_QUICK_NOT;
	at = fkt_ring_tried(h, next, 0);
	i = values->first;
	now -= ticks;
	/* These keep the compiler from taking more registers than those that need not be saved. */
	OPTIMIZER_HIDE_VAR(now);
	at[i - 1] = now;
	at[i - 3] = values->head | ((now + ticks) & FKT_TIME_MASK);
	at[i - 2] = fkt_call_values_word(slot->head, ticks);
	OPTIMIZER_HIDE_VAR(i);
	do {
		value = *(const u64 *)((const char *)call + values->from[FKT_CALL_QUICK_VALUES + i]);
		sign = values->sign[FKT_CALL_QUICK_VALUES + i];
		/* Subtracting the sign extends it. */
		at[i] = ((value & values->mask[FKT_CALL_QUICK_VALUES + i]) ^ sign) - sign;
	} while (++i);
	this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	*run = next >> 32;
	return fkt_ring_try_commit(h, READ_ONCE(values->bytes)) ? FKT_CALL_QUICK_WAKES : FKT_CALL_QUICK_WRITTEN;
}

/* The end of a probe whose event has completed its page: page `run`. */
static noinline void fkt_call_quick_wake(u32 run)
{
	fkt_wake(this_cpu_ptr(&fkt_rings), run);
	preempt_enable_notrace();
}

#endif /* FKT_PROBES_CALLS_QUICK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of calls that are arguments and results as they are (call_quick.h), without a program. For probes/calls.c;
 * called with preemption disabled, in any context.
 */
#ifndef FKT_PROBES_CALLS_QUICK_H
#define FKT_PROBES_CALLS_QUICK_H

#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "../calls/calls.h"
#include "call_quick.h"
#include "instrument_table.h"
#include "write.h"

/* Returns the function's slot; NULL: it is not here. */
static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_find(unsigned long body)
{
	const struct fkt_call_quick *quick = READ_ONCE(fkt_call_quick);
	const struct fkt_call_quick_slot *slot = fkt_call_quick_first(quick, body);

	return likely((u32)slot->body == (u32)body) ? slot : fkt_call_quick_search(quick, body);
}

static __always_inline void fkt_call_quick_copy(u64 *to, const u64 *words, const struct fkt_call_quick_value *value,
						u32 n)
{
	for (; n; n--, value++)
		/* Subtracting the sign extends it. */
		*to++ = ((words[value->from] & value->mask) ^ value->sign) - value->sign;
}

/* A function with values is entered: keeps the mark and the words for the return. Returns false if nothing was done. */
static __always_inline bool fkt_call_quick_keep(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room,
						u64 mark)
{
	const struct fkt_call_quick_slot *slot = fkt_call_quick_find(body);

	/* The frame may be for the programs of another table. */
	if (!slot || slot->body != FKT_CALL_QUICK_HAS_VALUES(body) || slot->values->kept >= room)
		return false;
	kept[0] = slot->values->mark ^ mark;
	fkt_call_quick_copy(kept + 1, arguments, slot->values->in, slot->values->kept);
	return true;
}

/* Writes the call with its values, which are at `call` and behind it. Returns false if nothing was done. */
static __always_inline bool fkt_call_quick_write(const struct fkt_call_quick_slot *slot, const struct fkt_call *call,
						 u64 ticks)
{
	const struct fkt_call_quick_values *values = slot->values;
	const u32 bytes = 8 * (1 + FKT_CALL_VALUES_HEAD + values->count);
	struct fkt_ring *ring = this_cpu_ptr(&fkt_rings);
	struct fkt_page_header *h;
	u64 clock, next, *at;

	/* `small` shows whether fkt_call_values_are_short(), and that there is no change of the period in `ticks`. */
	BUILD_BUG_ON(FKT_CALL_NUMBER_BITS + FKT_TIME_BITS > 64);
	if (!fkt_ring_try_reserve(ring, current->pid, bytes, ticks >> (64 - FKT_CALL_NUMBER_BITS - FKT_TIME_BITS), &h,
				  &clock, &next))
		return false;
	at = fkt_ring_tried(h, next, bytes);
	at[0] = values->head | (clock & FKT_TIME_MASK);
	at[1] = fkt_call_values_word(slot->head, ticks);
	/* The second is less only if the clock has stepped back since the return. */
	at[2] = min(clock - ((clock - call->entry) & ((1ULL << FKT_CALLS_PERIOD_BITS) - 1)), clock - ticks);
	fkt_call_quick_copy(at + 1 + FKT_CALL_VALUES_HEAD, (const u64 *)call, values->out, values->count);
	this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	if (fkt_ring_try_commit(h, bytes))
		fkt_wake(ring, next >> 32);
	return true;
}

/* The end of a probe whose event has completed its page: page `run`. */
static noinline void fkt_call_quick_wake(u32 run)
{
	fkt_wake(this_cpu_ptr(&fkt_rings), run);
	preempt_enable_notrace();
}

#endif /* FKT_PROBES_CALLS_QUICK_H */

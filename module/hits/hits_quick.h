/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hits of entries and instructions that are recorded without values, or only counted (call_quick.h), and helpers for
 * all hits that need no program. Called with preemption disabled, in any context.
 */
#ifndef FKT_HITS_QUICK_H
#define FKT_HITS_QUICK_H

#include <linux/percpu.h>

#include <fkt/events.h>

#include "arch/arch.h"
#include "instruments/call_quick.h"
#include "instruments/instrument_slot.h"
#include "ring/write.h"

/* The ring of the current CPU. */
#define FKT_RING_OF_CPU ((struct fkt_ring FKT_RING_HERE *)(unsigned long)&fkt_rings)

/* The hit's event has completed page `run`. */
static noinline FKT_SAVES_REGISTERS void fkt_hit_wake(u32 run)
{
	fkt_wake(this_cpu_ptr(&fkt_rings), run);
}

/*
 * Returns value i, counted from -values->count to -1, of those at `words`. By pointers: kernels that check the bounds
 * of arrays (UBSAN) would do so three times a value, with calls, for which the probe would save registers.
 */
static __always_inline u64 fkt_quick_value(const struct fkt_call_quick_values *values, s64 i, const void *words)
{
	u64 value = *(const u64 *)((const char *)words + *(values->from + FKT_CALL_QUICK_VALUES + i));

	/* Adding the sign and subtracting it again extends it. */
	asm("addq %[sign], %[value]\n\t"
	    "andq %[mask], %[value]\n\t"
	    "subq %[sign], %[value]"
	    : [value] "+&r"(value)
	    : [sign] "m"(*(values->sign + FKT_CALL_QUICK_VALUES + i)),
	      [mask] "m"(*(values->mask + FKT_CALL_QUICK_VALUES + i))
	    : "cc");
	return value;
}

/*
 * Records or counts the hit, if that takes no more than these instructions. body: as in the slot of the place. Returns
 * false if nothing was done: the place has no slot, or its slot is not the first one of the search; or the event needs
 * another path. Events of FKT's own threads always need one (fkt_ring_remembered()), so there is no test for these.
 */
static __always_inline bool fkt_hit_quickly(const struct fkt_call_quick *quick, unsigned long body)
{
	const struct fkt_call_quick_slot *slot = fkt_call_quick_first(quick, body);
	const u32 bytes = 8;
	struct fkt_page_header *h;
	u64 next, now;

	if (unlikely(slot->body != body)) {
		if (slot->body != FKT_CALL_QUICK_COUNT(body))
			return false;
		this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
		return true;
	}
	now = fkt_counter();
	if (unlikely(!fkt_ring_try_reserve(FKT_RING_OF_CPU, current->pid, bytes, 0, now, &h, &next)))
		return false;
	*fkt_ring_tried(h, next, bytes) = slot->head | (now & FKT_TIME_MASK);
	this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	if (fkt_ring_try_commit(h, bytes))
		fkt_hit_wake(next >> 32);
	return true;
}

#endif /* FKT_HITS_QUICK_H */

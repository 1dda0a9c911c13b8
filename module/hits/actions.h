/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions for the hits of instruments, the same for all kinds of places. Called with preemption disabled, in any
 * context, NMI included.
 */
#ifndef FKT_ACTIONS_H
#define FKT_ACTIONS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "instruments/instrument_table.h"
#include "ring/filter.h"
#include "ring/write.h"
#include "stacks.h"

/* Returns whether hits of this instrument are seen here and now. */
static __always_inline bool fkt_instrument_on(u32 layer)
{
	return fkt_layer_number_on(layer) && !(static_branch_unlikely(&fkt_key_special) && !fkt_keep_current());
}

/* Returns what becomes of a hit because of what its program says. */
static __always_inline enum fkt_fate fkt_fate_by(enum fkt_run says)
{
	if (likely(says == FKT_RUN_KEEP))
		return FKT_FATE_KEPT;
	return says == FKT_RUN_DROP ? FKT_FATE_DROPPED : FKT_FATE_MISSED + FKT_MISSED_MEMORY;
}

static __always_inline void fkt_count_hit(const struct fkt_instrument_slot *instrument, enum fkt_fate fate)
{
	this_cpu_inc(instrument->hits->of[fate]);
}

/* Counts hits whose number was counted elsewhere. */
static inline void fkt_count_hits(const struct fkt_instrument_slot *instrument, enum fkt_fate fate, u64 hits)
{
	this_cpu_add(instrument->hits->of[fate], hits);
}

enum fkt_fate fkt_act(const struct fkt_instrument_slot *instrument, const u64 *words, u32 n);

/* Returns whether the hit is of one of FKT's own threads, and the instrument leaves these out; then it is counted. */
static __always_inline bool fkt_leaves_out(const struct fkt_instrument_slot *instrument)
{
	if (likely(instrument->flag != FKT_FLAG_NOT_SELF) || !fkt_is_own_now())
		return false;
	fkt_count_hit(instrument, FKT_FATE_MISSED + FKT_MISSED_OWN);
	return true;
}

/* Does the action with a hit whose program is empty, writing no event, and counts the hit. */
static __always_inline void fkt_act_on(const struct fkt_instrument_slot *instrument)
{
	if (likely(instrument->action == FKT_ACTION_COUNT))
		fkt_count_hit(instrument, FKT_FATE_KEPT);
	else
		fkt_count_hit(instrument, fkt_act(instrument, NULL, 0));
}

/* Returns whether the place writes an event of each hit that is kept. */
static __always_inline bool fkt_writes_hits(const struct fkt_instrument_slot *instrument)
{
	return instrument->action == FKT_ACTION_RECORD || instrument->action == FKT_ACTION_STACK;
}

/* Called before the event of a hit is written. Returns false if its stack cannot be taken: the hit is missed. */
static __always_inline bool fkt_event_begin(const struct fkt_instrument_slot *instrument)
{
	return likely(instrument->action != FKT_ACTION_STACK) || fkt_stack_begin();
}

/* Called behind that event, if fkt_event_begin() has returned true. words: memory for FKT_STACK_FRAMES. */
static __always_inline void fkt_event_end(const struct fkt_instrument_slot *instrument,
					  const struct fkt_stack_place *place, u64 *words)
{
	if (unlikely(instrument->action == FKT_ACTION_STACK))
		fkt_stack_end(instrument->number, place, words);
}

#endif /* FKT_ACTIONS_H */

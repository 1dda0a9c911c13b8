// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the held calls that a recorded call contains (struct fkt_keep). fkt_calls holds them (calls/held.c): they were
 * dropped when they returned, and are recorded only because a call that contains them is.
 */

#include <linux/preempt.h>

#include <fkt/call_event.h>
#include <fkt/events.h>
#include <fkt/program.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "calls/calls.h"
#include "drain/recording.h"
#include "instruments/call_table.h"
#include "instruments/instruments_now.h"
#include "ring/write.h"
#include "actions.h"
#include "call_children.h"
#include "calls_write.h"

/* Half of the range that the short event has for the begin is left for the time until the event is written. */
#define SHORT_AGE_BITS (FKT_CALL_BEGIN_BITS - 1)

/* Returns the context that the call returned in. */
static enum fkt_level level_of(const struct fkt_held_call *held)
{
	if (held->context & FKT_IN_HARDIRQ)
		return FKT_LEVEL_IRQ;
	return held->context & FKT_IN_SOFTIRQ ? FKT_LEVEL_SOFTIRQ : FKT_LEVEL_TASK;
}

/* For a function whose event has the context as its only value. */
static noinline void write_with_context(u32 number, u64 begin, const struct fkt_held_call *held)
{
	u64 words[FKT_CALL_VALUES_LONG_HEAD + 1];

	words[FKT_CALL_VALUES_LONG_HEAD] = level_of(held);
	fkt_call_write_values(number, begin, held->ticks, words, 1, false);
}

static void write_child(u32 number, u64 begin, u64 ticks)
{
	if (likely(!((fkt_counter() - begin) >> SHORT_AGE_BITS))) {
		fkt_call_write(number, begin, ticks);
	} else {
		const u64 words[] = { ticks, begin + fkt_clock_offset() };

		fkt_emit(FKT_E_CALL_LONG, number, words, FKT_N_CALL_LONG);
	}
}

/* fkt_take_held_fn */
static void take(const struct fkt_held_call *held, void *unused)
{
	const struct fkt_instrument_table *now = fkt_instruments();
	const unsigned long body = (s32)held->body;
	const struct fkt_call_slot *slot = now && now->calls ? fkt_call_find(now->calls, body) : NULL;
	const struct fkt_call_programs *programs = slot ? now->calls->asks[slot - now->calls->slots].programs : NULL;
	const struct fkt_call call = { .entry = held->entry };
	u64 begin;

	/* The function is gone, or only triggers are on it. */
	if (!programs || !fkt_writes_hits(slot->instrument) ||
	    !fkt_layer_number_on(fkt_call_layer(slot)))
		return;
	begin = fkt_call_began(&call, held->ticks);
	/* Before a hit that began the recording nothing is recorded. */
	if (begin == FKT_CALLS_NO_BEGIN || begin + held->ticks + fkt_clock_offset() < READ_ONCE(fkt_recording.since))
		return;
	fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
	if (unlikely(programs->exit->words))
		write_with_context(slot->number & FKT_ARG_MASK, begin, held);
	else
		write_child(slot->number & FKT_ARG_MASK, begin, held->ticks);
}

/*
 * Called before the event of a call in a frame whose calls are held is written, with preemption disabled, in any
 * context. instrument: of that call; task: not NULL.
 */
void fkt_call_children(const struct fkt_instrument_slot *instrument, const struct fkt_call *call, u64 ticks,
		       const struct fkt_call_task *task, fkt_calls_take_held_fn take_held)
{
	const u64 lost = take_held(call, ticks, task, take, NULL);

	if (unlikely(lost))
		fkt_count_hits(instrument, FKT_FATE_MISSED + FKT_MISSED_HELD, lost);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions: what is called at an entry or a return. It runs in any context, NMIs included.
 */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "arch/arch.h"
#include "calls/calls.h"
#include "instruments/call_quick.h"
#include "instruments/call_table.h"
#include "instruments/instruments_now.h"
#include "instruments/programs.h"
#include "instruments/task_flags.h"
#include "ring/write.h"
#include "actions.h"
#include "call_children.h"
#include "call_context.h"
#include "call_hits.h"
#include "calls_quick.h"
#include "calls_write.h"
#include "return_probes.h"

struct fkt_call_probes fkt_call_probes;
DEFINE_PER_CPU(u64, fkt_call_strangers);
DEFINE_PER_CPU(u64, fkt_call_too_short);

#define CUT FKT_CALL_PROBES_CUT

/* Returns the functions in force; NULL: the table has none and never had. Preemption is disabled. */
static __always_inline const struct fkt_call_table *functions(void)
{
	const struct fkt_instrument_table *now = fkt_instruments();

	return likely(now) ? now->calls : NULL;
}

/* programs: NULL if only an earlier table of the recording has the function. */
static const struct fkt_call_ask *ask_of(const struct fkt_call_table *table, const struct fkt_call_slot *slot)
{
	return &table->asks[slot - table->slots];
}

/* Counts a call of a function that no table of the recording has. */
static void count_stranger(void)
{
	if (!READ_ONCE(fkt_call_probes.is_changing))
		this_cpu_inc(fkt_call_strangers);
}

/* ---- a function is entered ---- */

/* A call whose first program runs. */
struct asked {
	const u64 *arguments; /* the six registers */
	unsigned long stack; /* the stack pointer when the function was entered */
};

/* Runs the first program, and keeps the words that it emits, of which there is room for `room` less one. */
static enum fkt_fate keep(const struct fkt_call_programs *programs, const struct asked *call, u64 *kept,
			  unsigned int room)
{
	struct fkt_emitted emitted = { .words = kept + 1 };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	/* The frame is for the programs of another table. */
	if (unlikely(programs->entry->words >= room))
		return FKT_FATE_MISSED + FKT_MISSED_STALE;
	scratch = fkt_scratch_get();
	if (likely(scratch))
		fate = fkt_fate_by(fkt_run_program(programs->entry, call->arguments, call->stack, scratch, &emitted,
						   fkt_read_memory));
	fkt_scratch_put();
	kept[0] = (programs->mark ^ fkt_call_probes.mark) | (emitted.cut ? CUT : 0);
	return fate;
}

/* Preemption is disabled. */
static bool keeps(const struct fkt_call_slot *slot, const struct fkt_call_programs *programs,
		  const struct asked *call, u64 *kept, unsigned int room)
{
	enum fkt_fate fate = keep(programs, call, kept, room);

	/* A hit that is kept here is counted when it returns. */
	if (fate != FKT_FATE_KEPT)
		fkt_count_hit(slot->instrument, fate);
	return fate == FKT_FATE_KEPT;
}

/* As ask(), for any function. Preemption is disabled. */
static noinline bool ask_any(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, body) : NULL;
	/* The words that are kept have the body's address behind them. */
	const struct asked call = { arguments, fkt_call_stack((const unsigned long *)kept + room) };
	const struct fkt_call_programs *programs;

	if (unlikely(!slot)) {
		count_stranger();
		return false;
	}
	programs = ask_of(table, slot)->programs;
	return likely(programs) && fkt_instrument_on(fkt_call_layer(slot)) && !fkt_leaves_out(slot->instrument) &&
	       keeps(slot, programs, &call, kept, room);
}

/* fkt_call_ask_fn */
static bool ask(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	bool is_traced;

	preempt_disable_notrace();
	is_traced = ask_any(arguments, kept, body, room);
	preempt_enable_notrace();
	return is_traced;
}

/* ---- a call returns ---- */

/* A call that has returned. */
struct returned {
	const struct fkt_call_table *table; /* the one in force; NULL: none */
	const struct fkt_call *call;
	unsigned long body; /* as in struct fkt_plain_call */
	u64 begin; /* TSC; FKT_CALLS_NO_BEGIN: fkt_call_began() */
	u64 ticks; /* its duration */
	const struct fkt_call_task *task; /* NULL: it is not known */
	const u64 *arguments; /* the six registers; NULL: its frame does not have them */
	unsigned long stack; /* the stack pointer when the function was entered */
	/* on the stack: the caller's frames are above this address, those of the call and of the probe are not */
	const void *frames;
	/* if its frame is one whose calls are held: is set to FKT_CALL_HOLD if it was not recorded; else NULL */
	enum fkt_call_held *held;
};

/* Writes the held calls that the call contains. Called before the call's own event is written. */
static __always_inline void bring_along(const struct fkt_instrument_slot *instrument, const struct returned *call)
{
	if (unlikely(call->held) && call->task)
		fkt_call_children(instrument, call->call, call->ticks, call->task, fkt_call_probes.take_held);
}

/* A call whose programs use words of its task, which are not known. */
static enum fkt_fate without_task(const struct returned *call)
{
	/* Stale: the frame is of an earlier recording, or of another table. */
	const bool is_stale = call->begin < max(fkt_call_probes.since, call->table->since);

	return FKT_FATE_MISSED + (is_stale ? FKT_MISSED_STALE : FKT_MISSED_THREAD);
}

/* Runs the second program, and writes the call if that keeps it. kept: words of the first program. */
static enum fkt_fate ask_again(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
			       const struct returned *call, const u64 *kept, bool is_cut, struct fkt_scratch *scratch)
{
	const struct fkt_stack_place place = { .first = call->body, .frames = call->frames };
	const struct fkt_call_programs *programs = asked->programs;
	const u32 number = slot->number & FKT_ARG_MASK;
	struct fkt_emitted emitted = { .words = scratch->words + FKT_CALL_VALUES_LONG_HEAD };
	enum fkt_run says;
	u32 i;

	scratch->hit[FKT_CALL_RESULT] = call->call->result;
	scratch->hit[FKT_CALL_RESULT_HIGH] = call->call->result_high;
	scratch->hit[FKT_CALL_DURATION] = call->ticks;
	if (call->task) {
		scratch->hit[FKT_CALL_CPUTIME] = fkt_call_on_cpu(call->task, call->ticks);
		scratch->hit[FKT_CALL_DEPTH] = fkt_call_depth(call->task);
	} else if (programs->of_task) {
		return without_task(call);
	}
	for (i = 0; i < programs->entry->words; i++)
		scratch->hit[FKT_CALL_FIRST_KEPT + i] = kept[i];
	says = fkt_run_program(programs->exit, scratch->hit, call->stack, scratch, &emitted, fkt_read_memory);
	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	bring_along(slot->instrument, call);
	if (asked->exits)
		fkt_call_write_exit(number, scratch->words + FKT_CALL_VALUES_LONG_HEAD, emitted.used,
				    is_cut || emitted.cut);
	else if (programs->exit->words)
		fkt_call_write_values(number, call->begin, call->ticks, scratch->words, emitted.used,
				      is_cut || emitted.cut);
	else
		fkt_call_write(number, call->begin, call->ticks);
	fkt_event_end(slot->instrument, &place, scratch->words);
	return FKT_FATE_KEPT;
}

/* Returns what becomes of the call by its second program. */
static noinline enum fkt_fate fate_of(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				      const struct returned *call, const u64 *kept, bool is_cut)
{
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch))
		fate = ask_again(slot, asked, call, kept, is_cut, scratch);
	fkt_scratch_put();
	return fate;
}

/* A call that programs drop or keep, with the values that they fetch. Preemption is disabled. */
static __always_inline void record_asked(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
					 const struct returned *call, const u64 *kept, bool is_cut)
{
	const struct fkt_call_programs *programs = asked->programs;
	enum fkt_fate fate = FKT_FATE_DROPPED;

	/* A call whose task's words are used, but not known, is missed, not dropped. */
	if (!programs->task_flag || fkt_task_flag_is_set(programs->task_flag - 1) ||
	    (programs->of_task && !call->task))
		fate = fate_of(slot, asked, call, kept, is_cut);
	fkt_count_hit(slot->instrument, fate);
	if (call->held && fate == FKT_FATE_DROPPED && fkt_writes_hits(slot->instrument))
		*call->held = FKT_CALL_HOLD;
}

/*
 * A call that began under another table: its function is gone, or now has programs that did not run at the entry. A
 * call that begins at a function that is gone, but not disarmed yet, is no hit.
 */
static void count_stale(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked, const struct returned *call)
{
	if (asked->programs || call->begin == FKT_CALLS_NO_BEGIN || call->begin < call->table->since)
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
}

/* A call whose first program runs only when it returns. */
static void record_late(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked, const struct returned *call)
{
	const struct asked entered = { call->arguments, call->stack };
	u64 kept[1 + FKT_CALL_QUICK_VALUES];

	if (keeps(slot, asked->programs, &entered, kept, ARRAY_SIZE(kept)))
		record_asked(slot, asked, call, kept + 1, false);
}

/* A call without kept words, whose function has programs, or is gone. */
static noinline void record_unkept(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				   const struct returned *call)
{
	if (likely(asked->programs && !asked->programs->entry->insns))
		record_asked(slot, asked, call, NULL, false);
	else if (call->arguments && asked->programs && asked->programs->may_wait)
		record_late(slot, asked, call);
	else
		count_stale(slot, asked, call);
}

/* A hit of one of the function's instruments. */
static __always_inline void record_hit(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				       const struct returned *call)
{
	if (!fkt_instrument_on(fkt_call_layer(slot)) || fkt_leaves_out(slot->instrument))
		return;
	if (unlikely(call->begin == FKT_CALLS_NO_BEGIN)) {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
	} else if ((s32)slot->number < 0) {
		record_unkept(slot, asked, call);
	} else if (slot->number & FKT_CALL_ACTS) {
		fkt_act_on(slot->instrument);
	} else {
		bring_along(slot->instrument, call);
		fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
		fkt_call_write(slot->number & FKT_ARG_MASK, call->begin, call->ticks);
	}
}

/* A call of any function. Preemption is disabled. */
static noinline void record_any(const struct returned *call)
{
	const struct fkt_call_table *table = call->table;
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	const struct fkt_call_more *more;

	if (unlikely(!slot)) {
		/* A call that began in an earlier recording may be of a function that only that one traced. */
		if (call->begin >= fkt_call_probes.since && call->begin != FKT_CALLS_NO_BEGIN)
			count_stranger();
		return;
	}
	record_hit(slot, ask_of(table, slot), call);
	for (more = ask_of(table, slot)->more; unlikely(more); more = more->ask.more)
		record_hit(&more->slot, &more->ask, call);
}

/*
 * As fkt_leaves_out(), in few instructions. FKT's own threads always come here, never to a faster path, because
 * last_pid is never their number (fkt_ring_remembered()).
 */
static __always_inline bool leaves_out_quickly(const struct fkt_call_quick *quick,
					       const struct fkt_call_quick_slot *slot)
{
	return fkt_is_own_now() && slot && fkt_leaves_out(quick->instruments[slot - quick->slots]);
}

/* The part of record() that calls functions: it is apart so that record() need not save registers. */
static noinline void record_slowly(const struct fkt_plain_call *plain, u64 ticks)
{
	const struct fkt_call_quick *quick = READ_ONCE(fkt_call_quick);
	const struct fkt_call_quick_slot *slot = fkt_call_quick_find_in(quick, plain->body);

	if (leaves_out_quickly(quick, slot)) {
		preempt_enable_notrace();
		return;
	}
	if (slot && slot->body == FKT_CALL_QUICK_COUNT(plain->body) && !(ticks >> FKT_CALLS_TICK_BITS))
		this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	else
		record_any(&(struct returned){
			.table = functions(), .call = &plain->call, .body = plain->body,
			.begin = fkt_call_began(&plain->call, ticks), .ticks = ticks, .frames = plain,
			.stack = fkt_call_stack(&plain->body),
		});
	preempt_enable_notrace();
}

/* As record_slowly(), for a function with values that need no arguments. */
static noinline void record_values(const struct fkt_call_quick_slot *slot, const struct fkt_plain_call *plain,
				   u64 ticks, u64 now)
{
	u32 run;
	const enum fkt_call_quick_done done = fkt_call_quick_write(slot, &plain->call, ticks, now, &run);

	if (unlikely(done == FKT_CALL_QUICK_NOT))
		return record_slowly(plain, ticks);
	if (unlikely(done == FKT_CALL_QUICK_WAKES))
		return fkt_call_quick_wake(run);
	preempt_enable_notrace();
}

/*
 * The slot at `place` is that of the function, without values. Each hidden variable keeps the compiler from computing
 * the slot's address by an instruction of its own.
 */
static __always_inline void record_by(const struct fkt_call_quick *quick, u64 place, const struct fkt_plain_call *plain,
				      u64 ticks, u64 now)
{
	const u32 bytes = 8 * (1 + FKT_N_CALL);
	struct fkt_page_header *h;
	u64 next;

	if (unlikely(!fkt_ring_try_reserve(FKT_RING_OF_CPU, current->pid, bytes, ticks, now, &h, &next)))
		return record_slowly(plain, ticks);
	OPTIMIZER_HIDE_VAR(place);
	fkt_ring_tried(h, next, bytes)[0] = fkt_call_quick_at(quick, place)->head | (now & FKT_TIME_MASK);
	OPTIMIZER_HIDE_VAR(h);
	/* The entry's period is above the bits that the word has. */
	fkt_ring_tried(h, next, bytes)[1] = fkt_call_word(plain->call.entry, ticks);
	OPTIMIZER_HIDE_VAR(place);
	this_cpu_inc(fkt_call_quick_at(quick, place)->hits->of[FKT_FATE_KEPT]);
	if (fkt_ring_try_commit(h, bytes))
		return fkt_call_quick_wake(next >> 32);
	preempt_enable_notrace();
}

/* The rest of record() for a function with values, or whose slot is not the first one of the search. */
static noinline void record_further(const struct fkt_plain_call *plain, u64 ticks, u64 now)
{
	const struct fkt_call_quick *quick = READ_ONCE(fkt_call_quick);
	const struct fkt_call_quick_slot *slot = fkt_call_quick_first(quick, plain->body);

	/* In any other slot, the table of all functions drops the call. */
	if (slot->body == FKT_CALL_QUICK_NEEDS_FLAG(plain->body) && !(ticks >> FKT_CALLS_TICK_BITS) &&
	    !fkt_task_flag_is_set(slot->head)) {
		this_cpu_inc(slot->hits->of[FKT_FATE_DROPPED]);
		preempt_enable_notrace();
		return;
	}
	slot = fkt_call_quick_search(quick, slot, plain->body);
	if (slot && slot->body == plain->body)
		record_by(quick, (const void *)slot - (const void *)quick->slots, plain, ticks, now);
	else if (slot && slot->body == FKT_CALL_QUICK_HAS_VALUES(plain->body) && !slot->values->of_arguments)
		record_values(slot, plain, ticks, now);
	else
		record_slowly(plain, ticks);
}

/* fkt_call_fn */
static void record(u64 unused, u64 ticks, u64 now)
{
	const struct fkt_plain_call *plain = FKT_CALL_ON_STACK();
	const struct fkt_call_quick_slot *slot;
	const struct fkt_call_quick *quick;
	u64 place;

	preempt_disable_notrace();
	quick = READ_ONCE(fkt_call_quick);
	place = fkt_call_quick_place(quick, plain->body);
	if (likely(fkt_call_quick_at(quick, place)->body == plain->body))
		return record_by(quick, place, plain, ticks, now);
	OPTIMIZER_HIDE_VAR(place);
	slot = fkt_call_quick_at(quick, place);
	/* Makes the compiler read again, which saves a register above. */
	barrier();
	if (slot->body != FKT_CALL_QUICK_COUNT(plain->body) || ticks >> FKT_CALLS_TICK_BITS)
		return record_further(plain, ticks, now);
	this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	preempt_enable_notrace();
}

/* The part of record_arguments() that calls functions, as record_slowly(). */
static noinline void record_arguments_slowly(const struct fkt_arguments_call *arguments, u64 ticks)
{
	record_any(&(struct returned){
		.table = functions(), .call = &arguments->call, .body = arguments->body,
		.begin = fkt_call_began(&arguments->call, ticks), .ticks = ticks, .arguments = arguments->arguments,
		.frames = arguments, .stack = fkt_call_stack(&arguments->body),
	});
	preempt_enable_notrace();
}

static __always_inline void record_arguments_by(const struct fkt_call_quick_slot *slot,
						const struct fkt_arguments_call *arguments, u64 ticks, u64 now)
{
	u32 run;
	const enum fkt_call_quick_done done = fkt_call_quick_write(slot, &arguments->call, ticks, now, &run);

	if (unlikely(done == FKT_CALL_QUICK_NOT))
		return record_arguments_slowly(arguments, ticks);
	if (unlikely(done == FKT_CALL_QUICK_WAKES))
		return fkt_call_quick_wake(run);
	preempt_enable_notrace();
}

/* As record_further(). */
static noinline void record_arguments_further(const struct fkt_arguments_call *arguments, u64 ticks, u64 now)
{
	const struct fkt_call_quick_slot *slot = fkt_call_quick_find(arguments->body);

	if (slot)
		record_arguments_by(slot, arguments, ticks, now);
	else
		record_arguments_slowly(arguments, ticks);
}

/* fkt_call_arguments_fn */
static void record_arguments(u64 unused, u64 ticks, u64 now)
{
	const struct fkt_arguments_call *arguments = FKT_CALL_ON_STACK();
	const struct fkt_call_quick_slot *slot;

	preempt_disable_notrace();
	slot = fkt_call_quick_first(READ_ONCE(fkt_call_quick), arguments->body);
	if (likely((u32)slot->body == (u32)arguments->body))
		record_arguments_by(slot, arguments, ticks, now);
	else
		record_arguments_further(arguments, ticks, now);
}

/* A call with kept words. Preemption is disabled. */
static void record_kept_any(const struct returned *call, const u64 *kept)
{
	const struct fkt_call_table *table = call->table;
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	const struct fkt_call_ask *asked;

	if (unlikely(!slot) || !fkt_instrument_on(fkt_call_layer(slot)) || fkt_leaves_out(slot->instrument))
		return;
	asked = ask_of(table, slot);
	if (likely(asked->programs && (kept[0] & ~CUT) == (asked->programs->mark ^ fkt_call_probes.mark) &&
		   call->begin != FKT_CALLS_NO_BEGIN))
		record_asked(slot, asked, call, kept + 1, kept[0] & CUT);
	else
		count_stale(slot, asked, call);
}

/* fkt_call_kept_fn */
static void record_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			const struct fkt_call_task *task)
{
	struct returned returned = {
		.call = call, .body = *body, .begin = fkt_call_began(call, ticks), .ticks = ticks, .task = task,
		.frames = call, .stack = fkt_call_stack(body),
	};

	preempt_disable_notrace();
	returned.table = functions();
	if (kept)
		record_kept_any(&returned, kept);
	else
		record_any(&returned);
	preempt_enable_notrace();
}

/* fkt_call_held_fn */
static enum fkt_call_held record_held(const struct fkt_call *call, u64 ticks, const unsigned long *body,
				      const struct fkt_call_task *task)
{
	enum fkt_call_held held = FKT_CALL_DONE;

	preempt_disable_notrace();
	record_any(&(struct returned){
		.table = functions(), .call = call, .body = *body, .begin = fkt_call_began(call, ticks), .ticks = ticks,
		.task = task, .frames = call, .stack = fkt_call_stack(body), .held = &held,
	});
	preempt_enable_notrace();
	return held;
}

/* fkt_call_of_fn: a call is not traced, because its stack is nearly used up. */
static void no_room(unsigned long body)
{
	const struct fkt_call_table *table;
	const struct fkt_call_slot *slot;
	const struct fkt_call_more *more;

	preempt_disable_notrace();
	table = functions();
	slot = table ? fkt_call_find(table, body) : NULL;
	if (slot && fkt_instrument_on(fkt_call_layer(slot)) && !fkt_leaves_out(slot->instrument)) {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STACK);
		for (more = ask_of(table, slot)->more; more; more = more->ask.more)
			fkt_count_hit(more->slot.instrument, FKT_FATE_MISSED + FKT_MISSED_STACK);
	}
	preempt_enable_notrace();
}

/* ---- functions with a return probe; called by it with preemption disabled ---- */

/* Returns whether hits of one of the function's instruments are seen here and now. */
static bool is_any_on(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked)
{
	for (; !fkt_instrument_on(fkt_call_layer(slot)); slot = &asked->more->slot, asked = &asked->more->ask)
		if (!asked->more)
			return false;
	return true;
}

/* A function is entered. body: as in struct fkt_call. Returns whether its return is of interest. */
bool fkt_record_calls_entered(unsigned long body, const struct pt_regs *regs, struct fkt_probed_call *probed)
{
	const u64 arguments[] = FKT_ARGUMENTS(regs);
	const struct asked call = { arguments, fkt_sp(regs) };
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = table ? fkt_call_find(table, body) : NULL;
	const struct fkt_call_programs *programs = slot ? ask_of(table, slot)->programs : NULL;

	if (!programs || !is_any_on(slot, ask_of(table, slot)))
		return false;
	probed->keeps = programs->entry->insns;
	if (probed->keeps && !keeps(slot, programs, &call, probed->kept, ARRAY_SIZE(probed->kept)))
		return false;
	probed->offset = fkt_clock_offset();
	probed->begin = fkt_counter();
	return true;
}

/* The function returns. probed: as fkt_record_calls_entered() has filled it when it returned true. */
void fkt_record_calls_returned(unsigned long body, const struct pt_regs *regs, const struct fkt_probed_call *probed)
{
	const struct fkt_call words = {
		.result = fkt_result(regs), .result_high = fkt_result_high(regs), .entry = probed->begin,
	};
	const struct fkt_call_table *table = functions();
	struct returned call = {
		.table = table, .call = &words, .body = body,
		.begin = probed->begin, .ticks = fkt_counter() - probed->begin,
		.frames = regs + 1, .stack = (unsigned long)(regs + 1),
	};

	if (!table)
		return;
	/* The clock stepped back, or began anew while the machine slept. */
	if (unlikely((s64)call.ticks < 0 || probed->offset != fkt_clock_offset()))
		call.begin = FKT_CALLS_NO_BEGIN;
	if (call.begin != FKT_CALLS_NO_BEGIN && call.ticks < table->shortest_probed)
		this_cpu_inc(fkt_call_too_short);
	else if (probed->keeps)
		record_kept_any(&call, probed->kept);
	else
		record_any(&call);
}

/* Sets what the module fkt_calls calls. */
void fkt_call_probes_give(struct fkt_calls_plan *plan)
{
	plan->record = record;
	plan->record_arguments = record_arguments;
	plan->ask = ask;
	plan->record_kept = record_kept;
	plan->record_held = record_held;
	plan->no_room = no_room;
}

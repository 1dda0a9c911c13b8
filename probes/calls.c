// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions. The module fkt_calls (calls/) traces them; it is loaded when the first
 * recording asks for calls. What is called here at an entry or a return runs in any context, NMIs included.
 */

#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "../calls/calls.h"
#include "actions.h"
#include "call_context.h"
#include "call_table.h"
#include "calls.h"
#include "programs.h"
#include "return_probes.h"
#include "write.h"

/*
 * Protected by the recording's lock. The table and the mark are read by the probes below, without a lock: they are set
 * before fkt_calls_begin(), and the table is freed after fkt_calls_end(), when no probe runs any more.
 */
static struct fkt_calls_state {
	struct fkt_call_table table;
	/*
	 * First of the words that are kept of a call: random, so that a call which an earlier recording kept words of
	 * is known. Its lowest bit is 0, and 1 in the kept word if a text was cut.
	 */
	u64 mark;
	u64 since; /* TSC before the first of its calls */
	bool is_on;
	int (*begin)(const struct fkt_calls_plan *plan);
	void (*end)(void);
	void (*totals)(struct fkt_calls_totals *totals);
	struct fkt_calls_totals last; /* of the last recording, when is_on is false */
} calls;

/*
 * Calls of functions that are not in the table because they replace one that is (livepatch). Since the module was
 * loaded.
 */
static DEFINE_PER_CPU(u64, strangers);
static u64 strangers_before;

#define CUT 1ULL

static const struct fkt_call_programs *programs_of(const struct fkt_call_slot *slot)
{
	return calls.table.asks[slot - calls.table.slots].programs;
}

/* Returns whether the event of a call is that of its exit. */
static bool exits(const struct fkt_call_slot *slot)
{
	return calls.table.asks[slot - calls.table.slots].exits;
}

/* ---- a function is entered ---- */

/* Runs the first program, and keeps the words that it emits. Preemption is disabled. */
static bool keeps(const struct fkt_call_slot *slot, const u64 *arguments, u64 *kept)
{
	struct fkt_emitted emitted = { .words = kept + 1 };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(fkt_scratch_get()))
		fate = fkt_fate_by(fkt_program_run(programs_of(slot)->entry, arguments, &emitted, fkt_read_memory,
						   fkt_call_context));
	fkt_scratch_put();
	kept[0] = calls.mark | (emitted.cut ? CUT : 0);
	/* A hit that is kept here is counted when it returns. */
	if (fate != FKT_FATE_KEPT)
		fkt_count_hit(slot->instrument, fate);
	return fate == FKT_FATE_KEPT;
}

/* fkt_call_ask_fn */
static bool ask(const u64 *arguments, u64 *kept, unsigned long body)
{
	const struct fkt_call_slot *slot;
	bool is_traced = false;

	preempt_disable_notrace();
	slot = fkt_call_find(&calls.table, body);
	if (unlikely(!slot))
		this_cpu_inc(strangers);
	else if (fkt_instrument_on(fkt_call_layer(slot)))
		is_traced = keeps(slot, arguments, kept);
	preempt_enable_notrace();
	return is_traced;
}

/* ---- writing ---- */

/* Writes the exit of a call with `n` values, for which the words before `values` are free. */
static void write_exit(u32 number, u64 *values, u32 n, bool is_cut)
{
	if (!n) {
		fkt_emit0(FKT_E_FUNCTION_EXIT, number);
		return;
	}
	values[-1] = number;
	fkt_emit(FKT_E_FUNCTION_EXIT_VALUES, (n + 1) | (is_cut ? FKT_VAR_CUT : 0), values - 1, n + 1);
}

/* Writes a call with `n` values, for which the first words of `words` are free. */
static void write_values(u32 number, u64 begin, u64 ticks, u64 *words, u32 n, bool is_cut)
{
	u32 arg = is_cut ? FKT_VAR_CUT : 0;

	begin += fkt_clock_offset();
	if (fkt_call_values_are_short(ticks)) {
		words += FKT_CALL_VALUES_LONG_HEAD - FKT_CALL_VALUES_HEAD;
		words[0] = fkt_call_values_word(number, ticks);
		words[1] = begin;
		n += FKT_CALL_VALUES_HEAD;
		fkt_emit(FKT_E_CALL_VALUES, arg | n, words, n);
	} else {
		words[0] = number;
		words[1] = ticks;
		words[2] = begin;
		n += FKT_CALL_VALUES_LONG_HEAD;
		fkt_emit(FKT_E_CALL_VALUES_LONG, arg | n, words, n);
	}
}

/* Writes any call, in any recording. */
static noinline void write_any(u32 number, u64 begin, u64 ticks)
{
	begin += fkt_clock_offset();
	if (fkt_call_is_short(ticks)) {
		u64 word = fkt_call_word(begin, ticks);

		fkt_emit(FKT_E_CALL, number, &word, FKT_N_CALL);
	} else {
		u64 words[] = { ticks, begin };

		fkt_emit(FKT_E_CALL_LONG, number, words, FKT_N_CALL_LONG);
	}
}

/* ... if neither the filter nor the clock needs anything, and the event is written as most are. */
static __always_inline bool write_quickly(u32 number, u64 begin, u64 ticks)
{
	if (static_branch_unlikely(&fkt_key_special) || !fkt_call_is_short(ticks))
		return false;
	return fkt_ring_try_write(this_cpu_ptr(&fkt_rings), fkt_head(FKT_E_CALL, number), current->pid,
				  fkt_call_word(begin, ticks));
}

static __always_inline void write(u32 number, u64 begin, u64 ticks)
{
	if (likely(write_quickly(number, begin, ticks)))
		fkt_ask(FKT_E_CALL);
	else
		write_any(number, begin, ticks);
}

/* ---- a call returns ---- */

/* Runs the second program, and writes the call if it keeps it. kept: words of the first program. */
static enum fkt_fate ask_again(const struct fkt_call_slot *slot, const struct fkt_call *call, u64 ticks,
			      const u64 *kept, bool is_cut, struct fkt_scratch *scratch)
{
	const struct fkt_call_programs *programs = programs_of(slot);
	const u32 number = slot->number & FKT_ARG_MASK;
	struct fkt_emitted emitted = { .words = scratch->words + FKT_CALL_VALUES_LONG_HEAD };
	enum fkt_run says;
	u32 i;

	scratch->hit[FKT_CALL_RESULT] = call->result;
	scratch->hit[FKT_CALL_RESULT_HIGH] = call->result_high;
	scratch->hit[FKT_CALL_DURATION] = ticks;
	for (i = 0; i < programs->entry->words; i++)
		scratch->hit[FKT_CALL_FIRST_KEPT + i] = kept[i];
	says = fkt_program_run(programs->exit, scratch->hit, &emitted, fkt_read_memory, fkt_call_context);
	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	if (exits(slot))
		write_exit(number, scratch->words + FKT_CALL_VALUES_LONG_HEAD, emitted.used, is_cut || emitted.cut);
	else if (programs->exit->words)
		write_values(number, call->begin, ticks, scratch->words, emitted.used, is_cut || emitted.cut);
	else
		write(number, call->begin, ticks);
	return FKT_FATE_KEPT;
}

/* A call whose programs decide, and fetch what is recorded. Preemption is disabled. */
static noinline void record_asked(const struct fkt_call_slot *slot, const struct fkt_call *call, u64 end,
				  const u64 *kept, bool is_cut)
{
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch))
		fate = ask_again(slot, call, end - call->begin, kept, is_cut, scratch);
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* fkt_call_fn */
static void record(const struct fkt_call *call, u64 end)
{
	const struct fkt_call_slot *slot;

	preempt_disable_notrace();
	slot = fkt_call_find(&calls.table, call->body);
	if (unlikely(!slot)) {
		/* A call that began in an earlier recording may be of a function that only that one traced. */
		if (call->begin >= calls.since && call->begin != FKT_CALLS_NO_BEGIN)
			this_cpu_inc(strangers);
		goto out;
	}
	if (!fkt_instrument_on(fkt_call_layer(slot)))
		goto out;
	if (unlikely(call->begin == FKT_CALLS_NO_BEGIN)) {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
		goto out;
	}
	if (unlikely((s32)slot->number < 0)) {
		record_asked(slot, call, end, NULL, false);
		goto out;
	}
	if (unlikely(slot->number & FKT_CALL_ACTS)) {
		fkt_act_on(slot->instrument);
		goto out;
	}
	fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
	write(slot->number & FKT_ARG_MASK, call->begin, end - call->begin);
out:
	preempt_enable_notrace();
}

/* fkt_call_kept_fn */
static void record_kept(const struct fkt_call *call, u64 end, const u64 *kept)
{
	const struct fkt_call_slot *slot;

	preempt_disable_notrace();
	slot = fkt_call_find(&calls.table, call->body);
	if (unlikely(!slot) || !fkt_instrument_on(fkt_call_layer(slot)))
		goto out;
	if (likely((kept[0] & ~CUT) == calls.mark && call->begin != FKT_CALLS_NO_BEGIN))
		record_asked(slot, call, end, kept + 1, kept[0] & CUT);
	else
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
out:
	preempt_enable_notrace();
}

/* ---- functions with a return probe; called by it with preemption disabled ---- */

/* Calls shorter than table.shortest, since the module was loaded; those that fkt_calls drops are counted there. */
static DEFINE_PER_CPU(u64, too_short);
static u64 too_short_before;

static bool keeps_words(const struct fkt_call_slot *slot)
{
	return (s32)slot->number < 0 && programs_of(slot)->entry->insns;
}

/* A function is entered. body: as in struct fkt_call. Returns whether its return is of interest. */
bool fkt_record_calls_entered(unsigned long body, const struct pt_regs *regs, struct fkt_probed_call *probed)
{
	const u64 arguments[] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };
	const struct fkt_call_slot *slot = fkt_call_find(&calls.table, body);

	if (!slot || !fkt_instrument_on(fkt_call_layer(slot)))
		return false;
	if (keeps_words(slot) && !keeps(slot, arguments, probed->kept))
		return false;
	probed->offset = fkt_clock_offset();
	probed->begin = rdtsc();
	return true;
}

/* It returns to `caller`. probed: of fkt_record_calls_entered() in the same recording, which returned true. */
void fkt_record_calls_returned(unsigned long body, unsigned long caller, const struct pt_regs *regs,
			       const struct fkt_probed_call *probed)
{
	struct fkt_call call = {
		.result = regs->ax, .result_high = regs->dx, .begin = probed->begin, .body = body, .caller = caller,
	};
	const struct fkt_call_slot *slot = fkt_call_find(&calls.table, body);
	const u64 end = rdtsc();

	if (!slot)
		return;
	/* The clock stepped back, or began anew while the machine slept. */
	if (unlikely(end < call.begin || probed->offset != fkt_clock_offset()))
		call.begin = FKT_CALLS_NO_BEGIN;
	if (call.begin != FKT_CALLS_NO_BEGIN && end - call.begin < calls.table.shortest)
		this_cpu_inc(too_short);
	else if (keeps_words(slot))
		record_kept(&call, end, probed->kept);
	else
		record(&call, end);
}

/* ---- begin and end; callers hold the recording's lock ---- */

static void put_tracer(void)
{
	if (calls.begin)
		symbol_put(fkt_calls_begin);
	if (calls.end)
		symbol_put(fkt_calls_end);
	if (calls.totals)
		symbol_put(fkt_calls_totals);
	calls.begin = NULL;
	calls.end = NULL;
	calls.totals = NULL;
}

/*
 * Loads the module fkt_calls if necessary. That takes as long as modprobe(8) does, perhaps for ever: the caller must
 * hold no lock.
 */
void fkt_record_calls_load(void)
{
	if (symbol_get(fkt_calls_begin))
		symbol_put(fkt_calls_begin);
	else
		request_module("fkt_calls");
}

static int get_tracer(void)
{
	calls.begin = symbol_get(fkt_calls_begin);
	if (calls.begin)
		calls.end = symbol_get(fkt_calls_end);
	if (calls.end)
		calls.totals = symbol_get(fkt_calls_totals);
	if (calls.totals)
		return 0;
	put_tracer();
	return -ENOPKG;
}

static u64 sum_of(const u64 __percpu *counts)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counts, cpu));
	return sum;
}

static void get_totals(struct fkt_calls_totals *totals)
{
	*totals = (struct fkt_calls_totals){};
	if (calls.totals)
		calls.totals(totals);
	totals->taken += sum_of(&strangers) - strangers_before;
	totals->too_short += sum_of(&too_short) - too_short_before;
}

/* Traces the functions that are called through. */
static int begin_through(void)
{
	struct fkt_calls_plan plan = { .record = record, .ask = ask, .record_kept = record_kept };
	unsigned long *functions = calls.table.functions;
	unsigned int frame;
	int err;

	if (calls.table.count == calls.table.by_probe)
		return 0;
	err = get_tracer();
	if (err)
		return err;
	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++) {
		plan.frames[frame].functions = functions;
		plan.frames[frame].count = calls.table.of_frame[frame];
		functions += plan.frames[frame].count;
	}
	plan.shortest = calls.table.shortest;
	err = calls.begin(&plan);
	if (err)
		put_tracer();
	return err;
}

/*
 * Records the calls of the table's functions while their layers are on, until fkt_record_calls_end(). Takes over
 * `table`, which may be NULL. Returns 0, -ENOPKG if there is no module fkt_calls, or what fkt_calls_begin() and
 * fkt_return_probes_begin() return. refused: as there.
 */
int fkt_record_calls_begin(struct fkt_call_table *table, u64 *refused)
{
	int err;

	fkt_record_calls_free();
	if (!table)
		return 0;
	calls.table = *table;
	kfree(table);
	calls.mark = get_random_u64() & ~CUT;
	strangers_before = sum_of(&strangers);
	too_short_before = sum_of(&too_short);
	calls.since = rdtsc();
	err = begin_through();
	if (err)
		return err;
	calls.is_on = true;
	/* If this fails, the caller ends what has begun. */
	return fkt_return_probes_begin(&calls.table, refused);
}

/*
 * Returns when no probe of a call runs that has seen an earlier mask. Calls are traced on idle CPUs too, where RCU does
 * not see that a probe runs.
 */
void fkt_record_calls_wait(void)
{
	if (calls.is_on)
		synchronize_rcu_tasks_rude();
}

/* When this returns, no call is being recorded. */
void fkt_record_calls_end(void)
{
	if (!calls.is_on)
		return;
	fkt_return_probes_end();
	if (calls.end)
		calls.end();
	get_totals(&calls.last);
	put_tracer();
	calls.is_on = false;
}

/* Frees the table of the last recording. */
void fkt_record_calls_free(void)
{
	fkt_call_table_clear(&calls.table);
}

/* Sets the counts that are of all instruments together. */
void fkt_record_calls_totals(struct fkt_hit_counts *counts)
{
	struct fkt_calls_totals totals = calls.last;

	if (calls.is_on)
		get_totals(&totals);
	counts->too_short = totals.too_short;
	counts->taken = totals.taken;
}

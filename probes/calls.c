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
#include "instruments.h"
#include "programs.h"
#include "return_probes.h"
#include "write.h"

/*
 * Protected by the recording's lock. The probes below read `mark`, `since` and `is_changing` without a lock: the first
 * two are set before the first function is traced.
 */
static struct fkt_calls_state {
	/*
	 * With the mark of the programs that keep words of a call, the first of these words: random, so that a call
	 * which an earlier recording kept words of is known. Its lowest bit is 0, and 1 in the kept word if a text was
	 * cut.
	 */
	u64 mark;
	u64 since; /* TSC before the first of its calls */
	bool is_on;
	bool has_probes; /* return probes */
	/* A table is being exchanged: functions may be traced that are not in the one in force. */
	bool is_changing;
	/* of fkt_calls; NULL: no function is called through */
	int (*begin)(const struct fkt_calls_plan *plan);
	int (*arm)(const struct fkt_calls_plan *plan);
	void (*disarm)(const struct fkt_calls_plan *plan);
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
	if (!READ_ONCE(calls.is_changing))
		this_cpu_inc(strangers);
}

/* ---- a function is entered ---- */

/* Runs the first program, and keeps the words that it emits, of which there is room for `room` less one. */
static enum fkt_fate keep(const struct fkt_call_programs *programs, const u64 *arguments, u64 *kept, unsigned int room)
{
	struct fkt_emitted emitted = { .words = kept + 1 };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	/* The frame is for the programs of another table. */
	if (unlikely(programs->entry->words >= room))
		return FKT_FATE_MISSED + FKT_MISSED_STALE;
	if (likely(fkt_scratch_get()))
		fate = fkt_fate_by(fkt_program_run(programs->entry, arguments, &emitted, fkt_read_memory,
						   fkt_call_context));
	fkt_scratch_put();
	kept[0] = (programs->mark ^ calls.mark) | (emitted.cut ? CUT : 0);
	return fate;
}

/* Preemption is disabled. */
static bool keeps(const struct fkt_call_slot *slot, const struct fkt_call_programs *programs, const u64 *arguments,
		  u64 *kept, unsigned int room)
{
	enum fkt_fate fate = keep(programs, arguments, kept, room);

	/* A hit that is kept here is counted when it returns. */
	if (fate != FKT_FATE_KEPT)
		fkt_count_hit(slot->instrument, fate);
	return fate == FKT_FATE_KEPT;
}

/* fkt_call_ask_fn */
static bool ask(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	const struct fkt_call_programs *programs;
	const struct fkt_call_table *table;
	const struct fkt_call_slot *slot;
	bool is_traced = false;

	preempt_disable_notrace();
	table = functions();
	slot = likely(table) ? fkt_call_find(table, body) : NULL;
	if (unlikely(!slot)) {
		count_stranger();
		goto out;
	}
	programs = ask_of(table, slot)->programs;
	if (likely(programs) && fkt_instrument_on(fkt_call_layer(slot)))
		is_traced = keeps(slot, programs, arguments, kept, room);
out:
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

/* A call that returns. */
struct returned {
	const struct fkt_call *call;
	u64 end; /* TSC */
	const void *frames; /* those from this address on are of the caller */
};

/* Runs the second program, and writes the call if it keeps it. kept: words of the first program. */
static enum fkt_fate ask_again(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
			       const struct returned *returned, const u64 *kept, bool is_cut,
			       struct fkt_scratch *scratch)
{
	const struct fkt_call *call = returned->call;
	const u64 ticks = returned->end - call->begin;
	const struct fkt_stack_place place = { .first = call->body, .frames = returned->frames };
	const struct fkt_call_programs *programs = asked->programs;
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
	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (asked->exits)
		write_exit(number, scratch->words + FKT_CALL_VALUES_LONG_HEAD, emitted.used, is_cut || emitted.cut);
	else if (programs->exit->words)
		write_values(number, call->begin, ticks, scratch->words, emitted.used, is_cut || emitted.cut);
	else
		write(number, call->begin, ticks);
	fkt_event_end(slot->instrument, &place, scratch->words);
	return FKT_FATE_KEPT;
}

/* A call whose programs decide, and fetch what is recorded. Preemption is disabled. */
static noinline void record_asked(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				  const struct returned *returned, const u64 *kept, bool is_cut)
{
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch))
		fate = ask_again(slot, asked, returned, kept, is_cut, scratch);
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/*
 * A call that began under another table: its function is gone, or has programs now which were not asked when it was
 * entered. What begins at a function that is gone, before that is disarmed, is no hit.
 */
static void count_stale(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
			const struct fkt_call *call)
{
	if (ask_of(table, slot)->programs || call->begin == FKT_CALLS_NO_BEGIN || call->begin < table->since)
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
}

/* A call of which no words were kept, and whose function has programs, or is gone. */
static noinline void record_unkept(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
				   const struct returned *returned)
{
	const struct fkt_call_ask *asked = ask_of(table, slot);

	if (likely(asked->programs && !asked->programs->entry->insns))
		record_asked(slot, asked, returned, NULL, false);
	else
		count_stale(table, slot, returned->call);
}

static __always_inline void record_from(const struct fkt_call *call, u64 end, const void *frames)
{
	const struct fkt_call_table *table;
	const struct fkt_call_slot *slot;

	preempt_disable_notrace();
	table = functions();
	slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	if (unlikely(!slot)) {
		/* A call that began in an earlier recording may be of a function that only that one traced. */
		if (call->begin >= calls.since && call->begin != FKT_CALLS_NO_BEGIN)
			count_stranger();
		goto out;
	}
	if (!fkt_instrument_on(fkt_call_layer(slot)))
		goto out;
	if (unlikely(call->begin == FKT_CALLS_NO_BEGIN)) {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
		goto out;
	}
	if (unlikely((s32)slot->number < 0)) {
		record_unkept(table, slot, &(struct returned){ .call = call, .end = end, .frames = frames });
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

/* fkt_call_fn; the structure is on the stack, below the address that the function returns to */
static void record(const struct fkt_call *call, u64 end)
{
	record_from(call, end, call + 1);
}

static void record_kept_from(const struct fkt_call *call, u64 end, const u64 *kept, const void *frames)
{
	const struct fkt_call_table *table;
	const struct fkt_call_slot *slot;
	const struct fkt_call_ask *asked;

	preempt_disable_notrace();
	table = functions();
	slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	if (unlikely(!slot) || !fkt_instrument_on(fkt_call_layer(slot)))
		goto out;
	asked = ask_of(table, slot);
	if (likely(asked->programs && (kept[0] & ~CUT) == (asked->programs->mark ^ calls.mark) &&
		   call->begin != FKT_CALLS_NO_BEGIN))
		record_asked(slot, asked, &(struct returned){ .call = call, .end = end, .frames = frames }, kept + 1,
			     kept[0] & CUT);
	else
		count_stale(table, slot, call);
out:
	preempt_enable_notrace();
}

/* fkt_call_kept_fn, likewise */
static void record_kept(const struct fkt_call *call, u64 end, const u64 *kept)
{
	record_kept_from(call, end, kept, call + 1);
}

/* ---- functions with a return probe; called by it with preemption disabled ---- */

/* Calls shorter than table.shortest, since the module was loaded; those that fkt_calls drops are counted there. */
static DEFINE_PER_CPU(u64, too_short);
static u64 too_short_before;

/* A function is entered. body: as in struct fkt_call. Returns whether its return is of interest. */
bool fkt_record_calls_entered(unsigned long body, const struct pt_regs *regs, struct fkt_probed_call *probed)
{
	const u64 arguments[] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = table ? fkt_call_find(table, body) : NULL;
	const struct fkt_call_programs *programs = slot ? ask_of(table, slot)->programs : NULL;

	if (!programs || !fkt_instrument_on(fkt_call_layer(slot)))
		return false;
	probed->keeps = programs->entry->insns;
	if (probed->keeps && !keeps(slot, programs, arguments, probed->kept, ARRAY_SIZE(probed->kept)))
		return false;
	probed->offset = fkt_clock_offset();
	probed->begin = rdtsc();
	return true;
}

/* The function returns to `caller`. probed: as fkt_record_calls_entered() has filled it when it returned true. */
void fkt_record_calls_returned(unsigned long body, unsigned long caller, const struct pt_regs *regs,
			       const struct fkt_probed_call *probed)
{
	struct fkt_call call = {
		.result = regs->ax, .result_high = regs->dx, .begin = probed->begin, .body = body, .caller = caller,
	};
	const struct fkt_call_table *table = functions();
	const u64 end = rdtsc();

	if (!table)
		return;
	/* The clock stepped back, or began anew while the machine slept. */
	if (unlikely(end < call.begin || probed->offset != fkt_clock_offset()))
		call.begin = FKT_CALLS_NO_BEGIN;
	if (call.begin != FKT_CALLS_NO_BEGIN && end - call.begin < table->shortest)
		this_cpu_inc(too_short);
	else if (probed->keeps)
		record_kept_from(&call, end, probed->kept, regs + 1);
	else
		record_from(&call, end, regs + 1);
}

/* ---- arming and disarming; callers hold the recording's lock ---- */

static void put_tracer(void)
{
	if (calls.begin)
		symbol_put(fkt_calls_begin);
	if (calls.arm)
		symbol_put(fkt_calls_arm);
	if (calls.disarm)
		symbol_put(fkt_calls_disarm);
	if (calls.end)
		symbol_put(fkt_calls_end);
	if (calls.totals)
		symbol_put(fkt_calls_totals);
	calls.begin = NULL;
	calls.arm = NULL;
	calls.disarm = NULL;
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
		calls.arm = symbol_get(fkt_calls_arm);
	if (calls.arm)
		calls.disarm = symbol_get(fkt_calls_disarm);
	if (calls.disarm)
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

/* table: may be NULL. The plan refers to it. */
static struct fkt_calls_plan plan_of(const struct fkt_call_table *table)
{
	struct fkt_calls_plan plan = {
		.record = record, .ask = ask, .record_kept = record_kept, .shortest = table ? table->shortest : U64_MAX,
	};
	unsigned long *functions = table ? table->functions : NULL;
	unsigned int frame;

	for (frame = 0; table && frame < FKT_CALLS_FRAMES; frame++) {
		plan.frames[frame].functions = functions;
		plan.frames[frame].count = table->of_frame[frame];
		functions += table->of_frame[frame];
	}
	return plan;
}

static int arm_through(const struct fkt_calls_plan *plan)
{
	int err;

	if (calls.begin)
		return calls.arm(plan);
	err = get_tracer();
	if (err)
		return err;
	err = calls.begin(plan);
	if (err)
		put_tracer();
	return err;
}

static void begin(void)
{
	calls.last = (struct fkt_calls_totals){};
	calls.mark = get_random_u64() & ~CUT;
	strangers_before = sum_of(&strangers);
	too_short_before = sum_of(&too_short);
	calls.since = rdtsc();
	calls.is_on = true;
}

/*
 * Traces the table's functions, besides those of the table in force. table: may be NULL. Returns 0, -ENOPKG if there
 * is no module fkt_calls, or what fkt_calls_begin() and fkt_return_probes_begin() return. refused: as there. After an
 * error the caller must go back with fkt_record_calls_disarm(), or end.
 */
int fkt_record_calls_arm(const struct fkt_call_table *table, u64 *refused)
{
	const struct fkt_calls_plan plan = plan_of(table);
	int err = 0;

	if (!table)
		return 0;
	if (!calls.is_on)
		begin();
	WRITE_ONCE(calls.is_changing, true);
	if (table->count > table->by_probe)
		err = arm_through(&plan);
	/* An exchange keeps return probes as they are (fkt_instrument_table_follows()), so there is nothing to add. */
	if (err || !table->by_probe || calls.has_probes)
		return err;
	calls.has_probes = true;
	return fkt_return_probes_begin(table, refused);
}

/* The table that was armed is in force, and only its functions are traced. */
void fkt_record_calls_settle(void)
{
	WRITE_ONCE(calls.is_changing, false);
}

static void end_probes(const struct fkt_instrument_table *instruments)
{
	if (calls.has_probes)
		fkt_return_probes_end(instruments);
	calls.has_probes = false;
}

/*
 * Traces only the functions of this table, which was armed and is in force. instruments: may be NULL. Calls of others
 * that are in flight still come to the probes, which do not find them in the table.
 */
void fkt_record_calls_disarm(const struct fkt_instrument_table *instruments)
{
	const struct fkt_call_table *table = instruments ? instruments->calls : NULL;
	const struct fkt_calls_plan plan = plan_of(table);

	if (calls.disarm)
		calls.disarm(&plan);
	if (!table || !table->by_probe)
		end_probes(instruments);
	fkt_record_calls_settle();
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

/* When this returns, no call is being recorded. What return probes have missed is counted in `instruments`. */
void fkt_record_calls_end(const struct fkt_instrument_table *instruments)
{
	if (!calls.is_on)
		return;
	end_probes(instruments);
	if (calls.end)
		calls.end();
	get_totals(&calls.last);
	put_tracer();
	calls.is_on = false;
	calls.is_changing = false;
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

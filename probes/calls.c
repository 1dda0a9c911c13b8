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

#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "../calls/calls.h"
#include "actions.h"
#include "call_context.h"
#include "call_quick.h"
#include "call_table.h"
#include "calls.h"
#include "calls_quick.h"
#include "calls_write.h"
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

/* As ask(), of any function. Preemption is disabled. */
static noinline bool ask_any(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, body) : NULL;
	const struct fkt_call_programs *programs;

	if (unlikely(!slot)) {
		count_stranger();
		return false;
	}
	programs = ask_of(table, slot)->programs;
	return likely(programs) && fkt_instrument_on(fkt_call_layer(slot)) &&
	       keeps(slot, programs, arguments, kept, room);
}

/* fkt_call_ask_fn */
static bool ask(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	bool is_traced;

	preempt_disable_notrace();
	is_traced = fkt_call_quick_keep(arguments, kept, body, room, calls.mark) ||
		    ask_any(arguments, kept, body, room);
	preempt_enable_notrace();
	return is_traced;
}

/* ---- a call returns ---- */

/* A call that has returned. */
struct returned {
	const struct fkt_call *call;
	unsigned long body; /* as in struct fkt_plain_call */
	u64 begin; /* TSC; FKT_CALLS_NO_BEGIN: fkt_call_began() */
	u64 ticks; /* its duration */
	/* on the stack: the caller's frames are above this address, those of the call and of the probe are not */
	const void *frames;
};

/* Runs the second program, and writes the call if it keeps it. kept: words of the first program. */
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

/* A call whose programs decide, and fetch what is recorded. Preemption is disabled. */
static noinline void record_asked(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				  const struct returned *call, const u64 *kept, bool is_cut)
{
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch))
		fate = ask_again(slot, asked, call, kept, is_cut, scratch);
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/*
 * A call that began under another table: its function is gone, or has programs now which were not asked when it was
 * entered. What begins at a function that is gone, before that is disarmed, is no hit.
 */
static void count_stale(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
			const struct fkt_call_ask *asked, u64 begin)
{
	if (asked->programs || begin == FKT_CALLS_NO_BEGIN || begin < table->since)
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
}

/* A call of which no words were kept, and whose function has programs, or is gone. */
static noinline void record_unkept(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
				   const struct fkt_call_ask *asked, const struct returned *call)
{
	if (likely(asked->programs && !asked->programs->entry->insns))
		record_asked(slot, asked, call, NULL, false);
	else
		count_stale(table, slot, asked, call->begin);
}

/* A hit of one of the function's instruments. */
static __always_inline void record_hit(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
				       const struct fkt_call_ask *asked, const struct returned *call)
{
	if (!fkt_instrument_on(fkt_call_layer(slot)))
		return;
	if (unlikely(call->begin == FKT_CALLS_NO_BEGIN)) {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_STALE);
	} else if ((s32)slot->number < 0) {
		record_unkept(table, slot, asked, call);
	} else if (slot->number & FKT_CALL_ACTS) {
		fkt_act_on(slot->instrument);
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
		fkt_call_write(slot->number & FKT_ARG_MASK, call->begin, call->ticks);
	}
}

/* A call of any function. Preemption is disabled. */
static noinline void record_any(const struct returned *call)
{
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	const struct fkt_call_more *more;

	if (unlikely(!slot)) {
		/* A call that began in an earlier recording may be of a function that only that one traced. */
		if (call->begin >= calls.since && call->begin != FKT_CALLS_NO_BEGIN)
			count_stranger();
		return;
	}
	record_hit(table, slot, ask_of(table, slot), call);
	for (more = ask_of(table, slot)->more; unlikely(more); more = more->ask.more)
		record_hit(table, &more->slot, &more->ask, call);
}

/* The rest of record(), where it calls functions: it is short because it does not have to save registers. */
static noinline void record_slowly(const struct fkt_plain_call *plain, u64 ticks)
{
	const struct fkt_call_quick_slot *slot = fkt_call_quick_find(plain->body);

	/* A function whose place is not the first one, or with values, of which none was kept in this frame. */
	if (slot && slot->body == FKT_CALL_QUICK_COUNT(plain->body) && !(ticks >> FKT_CALLS_TICK_BITS))
		this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	else if (!slot || slot->body != FKT_CALL_QUICK_HAS_VALUES(plain->body) || slot->values->kept ||
		 !fkt_call_quick_write(slot, &plain->call, ticks))
		record_any(&(struct returned){
			.call = &plain->call, .body = plain->body, .begin = fkt_call_began(&plain->call, ticks),
			.ticks = ticks, .frames = plain,
		});
	preempt_enable_notrace();
}

/* fkt_call_fn */
static void record(const struct fkt_plain_call *plain, u64 ticks)
{
	const struct fkt_call_quick_slot *slot;
	const u32 bytes = 8 * (1 + FKT_N_CALL);
	struct fkt_page_header *h;
	u64 clock, next, *at;

	preempt_disable_notrace();
	slot = fkt_call_quick_first(READ_ONCE(fkt_call_quick), plain->body);
	if (likely(slot->body == plain->body)) {
		if (unlikely(!fkt_ring_try_reserve(this_cpu_ptr(&fkt_rings), current->pid, bytes, ticks, &h, &clock,
						   &next)))
			return record_slowly(plain, ticks);
		at = fkt_ring_tried(h, next, bytes);
		at[0] = slot->head | (clock & FKT_TIME_MASK);
		/* The entry's period is above the bits that the word has. */
		at[1] = fkt_call_word(plain->call.entry, ticks);
		this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
		if (fkt_ring_try_commit(h, bytes))
			return fkt_call_quick_wake(next >> 32);
	} else {
		/* The compiler needs a register less above if it reads again here. */
		barrier();
		if (slot->body != FKT_CALL_QUICK_COUNT(plain->body) || ticks >> FKT_CALLS_TICK_BITS)
			return record_slowly(plain, ticks);
		this_cpu_inc(slot->hits->of[FKT_FATE_KEPT]);
	}
	preempt_enable_notrace();
}

/* A call of which words were kept. Preemption is disabled. */
static void record_kept_any(const struct returned *call, const u64 *kept)
{
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = likely(table) ? fkt_call_find(table, call->body) : NULL;
	const struct fkt_call_ask *asked;

	if (unlikely(!slot) || !fkt_instrument_on(fkt_call_layer(slot)))
		return;
	asked = ask_of(table, slot);
	if (likely(asked->programs && (kept[0] & ~CUT) == (asked->programs->mark ^ calls.mark) &&
		   call->begin != FKT_CALLS_NO_BEGIN))
		record_asked(slot, asked, call, kept + 1, kept[0] & CUT);
	else
		count_stale(table, slot, asked, call->begin);
}

/* fkt_call_kept_fn */
static void record_kept(const struct fkt_call *call, u64 ticks, unsigned long body, const u64 *kept)
{
	const struct fkt_call_quick_slot *slot;

	preempt_disable_notrace();
	slot = fkt_call_quick_find(body);
	/* The words are at the call's address, and behind it (trampoline.S). */
	if (!slot || slot->body != FKT_CALL_QUICK_HAS_VALUES(body) || kept[0] != (slot->values->mark ^ calls.mark) ||
	    !fkt_call_quick_write(slot, call, ticks))
		record_kept_any(&(struct returned){
			.call = call, .body = body, .begin = fkt_call_began(call, ticks), .ticks = ticks,
			.frames = call,
		}, kept);
	preempt_enable_notrace();
}

/* ---- functions with a return probe; called by it with preemption disabled ---- */

/* Shorter calls than table.shortest_probed, since the module was loaded; fkt_calls counts those that it drops. */
static DEFINE_PER_CPU(u64, too_short);
static u64 too_short_before;

/* Whether hits of one of the function's instruments are seen here and now. */
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
	const u64 arguments[] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };
	const struct fkt_call_table *table = functions();
	const struct fkt_call_slot *slot = table ? fkt_call_find(table, body) : NULL;
	const struct fkt_call_programs *programs = slot ? ask_of(table, slot)->programs : NULL;

	if (!programs || !is_any_on(slot, ask_of(table, slot)))
		return false;
	probed->keeps = programs->entry->insns;
	if (probed->keeps && !keeps(slot, programs, arguments, probed->kept, ARRAY_SIZE(probed->kept)))
		return false;
	probed->offset = fkt_clock_offset();
	probed->begin = rdtsc();
	return true;
}

/* The function returns. probed: as fkt_record_calls_entered() has filled it when it returned true. */
void fkt_record_calls_returned(unsigned long body, const struct pt_regs *regs, const struct fkt_probed_call *probed)
{
	const struct fkt_call words = { .result = regs->ax, .result_high = regs->dx, .entry = probed->begin };
	const struct fkt_call_table *table = functions();
	struct returned call = {
		.call = &words, .body = body, .begin = probed->begin, .ticks = rdtsc() - probed->begin,
		.frames = regs + 1,
	};

	if (!table)
		return;
	/* The clock stepped back, or began anew while the machine slept. */
	if (unlikely((s64)call.ticks < 0 || probed->offset != fkt_clock_offset()))
		call.begin = FKT_CALLS_NO_BEGIN;
	if (call.begin != FKT_CALLS_NO_BEGIN && call.ticks < table->shortest_probed)
		this_cpu_inc(too_short);
	else if (probed->keeps)
		record_kept_any(&call, probed->kept);
	else
		record_any(&call);
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
	struct fkt_calls_plan plan = { .record = record, .ask = ask, .record_kept = record_kept };
	unsigned long *functions = table ? table->functions : NULL;
	unsigned int frame;

	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++) {
		plan.frames[frame].shortest = table ? table->shortest[frame] : U64_MAX;
		plan.frames[frame].count = table ? table->of_frame[frame] : 0;
		plan.frames[frame].functions = functions;
		functions += plan.frames[frame].count;
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

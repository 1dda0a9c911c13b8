// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of functions. The module fkt_calls (calls/ftrace_entries.c) traces them by ftrace; it is loaded when the
 * first recording asks for it. The functions that ftrace calls run in any context, NMIs included.
 */

#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "calls/calls.h"
#include "calls/ftrace_entries.h"
#include "instruments/call_table.h"
#include "instruments/instruments_now.h"
#include "instruments/programs.h"
#include "ring/write.h"
#include "actions.h"
#include "call_context.h"
#include "entries.h"
#include "hits_quick.h"

/* Protected by the recording's lock. */
static struct {
	int (*begin)(unsigned long *functions, unsigned int count, ftrace_func_t entered);
	int (*arm)(unsigned long *functions, unsigned int count, ftrace_func_t entered);
	void (*disarm)(unsigned long *functions, unsigned int count);
	bool (*end)(void);
	bool is_on;
} entries;

/* ---- a function is entered ---- */

/* The head of an event with values: the function's number. */
#define HEAD 1

static enum fkt_fate run(const struct fkt_call_slot *slot, const struct fkt_program *program,
			 const struct fkt_stack_place *place, unsigned long stack, struct fkt_scratch *scratch)
{
	const u32 number = slot->number & FKT_ARG_MASK;
	struct fkt_emitted emitted = { .words = scratch->words + HEAD };
	enum fkt_run says = fkt_run_program(program, scratch->hit, stack, scratch, &emitted, fkt_read_memory);

	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (program->words) {
		scratch->words[0] = number;
		fkt_emit(FKT_E_FUNCTION_ENTRY_VALUES, (HEAD + emitted.used) | (emitted.cut ? FKT_VAR_CUT : 0),
			 scratch->words, HEAD + emitted.used);
	} else {
		fkt_emit0(FKT_E_FUNCTION_ENTRY, number);
	}
	fkt_event_end(slot->instrument, place, scratch->words);
	return FKT_FATE_KEPT;
}

static noinline void record_asked(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				  struct ftrace_regs *regs)
{
	const struct fkt_program *program = asked->programs->entry;
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch)) {
		/* ftrace keeps the registers on the stack, below the address in the function that it returns to. */
		const struct fkt_stack_place place = { .frames = fkt_ftrace_regs(regs) + 1 };

		fkt_ftrace_arguments(regs, scratch->hit);
		fate = run(slot, program, &place, fkt_sp(fkt_ftrace_regs(regs)), scratch);
	}
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* An entry without a program. */
static __always_inline void record_plain(const struct fkt_call_slot *slot)
{
	if (unlikely(slot->number & FKT_CALL_ACTS)) {
		fkt_act_on(slot->instrument);
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
		fkt_emit0(FKT_E_FUNCTION_ENTRY, slot->number & FKT_ARG_MASK);
	}
}

/* A hit of one of the function's instruments. */
static __always_inline void record_hit(const struct fkt_call_slot *slot, const struct fkt_call_ask *asked,
				       struct ftrace_regs *regs)
{
	if (!fkt_instrument_on(fkt_call_layer(slot)) || fkt_leaves_out(slot->instrument))
		return;
	if (unlikely((s32)slot->number < 0)) {
		record_asked(slot, asked, regs);
	} else if (likely(fkt_hit_begin())) {
		record_plain(slot);
		fkt_hit_end();
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_NESTED);
	}
}

/* An entry of any function. Preemption is disabled. */
static noinline void record_any(unsigned long body, struct ftrace_regs *regs)
{
	const struct fkt_instrument_table *now = fkt_instruments();
	const struct fkt_call_slot *slot = NULL;
	const struct fkt_call_more *more;

	if (likely(now && now->entries))
		slot = fkt_call_find(now->entries, body);
	/* There is no slot during an exchange, or if ftrace has switched itself off and goes on calling this. */
	if (likely(slot)) {
		const struct fkt_call_ask *asked = &now->entries->asks[slot - now->entries->slots];

		record_hit(slot, asked, regs);
		for (more = asked->more; unlikely(more); more = more->ask.more)
			record_hit(&more->slot, &more->ask, regs);
	}
}

/*
 * Called by ftrace. Functions that are called here, at the end of a page or to read memory, may have instruments, too:
 * programs.h limits how deep such hits nest. A quick hit calls functions only if it completes a page; their hits go
 * into the next page, and do not complete it.
 */
static void entered(unsigned long nop, unsigned long caller, struct ftrace_ops *unused, struct ftrace_regs *regs)
{
	const unsigned long body = nop + FKT_CALLS_NOP_BYTES;

	preempt_disable_notrace();
	if (unlikely(!fkt_hit_quickly(READ_ONCE(fkt_entry_quick), body)))
		record_any(body, regs);
	preempt_enable_notrace();
}

/* ---- arming and disarming; callers must hold the recording's lock ---- */

static void put_tracer(void)
{
	if (entries.begin)
		symbol_put(fkt_entries_begin);
	if (entries.arm)
		symbol_put(fkt_entries_arm);
	if (entries.disarm)
		symbol_put(fkt_entries_disarm);
	if (entries.end)
		symbol_put(fkt_entries_end);
	entries.begin = NULL;
	entries.arm = NULL;
	entries.disarm = NULL;
	entries.end = NULL;
}

static int get_tracer(void)
{
	entries.begin = symbol_get(fkt_entries_begin);
	if (entries.begin)
		entries.arm = symbol_get(fkt_entries_arm);
	if (entries.arm)
		entries.disarm = symbol_get(fkt_entries_disarm);
	if (entries.disarm)
		entries.end = symbol_get(fkt_entries_end);
	if (entries.end)
		return 0;
	put_tracer();
	return -ENOPKG;
}

/*
 * Traces the entries of the table's functions, besides those of the table in force. table: may be NULL. Returns 0,
 * -ENOPKG if there is no module fkt_calls, or what fkt_entries_begin() returns. After an error the caller must go back
 * with fkt_record_entries_disarm(), or end.
 */
int fkt_record_entries_arm(struct fkt_call_table *table)
{
	int err;

	if (!table)
		return 0;
	if (entries.is_on)
		return entries.arm(table->functions, table->count, entered);
	err = get_tracer();
	if (err)
		return err;
	err = entries.begin(table->functions, table->count, entered);
	if (err)
		put_tracer();
	entries.is_on = !err;
	return err;
}

/* Traces only the entries of this table's functions; it was armed. table: may be NULL. */
void fkt_record_entries_disarm(struct fkt_call_table *table)
{
	if (entries.is_on)
		entries.disarm(table ? table->functions : NULL, table ? table->count : 0);
}

/*
 * Returns true when entered() does not run any more; false: ftrace has switched itself off, and goes on calling
 * entered(), so the module stays loaded.
 */
bool fkt_record_entries_end(void)
{
	bool ended = true;

	if (!entries.is_on)
		return true;
	ended = entries.end();
	if (!ended)
		__module_get(THIS_MODULE);
	put_tracer();
	entries.is_on = false;
	return ended;
}

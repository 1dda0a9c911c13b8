// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layer instruments: calls of functions. The module fkt_calls (calls/) traces them; it is loaded when the first
 * recording asks for calls. What is called here when a call returns runs in any context, NMIs included.
 */

#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "../calls/calls.h"
#include "call_context.h"
#include "call_table.h"
#include "calls.h"
#include "write.h"

/*
 * Programs that run on this CPU: at most one in a task, a softirq, an interrupt and an NMI. More are of calls that a
 * program made itself, of functions that are traced too: they could go on for ever. Writing an event calls such
 * functions only at the end of a page.
 */
#define MOST_DEEP 4
static DEFINE_PER_CPU(u32, depth);

/*
 * Protected by the recording's lock. The table is read by record(), without a lock: it is set before
 * fkt_calls_begin(), and freed after fkt_calls_end(), when record() does not run any more.
 */
static struct {
	struct fkt_call_table table;
	bool is_on;
	int (*begin)(const struct fkt_calls_plan *plan);
	void (*end)(void);
} calls;

/* ---- a call returns ---- */

static int read_memory(void *to, __u64 address, __u32 bytes)
{
	return copy_from_kernel_nofault(to, (void *)address, bytes);
}

static enum fkt_run run(const struct fkt_program *program, const struct fkt_call *call, u64 ticks)
{
	struct fkt_emitted nothing = {};
	u64 hit[FKT_CALL_FIRST_KEPT];

	hit[FKT_CALL_RESULT] = call->result;
	hit[FKT_CALL_RESULT_HIGH] = call->result_high;
	hit[FKT_CALL_DURATION] = ticks;
	return fkt_program_run(program, hit, &nothing, read_memory, fkt_call_context);
}

/* Returns whether the call's program keeps it; counts it if not. */
static noinline bool keeps(const struct fkt_call_slot *slot, const struct fkt_call *call, u64 end)
{
	enum fkt_run says = FKT_RUN_FAULT;

	if (likely(this_cpu_inc_return(depth) <= MOST_DEEP))
		says = run(calls.table.asks[slot - calls.table.slots], call, end - call->begin);
	this_cpu_dec(depth);
	if (says == FKT_RUN_DROP)
		this_cpu_inc(slot->sums->dropped);
	else if (says == FKT_RUN_FAULT)
		this_cpu_inc(slot->sums->missed);
	return says == FKT_RUN_KEEP;
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

/* fkt_call_fn */
static void record(const struct fkt_call *call, u64 end)
{
	const struct fkt_call_slot *slot;

	preempt_disable_notrace();
	if (!fkt_layer_on(FKT_L_INSTRUMENTS) || (static_branch_unlikely(&fkt_key_special) && !fkt_keep_current()))
		goto out;
	slot = fkt_call_find(&calls.table, call->body);
	if (unlikely(!slot) || ((s32)slot->number < 0 && !keeps(slot, call, end)))
		goto out;
	this_cpu_inc(slot->sums->kept);
	if (likely(write_quickly(slot->number, call->begin, end - call->begin)))
		fkt_ask(FKT_E_CALL);
	else
		write_any(slot->number, call->begin, end - call->begin);
out:
	preempt_enable_notrace();
}

/* ---- begin and end; callers hold the recording's lock ---- */

static void put_tracer(void)
{
	if (calls.begin)
		symbol_put(fkt_calls_begin);
	if (calls.end)
		symbol_put(fkt_calls_end);
	calls.begin = NULL;
	calls.end = NULL;
}

/* Loads the module fkt_calls if necessary. */
static int get_tracer(void)
{
	calls.begin = symbol_get(fkt_calls_begin);
	if (!calls.begin) {
		request_module("fkt_calls");
		calls.begin = symbol_get(fkt_calls_begin);
	}
	if (calls.begin)
		calls.end = symbol_get(fkt_calls_end);
	if (calls.end)
		return 0;
	put_tracer();
	return -ENOPKG;
}

/*
 * Records the calls of the table's functions while the layer is on, until fkt_record_calls_end(). Takes over `table`,
 * which may be NULL. Returns 0, -ENOPKG if there is no module fkt_calls, or what fkt_calls_begin() returns.
 */
int fkt_record_calls_begin(struct fkt_call_table *table)
{
	struct fkt_calls_plan plan = { .record = record };
	int err;

	fkt_record_calls_free();
	if (!table)
		return 0;
	calls.table = *table;
	kfree(table);
	err = get_tracer();
	if (err)
		return err;
	plan.functions = calls.table.functions;
	plan.count = calls.table.count;
	plan.shortest = calls.table.shortest;
	err = calls.begin(&plan);
	if (err)
		put_tracer();
	calls.is_on = !err;
	return err;
}

/* When this returns, no call is being recorded. */
void fkt_record_calls_end(void)
{
	if (!calls.is_on)
		return;
	calls.end();
	put_tracer();
	calls.is_on = false;
}

/* Frees the counts of the last recording. */
void fkt_record_calls_free(void)
{
	fkt_call_table_clear(&calls.table);
}

/* Sums up over the CPUs. -ENXIO: the recording has no such instrument. */
int fkt_record_calls_counts(struct fkt_call_counts *counts)
{
	const struct fkt_call_table *table = &calls.table;
	u32 instrument = counts->instrument;
	int cpu;

	if (instrument >= table->instruments)
		return -ENXIO;
	/* The number comes from user space and is used as an index. */
	instrument = array_index_nospec(instrument, table->instruments);
	memset(counts, 0, sizeof(*counts));
	counts->instrument = instrument;
	for_each_possible_cpu(cpu) {
		const struct fkt_call_sums *sums = per_cpu_ptr(&table->sums[instrument], cpu);

		counts->kept += READ_ONCE(sums->kept);
		counts->dropped += READ_ONCE(sums->dropped);
		counts->missed += READ_ONCE(sums->missed);
	}
	return 0;
}

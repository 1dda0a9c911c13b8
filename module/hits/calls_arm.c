// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms and disarms the probes of calls. The module fkt_calls (calls/) traces them; it is loaded when the first
 * recording asks for calls. Callers must hold the recording's lock, if nothing else is said.
 */

#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>

#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "calls/calls.h"
#include "calls/held.h"
#include "calls/traceable.h"
#include "instruments/call_table.h"
#include "instruments/instrument_table.h"
#include "call_hits.h"
#include "calls_arm.h"
#include "return_probes.h"

/* Protected by the recording's lock. */
static struct fkt_calls_state {
	bool is_on;
	bool has_probes; /* return probes */
	bool probes_stay; /* the kernel goes on calling return probes that have been ended */
	/* of fkt_calls; NULL: no function is called through */
	int (*begin)(const struct fkt_calls_plan *plan);
	int (*arm)(const struct fkt_calls_plan *plan);
	void (*disarm)(const struct fkt_calls_plan *plan);
	void (*end)(void);
	void (*totals)(struct fkt_calls_totals *totals);
	struct fkt_calls_totals last; /* of the last recording, when is_on is false */
} calls;

/* Sums of the per-CPU counts when the recording began. */
static u64 strangers_before, too_short_before;

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
	if (fkt_call_probes.take_held)
		symbol_put(fkt_calls_take_held);
	calls.begin = NULL;
	calls.arm = NULL;
	calls.disarm = NULL;
	calls.end = NULL;
	calls.totals = NULL;
	fkt_call_probes.take_held = NULL;
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
EXPORT_SYMBOL_GPL(fkt_record_calls_load);

/*
 * Returns false if the code at this address is of a module that is being loaded or unloaded: it may be freed unseen. If
 * the module fkt_calls is not loaded this is not known.
 */
bool fkt_record_calls_stays(unsigned long address)
{
	bool (*stays)(unsigned long address) = symbol_get(fkt_calls_stays);
	bool is_staying = !stays || stays(address);

	if (stays)
		symbol_put(fkt_calls_stays);
	return is_staying;
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
		fkt_call_probes.take_held = symbol_get(fkt_calls_take_held);
	if (fkt_call_probes.take_held)
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
	totals->taken += sum_of(&fkt_call_strangers) - strangers_before;
	totals->too_short += sum_of(&fkt_call_too_short) - too_short_before;
}

static struct fkt_calls_keep keep_of(const struct fkt_keep *keep)
{
	return (struct fkt_calls_keep){
		.shortest = keep->shortest, .levels = keep->levels, .percent = keep->percent, .deepest = keep->deepest,
		.in_task = keep->where & FKT_KEEP_IN_TASK, .in_interrupt = keep->where & FKT_KEEP_IN_INTERRUPT,
	};
}

/* table: may be NULL. The plan refers to it. */
static struct fkt_calls_plan plan_of(const struct fkt_call_table *table)
{
	struct fkt_calls_plan plan = { .threads = table ? table->threads : 0 };
	unsigned long *functions = table ? table->functions : NULL;
	unsigned int frame;

	if (table)
		plan.keep = keep_of(&table->keep);
	fkt_call_probes_give(&plan);
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
	fkt_call_probes.mark = get_random_u64() & ~FKT_CALL_PROBES_CUT;
	strangers_before = sum_of(&fkt_call_strangers);
	too_short_before = sum_of(&fkt_call_too_short);
	fkt_call_probes.since = fkt_counter();
	calls.is_on = true;
}

/* Returns whether no function that is to have a return probe is of a module that is being loaded or unloaded. */
static bool all_stay(const struct fkt_call_table *table)
{
	const unsigned long *functions = table->functions + table->count - table->by_probe;
	u32 i;

	for (i = 0; i < table->by_probe; i++)
		if (!fkt_record_calls_stays(functions[i]))
			return false;
	return true;
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
	WRITE_ONCE(fkt_call_probes.is_changing, true);
	if (table->count > table->by_probe)
		err = arm_through(&plan);
	/* An exchange keeps return probes as they are (fkt_instrument_table_follows()), so there is nothing to add. */
	if (err || !table->by_probe || calls.has_probes)
		return err;
	if (!all_stay(table))
		return -EINVAL;
	calls.has_probes = true;
	return fkt_return_probes_begin(table, refused);
}

/* The table that was armed is in force, and only its functions are traced. */
void fkt_record_calls_settle(void)
{
	WRITE_ONCE(fkt_call_probes.is_changing, false);
}

static void end_probes(const struct fkt_instrument_table *instruments)
{
	if (calls.has_probes && !fkt_return_probes_end(instruments))
		calls.probes_stay = true;
	calls.has_probes = false;
}

/*
 * Traces only the functions of this table, which was armed and is in force. instruments: may be NULL. Calls of other
 * functions that are in flight still reach the probes, which do not find them in the table.
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

/*
 * Returns true when no call is being recorded any more; false: the kernel goes on calling return probes, so the module
 * stays loaded. Their missed calls are counted in `instruments`.
 */
bool fkt_record_calls_end(const struct fkt_instrument_table *instruments)
{
	if (!calls.is_on)
		return !calls.probes_stay;
	end_probes(instruments);
	if (calls.end)
		calls.end();
	get_totals(&calls.last);
	put_tracer();
	calls.is_on = false;
	WRITE_ONCE(fkt_call_probes.is_changing, false);
	return !calls.probes_stay;
}

/* Sets the counts that are common to all instruments. */
void fkt_record_calls_totals(struct fkt_hit_counts *counts)
{
	struct fkt_calls_totals totals = calls.last;

	if (calls.is_on)
		get_totals(&totals);
	counts->too_short = totals.too_short;
	counts->taken = totals.taken;
	counts->shared = totals.shared;
	counts->inside_ns = totals.inside_ns;
	counts->total_ns = totals.total_ns;
}

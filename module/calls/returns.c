// SPDX-License-Identifier: GPL-2.0-only
/*
 * What trampoline.S calls and reads at entries and returns: the functions of the user of calls.h, the shortest
 * durations, and the number of calls that are open.
 */

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/static_call.h>

#include "call.h"
#include "held.h"
#include "returns.h"
#include "room.h"
#include "tasks.h"
#include "trampoline.h"

/*
 * Calls since the module was loaded, counted by trampoline.S, in one instruction each, so that interrupts cannot come
 * between: those that began, and those that returned, of which too_short are as in struct fkt_calls_totals.
 */
DEFINE_PER_CPU(u64, fkt_calls_begun);
DEFINE_PER_CPU(u64, fkt_calls_returned);
DEFINE_PER_CPU(u64, fkt_calls_too_short);

/*
 * Returns the calls begun less the calls returned on the CPU; a call may return on another one, so only the sum over
 * all CPUs says something.
 */
u64 fkt_returns_open(int cpu)
{
	return READ_ONCE(per_cpu(fkt_calls_begun, cpu)) - READ_ONCE(per_cpu(fkt_calls_returned, cpu)) -
	       READ_ONCE(per_cpu(fkt_calls_too_short, cpu));
}

/*
 * Calls of fewer ticks are dropped, by kind of frame. Read by trampoline.S without a lock; a change takes effect on
 * each CPU by and by.
 */
u64 fkt_calls_shortest[FKT_CALLS_FRAMES] = { [0 ... FKT_CALLS_FRAMES - 1] = FKT_CALLS_LONGEST };

/* ---- what the user does at entries and returns ---- */

static void __maybe_unused no_record(u64 unused, u64 ticks, u64 now)
{
}

static void __maybe_unused no_record_arguments(u64 unused, u64 ticks, u64 now)
{
}

static void __maybe_unused no_record_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body,
					  const u64 *kept, const struct fkt_call_task *task)
{
}

static void __maybe_unused no_message(unsigned long body)
{
}

static enum fkt_call_held no_record_held(const struct fkt_call *call, u64 ticks, const unsigned long *body,
					 const struct fkt_call_task *task)
{
	return FKT_CALL_DONE;
}

static bool trace_none(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	return false;
}

DEFINE_STATIC_CALL_NULL(fkt_calls_record, no_record);
DEFINE_STATIC_CALL_NULL(fkt_calls_record_arguments, no_record_arguments);
DEFINE_STATIC_CALL_NULL(fkt_calls_record_kept, no_record_kept);
DEFINE_STATIC_CALL(fkt_calls_record_held, no_record_held);
DEFINE_STATIC_CALL(fkt_calls_ask, trace_none);
DEFINE_STATIC_CALL_NULL(fkt_calls_no_room, no_message);

/* trampoline.S calls the first two itself, and the others through these functions. */
void fkt_calls_returned_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept)
{
	static_call_cond(fkt_calls_record_kept)(call, ticks, body, kept, NULL);
}

void fkt_calls_returned_task(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			     const struct fkt_call_task *task)
{
	static_call_cond(fkt_calls_record_kept)(call, ticks, body, kept, fkt_tasks_known(task));
}

void fkt_calls_returned_held(const struct fkt_call *call, u64 ticks, const unsigned long *body)
{
	const struct fkt_call_task *task = fkt_tasks_known(fkt_call_task_behind(call));

	if (static_call(fkt_calls_record_held)(call, ticks, body, task) == FKT_CALL_HOLD)
		fkt_calls_hold(call, ticks, *body);
	else if (task)
		fkt_held_end(task);
}

/* Returns whether a frame that keeps so many words may be put on the stack; if not, the function's call is missed. */
static bool has_room(unsigned long body, unsigned int words)
{
	if (likely(fkt_room_on_stack(words)))
		return true;
	static_call_cond(fkt_calls_no_room)(body);
	return false;
}

bool fkt_calls_has_room(unsigned long body)
{
	return has_room(body, 0);
}

bool fkt_calls_entered(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	return has_room(body, room) && static_call(fkt_calls_ask)(arguments, kept, body, room);
}

/* ---- the user; callers hold the lock of calls.c ---- */

/* Returns the smallest of the plan's shortest durations. */
static u64 least_of(const struct fkt_calls_plan *plan)
{
	u64 least = FKT_CALLS_LONGEST;
	unsigned int frame;

	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++)
		least = min(least, plan->frames[frame].shortest);
	return least;
}

/* Drops from now on what is too short for the plan in force. */
void fkt_returns_follow_shortest(const struct fkt_calls_plan *plan)
{
	const u64 least = least_of(plan);
	unsigned int frame;

	/* Calls in flight may be in kinds of frames without functions in the plan. */
	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++)
		WRITE_ONCE(fkt_calls_shortest[frame],
			   plan->frames[frame].count ? plan->frames[frame].shortest : least);
}

/* Drops from now on what has fewer ticks, in all kinds of frames. */
void fkt_returns_set_shortest(u64 ticks)
{
	unsigned int frame;

	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++)
		WRITE_ONCE(fkt_calls_shortest[frame], ticks);
}

/*
 * While there is no user: `record` is called for each call in FKT_CALLS_PLAIN from now on; NULL: nothing is, as before.
 */
void fkt_returns_watch(fkt_call_fn record)
{
	WRITE_ONCE(fkt_calls_shortest[FKT_CALLS_PLAIN], FKT_CALLS_LONGEST);
	static_call_update(fkt_calls_record, record);
	if (record)
		WRITE_ONCE(fkt_calls_shortest[FKT_CALLS_PLAIN], 0);
}

/* Calls from now on the functions of the plan's user. */
void fkt_returns_set(const struct fkt_calls_plan *plan)
{
	static_call_update(fkt_calls_record, plan->record);
	static_call_update(fkt_calls_record_arguments, plan->record_arguments);
	static_call_update(fkt_calls_record_kept, plan->record_kept);
	static_call_update(fkt_calls_no_room, plan->no_room);
	if (plan->record_held)
		static_call_update(fkt_calls_record_held, plan->record_held);
	if (plan->ask)
		static_call_update(fkt_calls_ask, plan->ask);
	fkt_returns_follow_shortest(plan);
}

/* Calls no function of a user any more. Called when no task is in trampoline.S. */
void fkt_returns_clear(void)
{
	static_call_update(fkt_calls_ask, trace_none);
	static_call_update(fkt_calls_record_held, no_record_held);
	static_call_update(fkt_calls_no_room, NULL);
	static_call_update(fkt_calls_record_kept, NULL);
	static_call_update(fkt_calls_record_arguments, NULL);
	static_call_update(fkt_calls_record, NULL);
}

/*
 * Until the next call of fkt_returns_follow_shortest(), no call is dropped as too short for this plan or the one in
 * force: a function may be in two kinds of frames (fkt_plan_arm()), so all kinds get the smallest duration of all.
 */
void fkt_returns_lower_shortest(const struct fkt_calls_plan *plan)
{
	u64 least = least_of(plan);
	unsigned int frame;

	for (frame = 0; frame < FKT_CALLS_FRAMES; frame++)
		least = min(least, fkt_calls_shortest[frame]);
	fkt_returns_set_shortest(least);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Switches the tracing of calls (calls.h): begin, exchange of the plan, end, and keeping the module loaded. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <asm/unwind.h>

#include "base/compat.h"
#include "asleep.h"
#include "call_plan.h"
#include "calls.h"
#include "cost.h"
#include "ftrace_entries.h"
#include "held.h"
#include "returns.h"
#include "room.h"
#include "switches.h"
#include "tasks.h"
#include "traceable.h"
#include "trampoline.h"

/* Protects the plan in force (call_plan.h), `is_used` and `is_kept`. */
static DEFINE_MUTEX(lock);
/* There is a user: calls are traced. */
static bool is_used;

/* This module holds a reference to itself, and counts the calls that end with their task. */
static bool is_kept;

/* ---- calls that end with their task ---- */

static struct tracepoint *exit_tracepoint;

/*
 * The functions on the stack of a task that exits never return. Called in that task, with preemption disabled. Frames
 * that the unwinder does not find keep the module loaded.
 */
static void on_exit(void *unused, struct task_struct *task)
{
	FKT_TRACEPOINT_PROBE();

	/* Functions below this one return: they may be of the unwinder, which may be traced, too. */
	unsigned long *frames = __builtin_dwarf_cfa();
	struct unwind_state state;
	unsigned int open = 0;

	for (unwind_start(&state, current, NULL, frames); !unwind_done(&state); unwind_next_frame(&state))
		open += fkt_plan_returns(unwind_get_return_address(&state));
	this_cpu_add(fkt_calls_returned, open);
}

static void __init match_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	fkt_switches_match(tracepoint);
	if (!strcmp(tracepoint->name, "sched_process_exit"))
		exit_tracepoint = tracepoint;
}

/* ---- keeping the module loaded ---- */

static void look(struct work_struct *unused);
static DECLARE_DELAYED_WORK(look_work, look);
static unsigned int wait_seconds;
#define LONGEST_WAIT 64

/*
 * Returns the number of calls that have begun and not returned. Exact while no calls begin: returns are counted once,
 * so the sum of counts that are read one after the other is never below the true number.
 */
unsigned long fkt_calls_in_flight(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += fkt_returns_open(cpu);
	return sum;
}
EXPORT_SYMBOL_GPL(fkt_calls_in_flight);

/* Returns when no task is between an instruction of trampoline.S that counts and the one that leaves it. */
static void wait_for_trampoline(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}

/* Lets the module be unloaded if no call is left that returns through it. Caller must hold `lock`. */
static bool let_go(void)
{
	if (fkt_calls_in_flight())
		return false;
	wait_for_trampoline();
	tracepoint_probe_unregister(exit_tracepoint, on_exit, NULL);
	tracepoint_synchronize_unregister();
	is_kept = false;
	module_put(THIS_MODULE);
	return true;
}

static void look(struct work_struct *unused)
{
	mutex_lock(&lock);
	if (!is_used && is_kept && !let_go()) {
		if (wait_seconds < LONGEST_WAIT && 2 * wait_seconds >= LONGEST_WAIT)
			pr_info("%lu traced calls have not returned and keep the module loaded: fkt_doctor names them\n",
				fkt_calls_in_flight());
		wait_seconds = min(2 * wait_seconds, LONGEST_WAIT);
		schedule_delayed_work(&look_work, wait_seconds * HZ);
	}
	mutex_unlock(&lock);
}

/* Caller must hold `lock`. */
static int keep(void)
{
	int err;

	if (is_kept)
		return 0;
	err = tracepoint_probe_register(exit_tracepoint, on_exit, NULL);
	if (err)
		return err;
	__module_get(THIS_MODULE);
	is_kept = true;
	return 0;
}

/* ---- begin and end ---- */

/* ---- totals ---- */

/* Sums at the begin of the present user, and at the end of the last one. Protected by `lock`. */
static struct fkt_calls_totals at_begin, at_end;

static struct fkt_calls_totals sum_totals(void)
{
	struct fkt_calls_totals sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		sum.too_short += READ_ONCE(per_cpu(fkt_calls_too_short, cpu));
		sum.taken += READ_ONCE(per_cpu(fkt_plan_taken, cpu));
		sum.shared += READ_ONCE(per_cpu(fkt_plan_shared, cpu));
	}
	return sum;
}

/* The totals of the current user, or of the last one if there is none. */
void fkt_calls_totals(struct fkt_calls_totals *totals)
{
	mutex_lock(&lock);
	*totals = is_used ? sum_totals() : at_end;
	totals->too_short -= at_begin.too_short;
	totals->taken -= at_begin.taken;
	totals->shared -= at_begin.shared;
	fkt_cost_get(totals);
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_calls_totals);

/* Drops calls in flight as too short from now on, so that the next user may change the functions. */
static void forget_user(void)
{
	fkt_returns_set_shortest(FKT_CALLS_LONGEST);
	fkt_held_stop();
	wait_for_trampoline();
	fkt_returns_clear();
}

/* Begins to count per task for the plan's frames. Called before the first of the plan's functions is traced. */
static int begin_tasks(const struct fkt_calls_plan *plan)
{
	const bool holds = plan->frames[FKT_CALLS_HELD].count || plan->frames[FKT_CALLS_HELD_BRIEF].count;
	int err;

	if (!holds && !plan->frames[FKT_CALLS_TASK].count && !plan->frames[FKT_CALLS_TASK_FEW].count &&
	    !plan->frames[FKT_CALLS_TASK_SOME].count && !plan->frames[FKT_CALLS_TASK_MANY].count)
		return 0;
	err = fkt_switches_begin(plan->threads);
	return err || !holds ? err : fkt_held_begin(&plan->keep, plan->threads);
}

/* No function is traced any more, and no code of this module runs for one. */
static void end_tasks(void)
{
	fkt_switches_end();
	fkt_held_end_all();
}

static int begin(const struct fkt_calls_plan *plan)
{
	int err;

	if (is_used)
		return -EBUSY;
	err = fkt_plan_make(plan);
	if (err)
		goto err_free;
	err = keep();
	if (err)
		goto err_free;
	err = begin_tasks(plan);
	if (err)
		goto err_end;
	fkt_cost_measure();
	at_begin = sum_totals();
	at_end = at_begin;
	fkt_returns_set(plan);
	err = fkt_plan_register();
	if (err)
		goto err_forget;
	is_used = true;
	return 0;

err_forget:
	forget_user();
err_end:
	end_tasks();
	let_go();
err_free:
	fkt_plan_free();
	return err;
}

/*
 * Traces the calls of plan->frames; functions whose calls could not return are left out. The functions of the plan
 * must stay callable until fkt_calls_end() has returned. Returns 0, -EBUSY if there is a user already, -ENOENT if no
 * function is left, -EINVAL if one of them cannot be traced, -ENODEV if ftrace is off, or another negative errno.
 */
int fkt_calls_begin(const struct fkt_calls_plan *plan)
{
	int err;

	cancel_delayed_work_sync(&look_work);
	mutex_lock(&lock);
	err = begin(plan);
	if (!is_used && is_kept)
		schedule_delayed_work(&look_work, HZ);
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_calls_begin);

/* Ends the tracing. When this returns, the plan's functions do not run any more. Calls in flight are not recorded. */
void fkt_calls_end(void)
{
	mutex_lock(&lock);
	if (is_used) {
		fkt_plan_unregister();
		/* Before forget_user(), which makes every call too short. */
		at_end = sum_totals();
		forget_user();
		end_tasks();
		fkt_plan_free();
		is_used = false;
		wait_seconds = 1;
		if (!let_go())
			schedule_delayed_work(&look_work, HZ);
	}
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_calls_end);

/* ---- another plan while calls are traced ---- */

static int arm(const struct fkt_calls_plan *plan)
{
	int err;

	if (!is_used)
		return -EINVAL;
	err = begin_tasks(plan);
	if (err)
		return err;
	fkt_returns_lower_shortest(plan);
	return fkt_plan_arm(plan);
}

/*
 * Traces the functions of this plan too, besides those that are traced. Of the rest of the plan only the shortest
 * durations are used, if they are less. Returns an errno as fkt_calls_begin(): then the caller must go back to the
 * previous plan with fkt_calls_disarm().
 */
int fkt_calls_arm(const struct fkt_calls_plan *plan)
{
	int err;

	mutex_lock(&lock);
	err = arm(plan);
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_calls_arm);

/*
 * Traces no other functions than those of this plan. Calls in flight are still recorded, unless they are too short for
 * the kind of frame in which they began.
 */
void fkt_calls_disarm(const struct fkt_calls_plan *plan)
{
	mutex_lock(&lock);
	if (is_used) {
		fkt_plan_disarm(plan);
		fkt_returns_follow_shortest(plan);
	}
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_calls_disarm);

/* Changes all shortest durations while calls are traced, also for calls in flight. */
void fkt_calls_set_shortest(u64 ticks)
{
	mutex_lock(&lock);
	/* Without a user it must stay FKT_CALLS_LONGEST (forget_user()). */
	if (is_used)
		fkt_returns_set_shortest(ticks);
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_calls_set_shortest);

/* ---- modules that are loaded and unloaded ---- */

/*
 * Called before the code of a module runs, and before its memory is freed. `lock` is taken with the notifiers'
 * semaphore held, so that semaphore must never be taken under `lock`: ftrace, static calls and tracepoints
 * have notifiers, but call none. A user that begins meanwhile either has its functions in the plan when this is
 * called, or sees in the module's state that it is being unloaded (traceable.c).
 */
static int on_module(struct notifier_block *unused, unsigned long state, void *module)
{
	/* A module that is being loaded: none of its functions was selected. */
	if (state != MODULE_STATE_GOING && state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	mutex_lock(&lock);
	fkt_plan_drop(module);
	mutex_unlock(&lock);
	fkt_entries_drop(module);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

/* ---- the module ---- */

static int get_open(char *buffer, const struct kernel_param *unused)
{
	unsigned long open = fkt_calls_in_flight();

	/*
	 * The reader may be waiting to unload the module, so this checks whether it can be unloaded. Not in a work
	 * item: if a slow reader queued one, it could run after fkt_calls_exit(). The module's memory is freed only
	 * when no reader of its parameters is left, because these are removed first.
	 */
	if (!open) {
		mutex_lock(&lock);
		if (!is_used && is_kept)
			let_go();
		mutex_unlock(&lock);
	}
	return sysfs_emit(buffer, "%lu\n", open);
}

static const struct kernel_param_ops open_ops = { .get = get_open };
module_param_cb(open, &open_ops, NULL, 0444);
MODULE_PARM_DESC(open, "calls that have not returned yet; while there are any, the module stays loaded");

static int __init fkt_calls_init(void)
{
	int err;

	for_each_kernel_tracepoint(match_tracepoint, NULL);
	if (!exit_tracepoint)
		return -ENOENT;
	err = fkt_functions_init();
	if (err)
		return err;
	fkt_room_init();
	err = register_module_notifier(&module_notifier);
	if (err)
		return err;
	err = fkt_calls_power_init();
	if (err)
		unregister_module_notifier(&module_notifier);
	return err;
}

/* The module has no references, so no call returns through it. */
static void __exit fkt_calls_exit(void)
{
	fkt_calls_power_exit();
	unregister_module_notifier(&module_notifier);
	cancel_delayed_work_sync(&look_work);
	synchronize_rcu_tasks();
}

module_init(fkt_calls_init);
module_exit(fkt_calls_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fast Kernel Tracing: calls of functions");
MODULE_VERSION("0.1");

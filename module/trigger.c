// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trigger of a recording: a condition (fkt/condition.h); the recording's owner is told when it comes
 * true. It is evaluated for system calls at their exit, by probes used for nothing else, and for other
 * events when they are written. It is not evaluated again until the owner has fetched the result.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <fkt/condition.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "clock.h"
#include "filter.h"
#include "trigger.h"
#include "wake.h"
#include "write.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_trigger_events);

/* Which code may write or read `fired`. */
enum trigger_state {
	TRIGGER_ASKING, /* none; the condition is evaluated */
	TRIGGER_FIRING, /* written by the probe that was first */
	TRIGGER_FIRED, /* read by fkt_trigger_fired() */
};

/* Static, not a part of struct fkt_recording, because probes read and write it. */
static struct fkt_trigger {
	/* condition and entered do not change while a probe or the drain may run. */
	struct fkt_condition *condition; /* NULL: none */
	u64 *entered; /* by thread number: begin of its system call (ticks), 0: unknown; NULL: not needed */
	u64 since; /* an earlier begin in `entered` may be of a call whose end was not seen (ticks) */
	u32 state; /* enum trigger_state */
	struct fkt_fired fired;
} trigger;

/* Ids of events that can be pairs, except system calls: FKT_E_IRQ_ENTRY to FKT_E_SOFTIRQ_EXIT. */
#define PAIRED_FIRST FKT_E_IRQ_ENTRY
#define PAIRED_COUNT (FKT_E_SOFTIRQ_EXIT - FKT_E_IRQ_ENTRY + 1)

/* ---- start and stop ---- */

/* Returns the condition passed by the user, NULL if there is none, or an ERR_PTR. */
struct fkt_condition *fkt_trigger_get(const struct fkt_start *start)
{
	struct fkt_condition *condition;

	if (!start->condition)
		return NULL;
	condition = vmemdup_user(u64_to_user_ptr(start->condition), sizeof(*condition));
	if (!IS_ERR(condition) &&
	    (!fkt_condition_valid(condition) || condition->tids > PID_MAX_LIMIT)) {
		kvfree(condition);
		return ERR_PTR(-EINVAL);
	}
	return condition;
}

/* Takes over `condition` (may be NULL), or frees it on error. Called before the hooks are on. */
int fkt_trigger_start(struct fkt_condition *condition)
{
	trigger.state = TRIGGER_ASKING;
	if (!condition)
		return 0;
	if (fkt_condition_tests(condition, FKT_CONDITION_DURATION) && condition->tids) {
		trigger.entered = __vmalloc(array_size(condition->tids, sizeof(*trigger.entered)),
					 GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!trigger.entered) {
			kvfree(condition);
			return -ENOMEM;
		}
	}
	trigger.condition = condition;
	if (fkt_condition_has_any(&condition->watched, 0, FKT_PAIR_ID))
		static_branch_enable(&fkt_key_trigger_events);
	return 0;
}

/* Called after every probe and the drain have ended. */
void fkt_trigger_stop(void)
{
	static_branch_disable(&fkt_key_trigger_events);
	kvfree(trigger.condition);
	trigger.condition = NULL;
	vfree(trigger.entered);
	trigger.entered = NULL;
}

/* Returns whether the condition is evaluated for system calls. */
bool fkt_trigger_calls(void)
{
	return trigger.condition &&
	       fkt_condition_has_any(&trigger.condition->watched, FKT_PAIR_ID, FKT_CONDITION_IDS - FKT_PAIR_ID);
}

/* Returns whether the condition tests the duration of system calls. */
bool fkt_trigger_measures(void)
{
	return trigger.entered;
}

/* Returns whether the condition is evaluated for soft lockups. */
bool fkt_trigger_lockups(void)
{
	return trigger.condition && fkt_condition_has(&trigger.condition->watched, FKT_E_SOFT_LOCKUP);
}

/* Returns whether pairs may be used: not if the condition is evaluated for events that would become pairs. */
bool fkt_trigger_pairs(void)
{
	return !trigger.condition ||
	       !fkt_condition_has_any(&trigger.condition->watched, PAIRED_FIRST, PAIRED_COUNT);
}

/* ---- evaluating ---- */

/* Lockless: if another CPU fires at the same time, fire() finds that out. */
static bool asks(u32 id)
{
	return READ_ONCE(trigger.state) == TRIGGER_ASKING && fkt_condition_has(&trigger.condition->watched, id);
}

/* instrument: index of the one whose hit it is, plus 1; 0: the condition came true */
static void fire(const struct fkt_condition_facts *facts, u32 instrument)
{
	/*
	 * The only LOCK-prefixed instruction on a probe's path, against other CPUs and interrupts of
	 * this one: executed when the condition is true, once until the owner fetches the result.
	 */
	if (cmpxchg(&trigger.state, TRIGGER_ASKING, TRIGGER_FIRING) != TRIGGER_ASKING)
		return;
	trigger.fired = (struct fkt_fired){
		.clock = fkt_clock(),
		.duration = facts->duration,
		.ret = facts->ret,
		.id = facts->id,
		.cpu = facts->cpu,
		.pid = facts->pid,
		.instrument = instrument,
	};
	strscpy(trigger.fired.task, facts->task, sizeof(trigger.fired.task));
	/* Pairs with the load-acquire in fkt_trigger_fired(). */
	smp_store_release(&trigger.state, TRIGGER_FIRED);
	fkt_wake_soon();
}

/* Called after an event that is not a system call was written; any context, preemption off. */
void fkt_trigger_event(u32 id)
{
	u32 pid = fkt_shown_pid(current->pid);
	const struct fkt_condition_facts facts = {
		.id = id,
		.cpu = raw_smp_processor_id(),
		.pid = pid,
		.duration = FKT_CONDITION_UNKNOWN,
		.task = pid == current->pid ? current->comm : "",
	};

	if (asks(id) && fkt_condition_true(trigger.condition, &facts))
		fire(&facts, 0);
}

/* A hit of the instrument with this index, whose action is FKT_ACTION_SNAPSHOT; any context, preemption off. */
void fkt_trigger_hit(u32 instrument)
{
	const u32 pid = fkt_shown_pid(current->pid);
	const struct fkt_condition_facts facts = {
		.cpu = raw_smp_processor_id(),
		.pid = pid,
		.duration = FKT_CONDITION_UNKNOWN,
		.task = pid == current->pid ? current->comm : "",
	};

	if (READ_ONCE(trigger.state) != TRIGGER_ASKING)
		return;
	/* Before the owner can be told, so that the snapshot has it. Several CPUs may write one at the same time. */
	fkt_emit0(FKT_E_HIT, instrument);
	fire(&facts, instrument + 1);
}

/* The slot is written only by the thread itself, and by its parent before it runs. */
static u64 *slot_of(pid_t tid)
{
	if (!trigger.entered || (u32)tid >= trigger.condition->tids)
		return NULL;
	return &trigger.entered[tid];
}

/* A thread was created: a begin recorded for the last thread with its number is not one of its system calls. */
void fkt_trigger_forget(pid_t tid)
{
	u64 *slot = slot_of(tid);

	if (slot)
		*slot = 0;
}

/* A thread got the number of its process's first thread in execve(2), whose exit will come under the new number. */
void fkt_trigger_renumber(pid_t old, pid_t new_)
{
	u64 *from = slot_of(old), *to = slot_of(new_);

	if (to)
		*to = from ? *from : 0;
	if (from)
		*from = 0;
}

/*
 * System calls are recorded again: those that were under way may have ended unseen. Caller must hold
 * the recording's lock.
 */
void fkt_trigger_calls_begin(void)
{
	WRITE_ONCE(trigger.since, fkt_clock());
}

/* A system call of the current thread begins. returns: false for calls that never return. */
void fkt_trigger_entry(const struct task_struct *task, bool returns)
{
	u64 *slot = slot_of(task->pid);

	/* exit(2) does not return: its slot would be taken for a call of the next thread with this number. */
	if (slot)
		*slot = returns ? fkt_clock() : 0;
}

/* A system call of the current thread has ended. */
void fkt_trigger_exit(const struct task_struct *task, u32 id, long ret)
{
	struct fkt_condition_facts facts = {
		.id = id,
		.cpu = raw_smp_processor_id(),
		.pid = task->pid,
		.is_call = true,
		.duration = FKT_CONDITION_UNKNOWN,
		.ret = ret,
		.task = task->comm,
	};
	u64 *slot = slot_of(task->pid);

	if (slot && *slot && *slot >= READ_ONCE(trigger.since))
		facts.duration = fkt_clock() - *slot;
	if (slot)
		*slot = 0;
	if (asks(id) && fkt_condition_true(trigger.condition, &facts))
		fire(&facts, 0);
}

/* ---- the owner ---- */

/* Lockless, for poll. */
bool fkt_trigger_pending(void)
{
	return READ_ONCE(trigger.state) == TRIGGER_FIRED;
}

/*
 * Returns the event that made the condition true, or -EAGAIN; from then on the condition is evaluated
 * again. Caller must hold the recording's lock.
 */
int fkt_trigger_fired(struct fkt_fired *fired)
{
	/* Pairs with the store-release in fire(): if TRIGGER_FIRED is seen, so is `fired`. */
	if (smp_load_acquire(&trigger.state) != TRIGGER_FIRED)
		return -EAGAIN;
	*fired = trigger.fired;
	/*
	 * Pairs with the cmpxchg in fire(), which is a full barrier: `fired` was read before it can be
	 * overwritten.
	 */
	smp_store_release(&trigger.state, TRIGGER_ASKING);
	return 0;
}

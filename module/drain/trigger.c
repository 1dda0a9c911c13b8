// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trigger of a recording (fkt/trigger_hit.h). Its program is run for system calls at their exit, by probes used for
 * nothing else, and for other events when they are written; not again until the owner has fetched the result.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_run.h>
#include <fkt/program_verify.h>
#include <fkt/trigger_hit.h>

#include "instruments/program_block.h"
#include "instruments/programs.h"
#include "ring/clock.h"
#include "ring/filter.h"
#include "ring/wake.h"
#include "ring/write.h"
#include "trigger.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_trigger_events);

/* Which code may write or read `fired`. */
enum trigger_state {
	TRIGGER_ASKING, /* none; the program is run */
	TRIGGER_FIRING, /* written by the probe that was first */
	TRIGGER_FIRED, /* read by fkt_trigger_fired() */
};

struct fkt_trigger_plan {
	struct fkt_trigger user; /* as the user has given it */
	const struct fkt_program *program; /* in `block` */
	u64 block[];
};

/* Static, not a part of struct fkt_recording, because probes read and write it. */
static struct {
	/* plan and entered do not change while a probe or the drain may run. */
	struct fkt_trigger_plan *plan; /* NULL: none */
	u64 *entered; /* by thread number: begin of its system call (ticks), 0: unknown; NULL: not needed */
	u64 since; /* an earlier begin in `entered` may be of a call whose end was not seen (ticks) */
	u32 state; /* enum trigger_state */
	struct fkt_fired fired;
} trigger;

/* Ids of events that can be pairs, except system calls: FKT_E_IRQ_ENTRY to FKT_E_SOFTIRQ_EXIT. */
#define PAIRED_FIRST FKT_E_IRQ_ENTRY
#define PAIRED_COUNT (FKT_E_SOFTIRQ_EXIT - FKT_E_IRQ_ENTRY + 1)

/* ---- start and stop ---- */

/* Returns 0, or -EINVAL: it is no program that is safe to run. */
static int take_program(struct fkt_trigger_plan *plan)
{
	const struct fkt_program_rules rules = fkt_trigger_rules();
	struct fkt_program_check *check = kvmalloc(sizeof(*check), GFP_KERNEL_ACCOUNT);
	size_t used = 0;

	if (!check)
		return -ENOMEM;
	plan->program = fkt_program_take(plan->block, plan->user.bytes, &used, &rules, check);
	kvfree(check);
	return plan->program && used == plan->user.bytes ? 0 : -EINVAL;
}

/* Returns the trigger passed by the user, NULL if there is none, or an ERR_PTR. */
struct fkt_trigger_plan *fkt_trigger_get(const struct fkt_start *start)
{
	const struct fkt_trigger __user *from = u64_to_user_ptr(start->trigger);
	struct fkt_trigger_plan *plan;
	u32 bytes;
	int err;

	if (!start->trigger)
		return NULL;
	if (get_user(bytes, &from->bytes))
		return ERR_PTR(-EFAULT);
	if (bytes > FKT_PROGRAM_MAX_BYTES)
		return ERR_PTR(-EINVAL);
	plan = kvzalloc(struct_size(plan, block, DIV_ROUND_UP(bytes, sizeof(u64))), GFP_KERNEL_ACCOUNT);
	if (!plan)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(&plan->user, from, sizeof(plan->user)) ||
	    copy_from_user(plan->block, u64_to_user_ptr(plan->user.program), bytes)) {
		err = -EFAULT;
	} else {
		/* User space may have changed it meanwhile. */
		plan->user.bytes = bytes;
		err = plan->user.tids > PID_MAX_LIMIT ? -EINVAL : take_program(plan);
	}
	if (!err)
		return plan;
	kvfree(plan);
	return ERR_PTR(err);
}

static bool watches_any(const struct fkt_trigger_plan *plan, u32 first, u32 count)
{
	u32 id;

	for (id = first; plan && id < first + count; id++)
		if (fkt_trigger_watches(&plan->user, id))
			return true;
	return false;
}

/* Takes over `plan` (may be NULL), or frees it on error. Called before the hooks are on. */
int fkt_trigger_start(struct fkt_trigger_plan *plan)
{
	trigger.state = TRIGGER_ASKING;
	if (!plan)
		return 0;
	if (plan->user.tids) {
		trigger.entered = __vmalloc(array_size(plan->user.tids, sizeof(*trigger.entered)),
					 GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!trigger.entered) {
			kvfree(plan);
			return -ENOMEM;
		}
	}
	trigger.plan = plan;
	if (watches_any(plan, 0, FKT_PAIR_ID))
		static_branch_enable(&fkt_key_trigger_events);
	return 0;
}

/* Called after every probe and the drain have ended. */
void fkt_trigger_stop(void)
{
	static_branch_disable(&fkt_key_trigger_events);
	kvfree(trigger.plan);
	trigger.plan = NULL;
	vfree(trigger.entered);
	trigger.entered = NULL;
}

/* Returns whether system calls are watched. */
bool fkt_trigger_calls(void)
{
	return watches_any(trigger.plan, FKT_PAIR_ID, FKT_TRIGGER_IDS - FKT_PAIR_ID);
}

/* Returns whether the durations of system calls are tested. */
bool fkt_trigger_measures(void)
{
	return trigger.entered;
}

/* Returns whether soft lockups are watched. */
bool fkt_trigger_lockups(void)
{
	return watches_any(trigger.plan, FKT_E_SOFT_LOCKUP, 1);
}

/* Returns whether pairs may be used: not if events are watched that would become pairs. */
bool fkt_trigger_pairs(void)
{
	return !watches_any(trigger.plan, PAIRED_FIRST, PAIRED_COUNT);
}

/* ---- evaluating ---- */

/* The rules of a trigger's program allow it none. */
static u64 no_context(const u64 *hit, u32 which, u32 parameter)
{
	return 0;
}

/* Lockless: if another CPU fires at the same time, fire() finds that out. */
static bool is_true(const u64 *hit)
{
	struct fkt_emitted nothing = { };

	return READ_ONCE(trigger.state) == TRIGGER_ASKING &&
	       fkt_trigger_watches(&trigger.plan->user, hit[FKT_TRIGGER_ID]) &&
	       fkt_program_run(trigger.plan->program, hit, &nothing, fkt_read_memory, no_context) == FKT_RUN_KEEP;
}

/* instrument: index of the one whose hit it is, plus 1; 0: the program came to its end */
static void fire(const u64 *hit, u32 instrument)
{
	/*
	 * The only LOCK-prefixed instruction on a probe's path, against other CPUs and interrupts of
	 * this one: executed when the trigger is true, once until the owner fetches the result.
	 */
	if (cmpxchg(&trigger.state, TRIGGER_ASKING, TRIGGER_FIRING) != TRIGGER_ASKING)
		return;
	trigger.fired = (struct fkt_fired){
		.clock = fkt_clock(),
		.duration = hit[FKT_TRIGGER_DURATION],
		.ret = hit[FKT_TRIGGER_RET],
		.id = hit[FKT_TRIGGER_ID],
		.cpu = hit[FKT_TRIGGER_CPU],
		.pid = hit[FKT_TRIGGER_TID],
		.instrument = instrument,
	};
	strscpy(trigger.fired.task, (const char *)hit[FKT_TRIGGER_TASK], sizeof(trigger.fired.task));
	/* Pairs with the load-acquire in fkt_trigger_fired(). */
	smp_store_release(&trigger.state, TRIGGER_FIRED);
	fkt_wake_soon();
}

/* Fills in what is known of any event of this thread. */
static void describe(u64 *hit, u32 id)
{
	const u32 pid = fkt_shown_pid(current->pid);

	hit[FKT_TRIGGER_ID] = id;
	hit[FKT_TRIGGER_CPU] = raw_smp_processor_id();
	hit[FKT_TRIGGER_TID] = pid;
	hit[FKT_TRIGGER_TASK] = (unsigned long)(pid == current->pid ? current->comm : "");
	hit[FKT_TRIGGER_DURATION] = FKT_TRIGGER_UNKNOWN;
	hit[FKT_TRIGGER_RET] = 0;
}

/* Called after an event that is not a system call was written; any context, preemption off. */
void fkt_trigger_event(u32 id)
{
	u64 hit[FKT_TRIGGER_WORDS];

	describe(hit, id);
	if (is_true(hit))
		fire(hit, 0);
}

/* A hit of the instrument with this index, whose action is FKT_ACTION_SNAPSHOT; any context, preemption off. */
void fkt_trigger_hit(u32 instrument)
{
	u64 hit[FKT_TRIGGER_WORDS];

	if (READ_ONCE(trigger.state) != TRIGGER_ASKING)
		return;
	/* Before the owner can be told, so that the snapshot has it. Several CPUs may write one at the same time. */
	fkt_emit0(FKT_E_HIT, instrument);
	describe(hit, 0);
	fire(hit, instrument + 1);
}

/* The slot is written only by the thread itself, and by its parent before it runs. */
static u64 *slot_of(pid_t tid)
{
	if (!trigger.entered || (u32)tid >= trigger.plan->user.tids)
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
	u64 *slot = slot_of(task->pid);
	u64 hit[FKT_TRIGGER_WORDS];

	describe(hit, id);
	hit[FKT_TRIGGER_RET] = ret;
	if (slot && *slot && *slot >= READ_ONCE(trigger.since))
		hit[FKT_TRIGGER_DURATION] = fkt_clock() - *slot;
	if (slot)
		*slot = 0;
	if (is_true(hit))
		fire(hit, 0);
}

/* ---- the owner ---- */

/* Lockless, for poll. */
bool fkt_trigger_pending(void)
{
	return READ_ONCE(trigger.state) == TRIGGER_FIRED;
}

/*
 * Returns the event that made the trigger true, or -EAGAIN; from then on its program is run
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts, for each task, in how many traced calls it is, and how long it was not on a CPU (struct fkt_call_task).
 * trampoline.S reads both from per-CPU variables, which have the values of the task that runs on the CPU. At a
 * switch (switches.c) they are saved for the previous task, and those of the next one are loaded, so a call may begin
 * on one CPU and return on another. An interrupt uses the values of the task that it interrupts.
 */

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "arch/arch.h"
#include "call.h"
#include "tasks.h"
#include "trampoline.h"

/*
 * The TSC less the ticks that the CPU's task was on a CPU: it grows by the time that the task is not on one. Read by
 * trampoline.S, before and after the TSC.
 */
DEFINE_PER_CPU(u64, fkt_calls_off);
/* In how many traced calls the CPU's task is; from bit FKT_CALLS_DEPTH_BITS on `period`. */
DEFINE_PER_CPU(u64, fkt_calls_depth);

/*
 * From bit FKT_CALLS_DEPTH_BITS on `period`, for tests of a frame's depth: fkt_tasks_known(). Below it 0.
 */
u64 fkt_tasks_mark;
/*
 * Incremented at each begin and each end. A frame has the period in which its call began: if that is another one than
 * when the call returns, trampoline.S does not restore the frame's depth, and fkt_tasks_known() returns NULL. 0: before
 * the first begin; in `fkt_calls_depth`: the task's thread number is too high. Protected by the lock of calls.c;
 * fkt_tasks_switch() runs only between fkt_tasks_begin() and fkt_tasks_end(), in which it does not change.
 */
static u32 period;

/*
 * A word for each thread number, valid while the thread is not on a CPU: the ticks that it was on one, and from bit
 * FKT_CALLS_ON_CPU_BITS on its depth. Written at the switch away from the thread and read at the switch to it, which
 * the scheduler orders; also written by the parent before the thread runs. NULL: nothing is counted.
 */
static u64 *words;
static u32 count;
/* Such a word for the CPU's idle task: all idle tasks have the thread number 0. */
static DEFINE_PER_CPU(u64, idle_word);

#define ON_CPU_MASK ((1ULL << FKT_CALLS_ON_CPU_BITS) - 1)

/* Returns NULL if the task's thread number is too high. */
static u64 *word_of(const struct task_struct *task)
{
	if (!task->pid)
		return this_cpu_ptr(&idle_word);
	return (u32)task->pid < count ? &words[task->pid] : NULL;
}

/*
 * The CPU leaves `prev` for `next`; called with interrupts disabled. A call in an NMI meanwhile may have the depth of
 * either task. Returns whether `prev` is in a traced call.
 */
bool fkt_tasks_switch(const struct task_struct *prev, const struct task_struct *next)
{
	const u64 now = fkt_counter(), depth = this_cpu_read(fkt_calls_depth);
	const bool is_known = depth >> FKT_CALLS_DEPTH_BITS == period;
	u64 *word = word_of(prev);

	/* A dead task's number may have been given to a new thread, whose word must stay 0. */
	if (word && !READ_ONCE(prev->exit_state))
		*word = ((now - this_cpu_read(fkt_calls_off)) & ON_CPU_MASK) |
			(is_known ? depth << FKT_CALLS_ON_CPU_BITS : 0);
	word = word_of(next);
	this_cpu_write(fkt_calls_off, word ? now - (*word & ON_CPU_MASK) : 0);
	this_cpu_write(fkt_calls_depth,
		       word ? (u64)period << FKT_CALLS_DEPTH_BITS | *word >> FKT_CALLS_ON_CPU_BITS : 0);
	return is_known && (u32)depth;
}

/* Called in the parent before the new thread runs. Clears what an earlier thread with this number has left. */
void fkt_tasks_newtask(const struct task_struct *task)
{
	u64 *word = task->pid ? word_of(task) : NULL;

	if (word)
		*word = 0;
}

/* Returns `task` if it is of this period and known, else NULL. task: NULL: the frame has none. Any context. */
const struct fkt_call_task *fkt_tasks_known(const struct fkt_call_task *task)
{
	return task && task->depth >> FKT_CALLS_DEPTH_BITS == READ_ONCE(period) ? task : NULL;
}

static void next_period(void)
{
	WRITE_ONCE(period, period + 1 ?: 1);
	WRITE_ONCE(fkt_tasks_mark, (u64)period << FKT_CALLS_DEPTH_BITS);
}

/* Begins with depth 0 on each CPU. The ticks may have any value: only differences are used. */
static void begin_period(void)
{
	int cpu;

	next_period();
	for_each_possible_cpu(cpu) {
		per_cpu(idle_word, cpu) = 0;
		/*
		 * Lockless: a call of an earlier period that returns on that CPU now may overwrite this. Then the calls
		 * on that CPU up to its next switch have that period, and fkt_tasks_known() returns NULL for them.
		 */
		WRITE_ONCE(per_cpu(fkt_calls_depth, cpu), (u64)period << FKT_CALLS_DEPTH_BITS);
	}
}

/*
 * Begins to count, for threads with lower numbers than `threads`. Caller must trace no function in frames with a struct
 * fkt_call_task yet, and calls fkt_tasks_switch() and fkt_tasks_newtask() from now on. Returns 0, -EINVAL if `threads`
 * is 0, or -ENOMEM.
 */
int fkt_tasks_begin(u32 threads)
{
	if (!threads)
		return -EINVAL;
	words = __vmalloc((unsigned long)threads * sizeof(*words), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!words)
		return -ENOMEM;
	count = threads;
	begin_period();
	return 0;
}

/* Caller must trace no function in frames with a struct fkt_call_task any more; no switch may run. */
void fkt_tasks_end(void)
{
	vfree(words);
	words = NULL;
	count = 0;
	/* Calls in flight have the period before: their later switches are not counted. */
	next_period();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What frames keep of each task (struct fkt_call_task): in how many traced calls it is, and how long it was not on a
 * CPU. trampoline.S takes both from per-CPU variables, which are those of the task that runs on the CPU: at a switch
 * they are stored for the task that goes, and loaded for the one that comes, so a call may begin on one CPU and return
 * on another. An interrupt finds those of the task that it came to.
 */

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <asm/msr.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "calls.h"
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
 * A new number with each begin and end, by which a frame is known that was made before: when its call returns, its
 * depth is not taken over (trampoline.S), and its time is not given to the user. 0: before the first begin; in
 * `fkt_calls_depth` also, that the task is not known.
 */
static u32 period;

/*
 * By thread number, of each thread that is not on a CPU: the ticks that it was on one, and from bit
 * FKT_CALLS_ON_CPU_BITS on its depth. A thread's word is changed by the CPU that switches to it or away from it, which
 * the scheduler orders, and by its parent before it runs. NULL: nothing is kept.
 */
static u64 *words;
static u32 count;
/* Likewise, of the CPU's idle task: the number of all of them is 0. */
static DEFINE_PER_CPU(u64, idle_word);

#define ON_CPU_MASK ((1ULL << FKT_CALLS_ON_CPU_BITS) - 1)

static struct tracepoint *switch_tracepoint, *newtask_tracepoint;

/* NULL: it is not known. */
static u64 *word_of(const struct task_struct *task)
{
	if (!task->pid)
		return this_cpu_ptr(&idle_word);
	return (u32)task->pid < count ? &words[task->pid] : NULL;
}

/* Interrupts are off, but for NMIs: a call in one has the depth of either task. */
static void on_switch(void *unused, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	const u64 now = rdtsc(), depth = this_cpu_read(fkt_calls_depth);
	u64 *word = word_of(prev);

	/* The number of a task that is dead may belong to another one already. */
	if (word && !READ_ONCE(prev->exit_state))
		*word = ((now - this_cpu_read(fkt_calls_off)) & ON_CPU_MASK) |
			(depth >> FKT_CALLS_DEPTH_BITS == period ? depth << FKT_CALLS_ON_CPU_BITS : 0);
	word = word_of(next);
	this_cpu_write(fkt_calls_off, word ? now - (*word & ON_CPU_MASK) : 0);
	this_cpu_write(fkt_calls_depth,
		       word ? (u64)period << FKT_CALLS_DEPTH_BITS | *word >> FKT_CALLS_ON_CPU_BITS : 0);
}

/* Called in the parent, before the new thread runs: its number was another thread's. */
static void on_newtask(void *unused, struct task_struct *task, unsigned long clone_flags)
{
	u64 *word = task->pid ? word_of(task) : NULL;

	if (word)
		*word = 0;
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_task_newtask(on_newtask);
}

/* Called with each tracepoint of the kernel, before fkt_tasks_begin(). */
void __init fkt_tasks_match(struct tracepoint *tracepoint)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		switch_tracepoint = tracepoint;
	if (!strcmp(tracepoint->name, "task_newtask"))
		newtask_tracepoint = tracepoint;
}

/* Returns `task` if it is of this period and known, else NULL. task: NULL: the frame has none. Any context. */
const struct fkt_call_task *fkt_tasks_known(const struct fkt_call_task *task)
{
	return task && task->depth >> FKT_CALLS_DEPTH_BITS == READ_ONCE(period) ? task : NULL;
}

static int register_probes(void)
{
	int err = tracepoint_probe_register(newtask_tracepoint, on_newtask, NULL);

	if (err)
		return err;
	err = tracepoint_probe_register(switch_tracepoint, on_switch, NULL);
	if (err) {
		tracepoint_probe_unregister(newtask_tracepoint, on_newtask, NULL);
		tracepoint_synchronize_unregister();
	}
	return err;
}

static void free_words(void)
{
	vfree(words);
	words = NULL;
	count = 0;
}

static void next_period(void)
{
	WRITE_ONCE(period, period + 1 ?: 1);
}

/* Each CPU's task is in no traced call; how long it was on a CPU before does not matter. */
static void begin_period(void)
{
	int cpu;

	next_period();
	for_each_possible_cpu(cpu) {
		per_cpu(idle_word, cpu) = 0;
		/*
		 * If a call of an earlier period returns on that CPU now, this may be lost: then the CPU's calls up to
		 * its next switch are known to be of that period.
		 */
		WRITE_ONCE(per_cpu(fkt_calls_depth, cpu), (u64)period << FKT_CALLS_DEPTH_BITS);
	}
}

/*
 * Begins to keep what frames ask for, of threads with lower numbers than `threads`, if it is not being kept already. No
 * function may be traced in frames that ask. Returns 0, -EINVAL if no thread is to be known, -ENOENT if the kernel does
 * not have the tracepoints, or -ENOMEM.
 */
int fkt_tasks_begin(u32 threads)
{
	int err;

	if (words)
		return 0;
	if (!threads)
		return -EINVAL;
	if (!switch_tracepoint || !newtask_tracepoint)
		return -ENOENT;
	words = __vmalloc((unsigned long)threads * sizeof(*words), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!words)
		return -ENOMEM;
	count = threads;
	begin_period();
	err = register_probes();
	if (err) {
		free_words();
		return err;
	}
	/* Switches that have not called the probe are over then: interrupts are off in them. */
	synchronize_rcu();
	return 0;
}

/* No function may be traced in frames that ask. */
void fkt_tasks_end(void)
{
	if (!words)
		return;
	tracepoint_probe_unregister(switch_tracepoint, on_switch, NULL);
	tracepoint_probe_unregister(newtask_tracepoint, on_newtask, NULL);
	tracepoint_synchronize_unregister();
	free_words();
	/* What is still in flight was not followed to its end. */
	next_period();
}

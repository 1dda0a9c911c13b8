// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context of a hit that programs ask for (enum fkt_context). Runs in any context with preemption disabled, and
 * calls no function that could be traced.
 */

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <fkt/program.h>

#include "drain/recording.h"
#include "instruments/level.h"
#include "instruments/programs.h"
#include "instruments/task_flags.h"
#include "ring/clock.h"
#include "ring/flags.h"
#include "call_context.h"
#include "file_names.h"

/* State of a linear congruential generator. An interrupt may repeat a number of the code that it interrupts. */
static DEFINE_PER_CPU(u64, chance);

/* Returns a number below `below`. */
static u64 random_below(u32 below)
{
	u64 state = this_cpu_read(chance);

	/* Constants: Knuth, The Art of Computer Programming, volume 2, 3.3.4. The CPUs begin with the same state. */
	state = state * 6364136223846793005ULL + 1442695040888963407ULL + raw_smp_processor_id();
	this_cpu_write(chance, state);
	return (state >> 32) * below >> 32;
}

/* Returns bytes below the stack pointer; all bits set on stacks of interrupts and exceptions. */
static u64 left_below(unsigned long stack)
{
	unsigned long left = stack - (unsigned long)task_stack_page(current);

	return left < THREAD_SIZE ? left : U64_MAX;
}

static u64 lowest = U64_MAX;

/* Called before a recording, while no probe runs. */
void fkt_lowest_stack_reset(void)
{
	WRITE_ONCE(lowest, U64_MAX);
}

/* Returns the least bytes that were left, plus 1; 0: none. */
u32 fkt_lowest_stack(void)
{
	/* U64_MAX becomes 0: nothing was read on a task's stack. */
	return (u32)(READ_ONCE(lowest) + 1);
}
EXPORT_SYMBOL_GPL(fkt_lowest_stack);

/*
 * A hit whose program has read the minimum is kept. If two CPUs update it at the same time one value is lost, and a
 * stack that is as deep is reported once more.
 */
void fkt_lowest_stack_take(unsigned long stack)
{
	const u64 left = left_below(stack);

	if (left < READ_ONCE(lowest))
		WRITE_ONCE(lowest, left);
}

/*
 * 0 for what FKT itself calls to handle a hit, as the kernel's unwinder: it is deeper, but by FKT's own frames. On a
 * task's stack, which alone is looked at, no interrupt comes between two hits that nest.
 */
static u64 lowest_stack(void)
{
	fkt_scratch_now()->asks_lowest = true;
	return this_cpu_read(fkt_hit_depth) > 1 ? 0 : READ_ONCE(lowest);
}

/*
 * The pointer and what it leads to are protected by RCU. Preemption is disabled, and fkt_calls_end() waits for a
 * context switch of every CPU, also of those that RCU does not watch.
 */
static u64 cgroup_id_of_current(void)
{
#ifdef CONFIG_CGROUPS
	return rcu_dereference_raw(current->cgroups)->dfl_cgrp->kn->id;
#else
	return 0;
#endif
}

/* fkt_context_fn (program_run.h) */
u64 fkt_call_context(const u64 *hit, u32 which, u32 parameter)
{
	switch (which) {
	case FKT_CONTEXT_PID:
		return current->tgid;
	case FKT_CONTEXT_TID:
		return current->pid;
	case FKT_CONTEXT_UID:
		return __kuid_val(current_euid());
	case FKT_CONTEXT_CPU:
		return raw_smp_processor_id();
	case FKT_CONTEXT_LEVEL:
		return fkt_level();
	case FKT_CONTEXT_SINCE_START:
		return fkt_ticks_between(READ_ONCE(fkt_recording.since), fkt_clock());
	case FKT_CONTEXT_STACK_LEFT:
		return left_below(fkt_scratch_now()->stack);
	case FKT_CONTEXT_LOWEST_STACK:
		return lowest_stack();
	case FKT_CONTEXT_CHANCE:
		return random_below(parameter);
	case FKT_CONTEXT_TASK:
		return (unsigned long)current->comm;
	case FKT_CONTEXT_CGROUP:
		return cgroup_id_of_current();
	case FKT_CONTEXT_FILE:
		return fkt_file_number(hit[FKT_FILE_WORD(parameter)], FKT_FILE_OF(parameter));
	case FKT_CONTEXT_FLAG:
		return fkt_flag_is_set(parameter);
	case FKT_CONTEXT_TASK_FLAG:
		return fkt_task_flag_is_set(parameter);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flags of threads: a byte for each thread number, whose bits are the flags. Only the thread itself changes its byte,
 * in its own context, and its parent before it runs; each change is one instruction without LOCK prefix, so that hits
 * in interrupts come before or after it. Hits in interrupts do not set a thread's flags: they are not the thread's.
 */

#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include <fkt/ioctl.h>
#include <fkt/program.h>

#include "arch/arch.h"
#include "task_flags.h"

struct fkt_task_flags fkt_task_flags;

/*
 * Allocates the flags of threads whose numbers are below `threads`, once per recording; below 2 it does nothing.
 * Returns 0 or -ENOMEM. Caller must hold the recording's lock.
 */
int fkt_task_flags_make(u32 threads)
{
	u8 *made;

	if (threads < 2 || fkt_task_flags.of_thread)
		return 0;
	made = __vmalloc(threads, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!made)
		return -ENOMEM;
	fkt_task_flags.of_thread = made;
	/* Release: a hook that finds the number finds the flags, too. Pairs with the acquire in fkt_task_flags_of(). */
	smp_store_release(&fkt_task_flags.most, threads - 1);
	return 0;
}

/* Called when no probe and no hook runs any more. Caller must hold the recording's lock. */
void fkt_task_flags_free(void)
{
	vfree(fkt_task_flags.of_thread);
	fkt_task_flags = (struct fkt_task_flags){};
}

/* Returns whether new threads must be followed. */
bool fkt_task_flags_used(void)
{
	return READ_ONCE(fkt_task_flags.most);
}

/*
 * Returns false if the thread has no flags, or in an interrupt. flag: below FKT_TASK_FLAGS. Any context, preemption is
 * disabled.
 */
bool fkt_task_flag_set(u32 flag, bool is_set)
{
	u8 *byte = fkt_task_flags_of(current->pid);
	const u8 bit = 1 << flag;

	if (!byte || !in_task())
		return false;
	if (is_set)
		fkt_set_at_once(byte, bit);
	else
		fkt_clear_at_once(byte, bit);
	return true;
}

/* Clears the flags of the last thread with the number of a new thread, which does not run yet. */
void fkt_task_flags_forget(pid_t tid)
{
	u8 *byte = fkt_task_flags_of(tid);

	if (byte)
		WRITE_ONCE(*byte, 0);
}

/* The current thread got the number of its process's first thread in execve(2). */
void fkt_task_flags_renumber(pid_t old, pid_t new_)
{
	const u8 *from = fkt_task_flags_of(old);
	u8 *to = fkt_task_flags_of(new_);

	if (to)
		WRITE_ONCE(*to, from ? READ_ONCE(*from) : 0);
	fkt_task_flags_forget(old);
}

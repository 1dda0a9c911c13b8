/* SPDX-License-Identifier: GPL-2.0-only */
/* Flags of threads, which instruments set, clear and ask for (FKT_FLAG_OF_TASK). */
#ifndef FKT_TASK_FLAGS_H
#define FKT_TASK_FLAGS_H

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <asm/barrier.h>

/* Changed under the recording's lock, while no probe uses it: before the first table that does is in force. */
extern struct fkt_task_flags {
	u8 *of_thread; /* by thread number */
	u32 most; /* the highest thread number that has flags; 0: none has */
} fkt_task_flags;

int fkt_task_flags_make(u32 threads);
void fkt_task_flags_free(void);
bool fkt_task_flags_used(void);
bool fkt_task_flag_set(u32 flag, bool is_set);
void fkt_task_flags_forget(pid_t tid);
void fkt_task_flags_renumber(pid_t old, pid_t new_);

/* Returns the thread's byte; NULL: it has none. 0 is the number of all CPUs' idle tasks. */
static __always_inline u8 *fkt_task_flags_of(pid_t tid)
{
	/* Pairs with the release in fkt_task_flags_make(). */
	const u32 most = smp_load_acquire(&fkt_task_flags.most);

	return (u32)tid - 1 < most ? &fkt_task_flags.of_thread[tid] : NULL;
}

/* flag: below FKT_TASK_FLAGS. Any context, preemption is disabled. */
static __always_inline bool fkt_task_flag_is_set(u32 flag)
{
	const u8 *byte = fkt_task_flags_of(current->pid);

	return byte && in_task() && READ_ONCE(*byte) >> flag & 1;
}

#endif /* FKT_TASK_FLAGS_H */

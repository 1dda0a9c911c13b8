/* SPDX-License-Identifier: GPL-2.0-only */
/* FKT's own threads, as probes test for them (self.c sets them). */
#ifndef FKT_OWN_H
#define FKT_OWN_H

#include <linux/preempt.h>
#include <linux/sched.h>

/*
 * FKT's own threads: the drain thread and the recorder's tgid while an instrument has FKT_FLAG_NOT_SELF; otherwise NULL
 * and -1, which match no thread. Written under the recording's lock; probes read without a lock and may see previous
 * values.
 */
extern struct fkt_own {
	const struct task_struct *drain;
	pid_t recorder; /* tgid */
} fkt_own;

static __always_inline bool fkt_is_own(const struct task_struct *task)
{
	return task == READ_ONCE(fkt_own.drain) || task->tgid == READ_ONCE(fkt_own.recorder);
}

/* Returns whether the code runs in one of FKT's own threads, not in an interrupt on top of it. */
static __always_inline bool fkt_is_own_now(void)
{
	return unlikely(fkt_is_own(current)) && in_task();
}

#endif /* FKT_OWN_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* FKT's own threads, as probes ask for them (self.h says which they are). */
#ifndef FKT_OWN_H
#define FKT_OWN_H

#include <linux/preempt.h>
#include <linux/sched.h>

/*
 * FKT's own threads, while there are instruments that leave out what these call (FKT_FLAG_NOT_SELF); else nobody.
 * Written under the recording's lock, read by probes without a lock: a probe may still find the threads of before.
 */
extern struct fkt_own {
	const struct task_struct *drain;
	pid_t recorder; /* tgid */
} fkt_own;

static __always_inline bool fkt_is_own(const struct task_struct *task)
{
	return task == READ_ONCE(fkt_own.drain) || task->tgid == READ_ONCE(fkt_own.recorder);
}

/* Returns whether this is done by one of those threads, not by an interrupt that came while it ran. */
static __always_inline bool fkt_is_own_now(void)
{
	return unlikely(fkt_is_own(current)) && in_task();
}

#endif /* FKT_OWN_H */

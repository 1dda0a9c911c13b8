/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that the module itself writes, and how much of the recording the recorder causes itself. */
#ifndef FKT_SELF_H
#define FKT_SELF_H

#include <linux/types.h>

#include <linux/preempt.h>
#include <linux/sched.h>

struct fkt_page_header;
struct fkt_status;

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

void fkt_tell(u32 id, u32 pages, u64 word);
void fkt_tell_clock(void);
void fkt_tell_mask(u64 mask);
void fkt_tell_table(u32 number, u64 instruments);
void fkt_self_start(const struct task_struct *drain);
void fkt_self_leave_out(bool leaves_out);
void fkt_self_look(const struct fkt_page_header *header);
void fkt_self_status(struct fkt_status *status);

#endif /* FKT_SELF_H */

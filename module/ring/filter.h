/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects whose events are recorded. */
#ifndef FKT_FILTER_H
#define FKT_FILTER_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <fkt/ioctl.h>
#include <fkt/wire.h>

struct file;

DECLARE_STATIC_KEY_FALSE(fkt_key_filter);
/* The recording may contain no pid except those of its members, and no kernel address (access.c). */
DECLARE_STATIC_KEY_FALSE(fkt_key_restricted);

int fkt_filter_start(const struct file *owner, enum fkt_filter filter, pid_t pid);
int fkt_filter_adopt(void);
void fkt_filter_stop(void);
int fkt_filter_join(void);
void fkt_filter_own(const struct task_struct *task);

/* Called from the process hooks. */
bool fkt_filter_exec(void);
bool fkt_filter_leaves(void);
void fkt_filter_leave(void);
void fkt_filter_fork(const struct task_struct *child);
void fkt_filter_renumber(pid_t old, pid_t new_);
void fkt_filter_free(pid_t tid);

/* Called from probes, in any context. */
bool fkt_is_member(pid_t tid);
bool fkt_filter_syscall(void);
bool fkt_filter_current(void);

/* Returns the number to record for a thread: its own, or FKT_PID_OTHER if the recording may not contain it. */
static __always_inline u32 fkt_shown_pid(pid_t tid)
{
	if (static_branch_unlikely(&fkt_key_restricted) && !fkt_is_member(tid))
		return FKT_PID_OTHER;
	return tid;
}

/* Returns the value to record for an address: 0 for a kernel address that the recording may not contain. */
static __always_inline u64 fkt_shown_address(u64 address)
{
	return static_branch_unlikely(&fkt_key_restricted) && (s64)address < 0 ? 0 : address;
}

/* Returns whether an event of the current thread is recorded. */
static __always_inline bool fkt_keep_current(void)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_filter_current();
}

/* Returns whether an event of the current thread about the thread `about` is recorded. */
static __always_inline bool fkt_keep(pid_t about)
{
	if (!static_branch_unlikely(&fkt_key_filter) || fkt_is_member(about))
		return true;
	return !static_branch_unlikely(&fkt_key_restricted) && fkt_is_member(current->pid);
}

/*
 * Returns whether an event about the current thread and `other` is recorded; either is named only if it
 * is a member.
 */
static __always_inline bool fkt_keep_either(pid_t other)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_is_member(current->pid) ||
	       fkt_is_member(other);
}

/* Returns whether an event about the machine, rather than about the running thread, is recorded. */
static __always_inline bool fkt_keep_machine(void)
{
	return !static_branch_unlikely(&fkt_key_restricted) && fkt_keep_current();
}

#endif /* FKT_FILTER_H */

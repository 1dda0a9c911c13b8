// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selects whose events are recorded: one byte per thread number says whether that thread is a member.
 * The fork hook sets it for every new process and thread before it runs; it is cleared when the number
 * is freed. So a member stays one through exec, setsid and its parent's death.
 *
 * Bytes, not bits: setting a bit would need a LOCK prefix on a probe's path. Each byte has one writer
 * at a time: the forking parent before the thread runs, then the thread itself, then free_pid after it
 * is gone.
 *
 * A restricted recording (access.c) records its members only while its owner could trace them; a thread
 * that executes a program with other privileges leaves for good. Threads that are not members appear in
 * it as FKT_PID_OTHER, and events that belong to no thread (interrupts) do not appear at all.
 */

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include <fkt/ioctl.h>

#include "access.h"
#include "filter.h"
#include "page_pool.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_filter);
DEFINE_STATIC_KEY_FALSE(fkt_key_restricted);

/* The values of a thread's byte. */
enum membership {
	STRANGER,
	MEMBER,
	JOINING, /* has called FKT_JOIN: becomes a member at its next system call */
};

/* Static, not a part of struct fkt_recording, because probes read it. */
static struct fkt_filter_state {
	u8 *member; /* enum membership by thread number; NULL: there is no filter */
	enum fkt_filter kind;
	pid_t process; /* FKT_FILTER_PROCESS: its tgid */
	const struct cred *opener; /* the owner's credentials in a restricted recording; NULL: not restricted */
} filter;

/* Lockless: the current thread's byte changes only in that thread; those of other threads may be outdated. */
bool fkt_is_member(pid_t tid)
{
	return (u32)tid < PID_MAX_LIMIT && READ_ONCE(filter.member[tid]) == MEMBER;
}

static void set_membership(pid_t tid, enum membership membership)
{
	if ((u32)tid < PID_MAX_LIMIT)
		WRITE_ONCE(filter.member[tid], membership);
}

static void set_member(pid_t tid, bool member)
{
	set_membership(tid, member ? MEMBER : STRANGER);
}

/* Returns whether an event of the current thread is recorded. Any context. */
bool fkt_filter_current(void)
{
	return fkt_is_member(current->pid) && (!filter.opener || fkt_access_own(filter.opener, current));
}

/*
 * Called at an exec: returns whether the current thread is a member. A thread that has called FKT_JOIN
 * becomes one.
 */
bool fkt_filter_exec(void)
{
	pid_t tid = current->pid;

	if ((u32)tid < PID_MAX_LIMIT && READ_ONCE(filter.member[tid]) == JOINING)
		set_member(tid, true);
	return fkt_is_member(tid);
}

/* Called at the begin of a system call: returns whether it is recorded. */
bool fkt_filter_syscall(void)
{
	return fkt_filter_exec() && fkt_filter_current();
}

/*
 * Called after a member's exec: returns whether the thread must leave, because the owner of a
 * restricted recording could not trace the new program. No event of the program was recorded before
 * this, because fkt_filter_current() makes the same test.
 */
bool fkt_filter_leaves(void)
{
	return filter.opener && fkt_is_member(current->pid) && !fkt_access_own(filter.opener, current);
}

/* The current thread, and the threads and processes that it creates, are no longer members. */
void fkt_filter_leave(void)
{
	set_member(current->pid, false);
}

/* Called from the fork hook, in the parent, before the child runs. */
void fkt_filter_fork(const struct task_struct *child)
{
	bool thread = child->tgid == current->tgid;
	bool member = fkt_is_member(current->pid);

	if (filter.kind == FKT_FILTER_NOT_SELF)
		member = member || !thread; /* a program started by the recorder is recorded */
	else if (filter.kind == FKT_FILTER_PROCESS)
		member = member && thread;
	/* Clears the byte too: the last thread with this number may have been a member. */
	set_member(child->pid, member);
}

/* In exec, a thread got the number of its process's first thread. */
void fkt_filter_renumber(pid_t old, pid_t new_)
{
	if (fkt_is_member(old))
		set_member(new_, true);
}

/* The number becomes free: its next thread is another one. */
void fkt_filter_free(pid_t tid)
{
	set_member(tid, filter.kind == FKT_FILTER_NOT_SELF);
}

/* Excludes a thread of the module, with FKT_FILTER_NOT_SELF. Called before it runs. */
void fkt_filter_own(const struct task_struct *task)
{
	if (filter.kind == FKT_FILTER_NOT_SELF)
		set_member(task->pid, false);
}

static void leave_caller_out(void)
{
	struct task_struct *thread;

	rcu_read_lock();
	for_each_thread(current, thread)
		set_member(thread->pid, false);
	rcu_read_unlock();
}

/* Returns whether the recording may have this thread as a member. Caller must hold rcu_read_lock(). */
static bool may_adopt(struct task_struct *task)
{
	bool may;

	if (!filter.opener)
		return true;
	task_lock(task);
	may = fkt_access_own(filter.opener, task);
	task_unlock(task);
	return may;
}

/* FKT_FILTER_PROCESS: finds the process. -ESRCH: there is none; -EACCES: the owner may not record it. */
static int find_process(pid_t pid)
{
	struct task_struct *task;
	int err = -ESRCH;

	rcu_read_lock();
	task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (task) {
		filter.process = task_tgid_nr(task);
		err = may_adopt(task) ? 0 : -EACCES;
	}
	rcu_read_unlock();
	return err;
}

static int prepare_members(enum fkt_filter kind, pid_t pid)
{
	filter.member = __vmalloc(PID_MAX_LIMIT, FKT_RING_GFP);
	if (!filter.member)
		return -ENOMEM;
	/* The idle tasks (number 0) are members only with FKT_FILTER_NOT_SELF. */
	memset(filter.member, kind == FKT_FILTER_NOT_SELF ? MEMBER : STRANGER, PID_MAX_LIMIT);
	if (kind == FKT_FILTER_NOT_SELF)
		leave_caller_out();
	return kind == FKT_FILTER_PROCESS ? find_process(pid) : 0;
}

/* Prepares the filter before the hooks are on. -ESRCH: no such process; -EACCES: the owner may not record it. */
int fkt_filter_start(const struct file *owner, enum fkt_filter kind, pid_t pid)
{
	int err;

	if (kind > FKT_FILTER_NOT_SELF)
		return -EINVAL;
	filter.kind = kind;
	filter.process = 0;
	if (kind == FKT_FILTER_NONE)
		return 0;
	if (!fkt_access_all(owner))
		filter.opener = get_cred(owner->f_cred);
	err = prepare_members(kind, pid);
	if (err) {
		fkt_filter_stop();
		return err;
	}
	if (filter.opener)
		static_branch_enable(&fkt_key_restricted);
	static_branch_enable(&fkt_key_filter);
	return 0;
}

static bool adopt_round(void)
{
	struct task_struct *leader, *thread;
	bool any = false;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(filter.process, &init_pid_ns), PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, thread) {
			if (fkt_is_member(thread->pid))
				continue;
			set_member(thread->pid, true);
			/*
			 * It may have executed another program meanwhile. Either fkt_filter_leaves()
			 * sees it as a member, or commit_creds(), which has full barriers, comes before
			 * may_adopt() here.
			 */
			smp_mb();
			if (may_adopt(thread))
				any = true;
			else
				set_member(thread->pid, false);
		}
	}
	rcu_read_unlock();
	return any;
}

/*
 * Called with the fork hook on: makes the threads that already run members. A thread created by one
 * that was not marked yet is found in the next round; later ones are added by the hook.
 */
int fkt_filter_adopt(void)
{
	if (filter.kind != FKT_FILTER_PROCESS)
		return 0;
	/* A fork hook that saw its thread as not a member may write the child's byte after us: wait for it. */
	while (adopt_round())
		tracepoint_synchronize_unregister();
	return fkt_is_member(filter.process) ? 0 : -ESRCH;
}

/* Called when no probe runs any more that has seen a mask. */
void fkt_filter_stop(void)
{
	static_branch_disable(&fkt_key_filter);
	static_branch_disable(&fkt_key_restricted);
	vfree(filter.member);
	filter.member = NULL;
	filter.kind = FKT_FILTER_NONE;
	put_cred(filter.opener);
	filter.opener = NULL;
}

/* FKT_JOIN: the caller becomes a member at its next system call. */
int fkt_filter_join(void)
{
	if (filter.kind != FKT_FILTER_JOIN)
		return -EINVAL;
	if (!fkt_is_member(current->pid))
		set_membership(current->pid, JOINING);
	return 0;
}

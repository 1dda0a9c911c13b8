// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose events are kept: one byte per thread number says whether that thread is a member. The fork
 * hook says it of every child and thread before they run; a number leaves when it becomes free. So a
 * member stays one through exec, setsid and its parent's death.
 *
 * Bytes, not bits: setting a bit would need a LOCK prefix on a probe's path, and each byte has one
 * writer at a time: the forking parent before the number's owner runs, free_pid after it is gone.
 */

#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "filter.h"
#include "fkt.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_filter);

static struct {
	u8 *member; /* by thread number; kept until the module goes, once needed */
	enum fkt_filter kind;
	pid_t process; /* FKT_FILTER_PROCESS: its tgid */
	pid_t joining; /* called FKT_JOIN, not yet a member; 0: nobody */
} filter;

/* Lockless: the byte of the current thread changes only in that thread, others' may be just old. */
bool fkt_is_member(pid_t tid)
{
	return (u32)tid < PID_MAX_LIMIT && READ_ONCE(filter.member[tid]);
}

static void set_member(pid_t tid, bool member)
{
	if ((u32)tid < PID_MAX_LIMIT)
		WRITE_ONCE(filter.member[tid], member);
}

/* At a system call's or exec's begin: is it kept? The one who asked to join becomes a member. */
bool fkt_filter_syscall(void)
{
	if (fkt_is_member(current->pid))
		return true;
	if (READ_ONCE(filter.joining) != current->pid)
		return false;
	WRITE_ONCE(filter.joining, 0);
	set_member(current->pid, true);
	return true;
}

/* In the fork hook, in the parent, before the child runs. */
void fkt_filter_fork(const struct task_struct *child)
{
	bool thread = child->tgid == current->tgid;
	bool member = fkt_is_member(current->pid);

	if (filter.kind == FKT_FILTER_NOT_SELF)
		member = member || !thread; /* what the recorder runs is not the recorder */
	else if (filter.kind == FKT_FILTER_PROCESS)
		member = member && thread;
	/* Not a member, too: that the number's last thread was one may not have been taken back. */
	set_member(child->pid, member);
}

/* A thread took over the number of its process's first thread, in exec. */
void fkt_filter_renumber(pid_t old, pid_t new_)
{
	if (fkt_is_member(old))
		set_member(new_, true);
}

/* The number becomes free: its next owner is somebody else. */
void fkt_filter_free(pid_t tid)
{
	set_member(tid, filter.kind == FKT_FILTER_NOT_SELF);
}

/* A thread of the module's own: FKT_FILTER_NOT_SELF leaves it out. Before it runs. */
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

/* Prepares the filter before the hooks are on. ESRCH: no such process. */
int fkt_filter_start(enum fkt_filter kind, pid_t pid)
{
	struct task_struct *task;

	filter.kind = kind;
	filter.process = 0;
	WRITE_ONCE(filter.joining, 0);
	if (kind == FKT_FILTER_NONE)
		return 0;
	if (kind > FKT_FILTER_NOT_SELF)
		return -EINVAL;
	if (!filter.member)
		filter.member = vmalloc(PID_MAX_LIMIT);
	if (!filter.member)
		return -ENOMEM;
	/* Number 0, the idle tasks', is nobody's but when all others are members. */
	memset(filter.member, kind == FKT_FILTER_NOT_SELF, PID_MAX_LIMIT);
	if (kind == FKT_FILTER_NOT_SELF)
		leave_caller_out();
	if (kind == FKT_FILTER_PROCESS) {
		rcu_read_lock();
		task = pid_task(find_vpid(pid), PIDTYPE_PID);
		filter.process = task ? task_tgid_nr(task) : 0;
		rcu_read_unlock();
		if (!filter.process)
			return -ESRCH;
	}
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
			any = true;
		}
	}
	rcu_read_unlock();
	return any;
}

/*
 * With the fork hook on: makes the threads that already run members. A thread born of one that we
 * had not marked yet is found in the next round, one born later joins by the hook.
 */
int fkt_filter_adopt(void)
{
	if (filter.kind != FKT_FILTER_PROCESS)
		return 0;
	while (adopt_round())
		cond_resched();
	return fkt_is_member(filter.process) ? 0 : -ESRCH;
}

/* After all hooks are off. */
void fkt_filter_stop(void)
{
	static_branch_disable(&fkt_key_filter);
	filter.kind = FKT_FILTER_NONE;
}

/* FKT_JOIN: the caller becomes a member with its next system call. */
int fkt_filter_join(void)
{
	if (filter.kind != FKT_FILTER_JOIN)
		return -EINVAL;
	WRITE_ONCE(filter.joining, current->pid);
	return 0;
}

void fkt_filter_exit(void)
{
	vfree(filter.member);
}

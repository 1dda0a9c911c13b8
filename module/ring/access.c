// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access control. As with perf, it depends on the credentials with which /dev/fkt was opened: a
 * descriptor passed to another process gives that process the rights of the opener.
 *
 * With CAP_PERFMON or CAP_SYS_ADMIN: everything may be recorded. Without: only processes that the
 * opener could also trace with ptrace(2) as far as credentials decide that, and nothing that contains another
 * process's pid or an address of the kernel (a restricted recording; filter.c drops the rest).
 *
 * Unlike perf and ptrace(2), this does not ask the security modules (AppArmor, SELinux, Yama, Landlock): the kernel
 * exports no function that does. So a process that such a module confines must not get at the device: its profile
 * decides about opening /dev/fkt.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include <fkt/ioctl.h>

#include "base/compat.h"
#include "access.h"

/* Without capabilities: the rings of all CPUs may use at most 1/MEMORY_SHARE of the machine's memory. */
#define MEMORY_SHARE 16

static bool members_see_all;
module_param(members_see_all, bool, 0644);
MODULE_PARM_DESC(members_see_all,
		 "Let everyone who can open /dev/fkt record what otherwise takes CAP_PERFMON: the system calls of all users' processes with their arguments, names and numbers of all processes, paths of programs, addresses of page faults, interrupts, addresses of the kernel (default: N, own processes only)");

static bool is_privileged(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/* Returns whether the opener may record all processes and kernel addresses. */
bool fkt_access_all(const struct file *file)
{
	return READ_ONCE(members_see_all) || is_privileged(file);
}

/*
 * Checks whether `file` may start this recording. -EPERM: the kernel is locked down; -EACCES: only with
 * a filter on the opener's own processes.
 */
int fkt_access_start(const struct file *file, const struct fkt_start *start)
{
	int err = security_locked_down(LOCKDOWN_TRACEFS);

	if (err)
		return err;
	if (start->filter == FKT_FILTER_PROCESS || start->filter == FKT_FILTER_JOIN)
		return 0;
	return fkt_access_all(file) ? 0 : -EACCES;
}

/* Returns whether `file` may change the layers of the recording that `owner` started. */
bool fkt_access_steer(const struct file *file, const struct file *owner)
{
	return file == owner || uid_eq(file->f_cred->uid, owner->f_cred->uid) || is_privileged(file);
}

/*
 * Returns whether `file` may read what the instruments of the recording that `owner` started have counted. The counts
 * are of words of the kernel, so this takes the capability that starts instruments; the same user is not enough.
 */
bool fkt_access_results(const struct file *file, const struct file *owner)
{
	return file == owner || file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/*
 * Returns whether `file` may read how many events a recording of this user has. Those of others would tell how many
 * system calls or page faults their processes make, moment by moment.
 */
bool fkt_access_counts(const struct file *file, kuid_t recorder)
{
	return uid_eq(file->f_cred->uid, recorder) || fkt_access_all(file);
}

/* Returns whether rings of 1 << pow frames on each CPU are a small part of the memory. Extra pages may double them. */
bool fkt_access_is_small(u32 pow)
{
	return (u64)num_online_cpus() << pow <= totalram_pages() / MEMORY_SHARE;
}
EXPORT_SYMBOL_GPL(fkt_access_is_small);

/* Returns whether `file` may have such rings. */
bool fkt_access_memory(const struct file *file, u32 pow)
{
	return fkt_access_is_small(pow) || is_privileged(file);
}

/* Returns whether `file` may have its rings below 4 GiB: on a large machine they could take all of that memory. */
bool fkt_access_low(const struct file *file)
{
	return is_privileged(file);
}

/* Returns whether page cache that `file`'s recording fills may be charged to no memory cgroup. */
bool fkt_access_uncharged(const struct file *file)
{
	return is_privileged(file);
}

/*
 * Returns whether `ns` was created by the opener's user (or lies below such a namespace): capabilities
 * in it give no power over other users.
 */
static bool is_own_namespace(const struct cred *opener, const struct user_namespace *ns)
{
	for (; ns->level > opener->user_ns->level; ns = ns->parent)
		if (ns->parent == opener->user_ns && uid_eq(ns->owner, opener->euid))
			return true;
	return false;
}

static bool is_own_cred(const struct cred *opener, const struct cred *task)
{
	if (!uid_eq(task->uid, opener->uid) || !uid_eq(task->euid, opener->uid) ||
	    !uid_eq(task->suid, opener->uid) || !gid_eq(task->gid, opener->gid) ||
	    !gid_eq(task->egid, opener->gid) || !gid_eq(task->sgid, opener->gid))
		return false;
	if (task->user_ns == opener->user_ns)
		return cap_issubset(task->cap_permitted, opener->cap_permitted);
	return is_own_namespace(opener, task->user_ns);
}

/*
 * Returns whether the opener could trace the task, if no security module forbids it: it has the same user and group, no
 * more capabilities, and is dumpable. Programs that are set-uid, set-gid or have file capabilities are not,
 * nor is a process that asked not to be traced (PR_SET_DUMPABLE). For the current task in any context;
 * for another task under rcu_read_lock() and task_lock().
 */
bool fkt_access_own(const struct cred *opener, const struct task_struct *task)
{
	const struct cred *cred = rcu_dereference_raw(task->real_cred);

	if (!is_own_cred(opener, cred))
		return false;
	/*
	 * A task that gives up privileges is made not dumpable before its credentials change: so read
	 * the dumpable flag after the credentials. Pairs with the barrier in commit_creds().
	 */
	smp_rmb();
	return fkt_is_dumpable(task);
}

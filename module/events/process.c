// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layer process: switches, wake-ups, new and exiting threads, names. Its fork, exec and free_pid hooks
 * also serve the filter, and conditions on durations.
 *
 * New threads are seen in task_newtask, which every new thread passes: sched_process_fork covers only
 * those created by fork(2), clone(2) and kernel threads, not the workers of io_uring and vhost.
 *
 * The freeing of a pid is seen in free_pid() itself: the tracepoint sched_process_free comes an RCU
 * grace period later, when the number may already belong to another thread.
 */

#include <linux/binfmts.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "base/compat.h"
#include "base/hook.h"
#include "drain/trigger.h"
#include "instruments/task_flags.h"
#include "ring/filter.h"
#include "ring/write.h"
#include "process.h"

static __always_inline u64 two(u32 low, u32 high)
{
	return low | (u64)high << 32;
}

static __always_inline bool keep(const struct task_struct *about)
{
	return fkt_layer_on(FKT_L_PROCESS) && fkt_keep(about->pid);
}

/*
 * The id contains the state in which prev is switched out, in the order of the letters shown by ps(1).
 * Lockless: its parent may reap a thread that exits while it is being switched out; either state is true then.
 */
static u32 switch_id(bool preempt, const struct task_struct *prev, unsigned int prev_state)
{
	if (preempt)
		return FKT_E_SWITCH_PREEMPT;
	return FKT_E_SWITCH_R + min(__task_state_index(prev_state, READ_ONCE(prev->exit_state)),
				    (unsigned int)(FKT_E_SWITCH_I - FKT_E_SWITCH_R));
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	u32 id = FKT_E_SWITCH_R;

	if (!fkt_layer_on(FKT_L_PROCESS) || !fkt_keep_either(next->pid))
		return;
	/* The state of a thread that the recording may not name is not recorded either. */
	if (fkt_shown_pid(prev->pid) == prev->pid)
		id = switch_id(preempt, prev, prev_state);
	fkt_emit_switch(id, fkt_shown_pid(next->pid));
	/* For later events, as fkt_ring_remembered(). If an event comes first, its thread is named again. */
	if (unlikely(fkt_is_own(next)))
		WRITE_ONCE(this_cpu_ptr(&fkt_rings)->last_pid, FKT_PID_APART);
}

static void probe_waking(void *data, struct task_struct *task)
{
	if (keep(task))
		fkt_emit0(FKT_E_WAKING, task->pid);
}

static __always_inline void emit_wakeup(u32 id, struct task_struct *task)
{
	u64 word = task_cpu(task);

	if (keep(task))
		fkt_emit(id, task->pid, &word, 1);
}

static void probe_wakeup(void *data, struct task_struct *task)
{
	emit_wakeup(FKT_E_WAKEUP, task);
}

static void probe_wakeup_new(void *data, struct task_struct *task)
{
	emit_wakeup(FKT_E_WAKEUP_NEW, task);
}

static void emit_name(const struct task_struct *task, const char *comm)
{
	u64 words[FKT_N_RENAME] = {};

	memcpy(words, comm, strnlen(comm, sizeof(words)));
	fkt_emit(FKT_E_RENAME, task->pid, words, FKT_N_RENAME);
}

/* Records a task's name if the recording does not know it: the task was created after the list of tasks. */
void fkt_process_introduce(const struct task_struct *task)
{
	preempt_disable_notrace();
	if (keep(task))
		emit_name(task, task->comm);
	preempt_enable_notrace();
}

static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	u64 word = two(child->tgid, fkt_shown_pid(parent->pid));

	if (static_branch_unlikely(&fkt_key_filter))
		fkt_filter_fork(child);
	fkt_trigger_forget(child->pid);
	fkt_task_flags_forget(child->pid);
	if (!keep(child))
		return;
	fkt_emit(FKT_E_FORK, child->pid, &word, 1);
	/* A kernel thread may be created with a name of its own, without a rename event. */
	if (memcmp(child->comm, parent->comm, sizeof(child->comm)))
		emit_name(child, child->comm);
}

/* Called in the parent, before the child runs. Number 0: the idle task of a CPU that comes online. */
static void probe_newtask(void *data, struct task_struct *child, fkt_clone_flags clone_flags)
{
	FKT_TRACEPOINT_PROBE();

	if (child->pid)
		probe_fork(data, current, child);
}

static void probe_exec(void *data, struct task_struct *task, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	FKT_TRACEPOINT_PROBE();
	u64 word = two(old_pid, task->tgid);

	if (static_branch_unlikely(&fkt_key_filter) && !fkt_filter_exec())
		return;
	if (keep(task))
		fkt_emit_string(FKT_E_EXEC, &word, 1, bprm->filename);
	if (!static_branch_unlikely(&fkt_key_restricted) || !fkt_filter_leaves())
		return;
	/* Recorded as a switch: from here on the CPU's time is not the member's. */
	if (fkt_layer_on(FKT_L_PROCESS))
		fkt_emit_switch(FKT_E_SWITCH_R, FKT_PID_OTHER);
	fkt_filter_leave();
}

static void probe_exit(void *data, FKT_EXIT_ARGUMENTS)
{
	FKT_TRACEPOINT_PROBE();
	u64 word = two(task->pid, task->tgid);

	if (keep(task))
		fkt_emit(FKT_E_EXIT, task->exit_code, &word, 1);
}

static void probe_migrate(void *data, struct task_struct *task, int to)
{
	u64 word = two(task_cpu(task), to);

	if (keep(task))
		fkt_emit(FKT_E_MIGRATE, task->pid, &word, 1);
}

static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	FKT_TRACEPOINT_PROBE();

	if (keep(task))
		emit_name(task, comm);
}

/* ---- free_pid ---- */

static int probe_free_pid(struct kprobe *kp, struct pt_regs *regs)
{
	const struct pid *pid = (const struct pid *)fkt_first_argument(regs);
	pid_t nr = pid->numbers[0].nr;

	/*
	 * A thread that execs has just got the number of its process's first thread, and its own number
	 * becomes free. The exec hook runs too late to learn what the old number was.
	 */
	if (current->in_execve) {
		if (static_branch_unlikely(&fkt_key_filter))
			fkt_filter_renumber(nr, current->pid);
		fkt_trigger_renumber(nr, current->pid);
		fkt_task_flags_renumber(nr, current->pid);
	}
	if (fkt_layer_on(FKT_L_PROCESS) && fkt_keep(nr))
		fkt_emit0(FKT_E_PID_FREE, nr);
	if (static_branch_unlikely(&fkt_key_filter))
		fkt_filter_free(nr);
	return 0;
}

/* Returns whether the filter, a condition or flags of threads must follow thread numbers, even with the layer off. */
static bool numbers_matter(void)
{
	return static_key_enabled(&fkt_key_filter) || fkt_trigger_measures() || fkt_task_flags_used();
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(probe_switch);
	check_trace_callback_type_sched_waking(probe_waking);
	check_trace_callback_type_sched_wakeup(probe_wakeup);
	check_trace_callback_type_sched_wakeup_new(probe_wakeup_new);
	check_trace_callback_type_task_newtask(probe_newtask);
	check_trace_callback_type_sched_process_exec(probe_exec);
	check_trace_callback_type_sched_process_exit(probe_exit);
	check_trace_callback_type_sched_migrate_task(probe_migrate);
	check_trace_callback_type_task_rename(probe_rename);
}

#define FOR_NUMBERS_TOO(tp, fn)                                                             \
	{                                                                                   \
		.name = #tp, .probe = (fn), .layers = 1ULL << FKT_L_PROCESS,                 \
		.also = numbers_matter,                                                     \
	}

static struct fkt_hook hooks[] = {
	{ FKT_ON_FUNCTION(free_pid, probe_free_pid, PROCESS, "when thread numbers become free"),
	  .also = numbers_matter },
	FOR_NUMBERS_TOO(task_newtask, probe_newtask),
	FOR_NUMBERS_TOO(sched_process_exec, probe_exec),
	FKT_ON_TRACEPOINT(sched_process_exit, probe_exit, PROCESS),
	FKT_ON_TRACEPOINT(sched_wakeup_new, probe_wakeup_new, PROCESS),
	FKT_ON_TRACEPOINT(sched_wakeup, probe_wakeup, PROCESS),
	FKT_ON_TRACEPOINT(sched_waking, probe_waking, PROCESS),
	FKT_ON_TRACEPOINT(sched_migrate_task, probe_migrate, PROCESS),
	FKT_ON_TRACEPOINT(task_rename, probe_rename, PROCESS),
	FKT_ON_TRACEPOINT(sched_switch, probe_switch, PROCESS),
};

FKT_HOOK_TABLE(fkt_process_hooks, hooks);

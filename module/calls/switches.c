// SPDX-License-Identifier: GPL-2.0-only
/* Watches switches of tasks and new tasks (switches.h), by the kernel's tracepoints for them. */

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "base/compat.h"
#include "held.h"
#include "switches.h"
#include "tasks.h"

static struct tracepoint *switch_tracepoint, *newtask_tracepoint;
static bool is_on;

/* Called with interrupts disabled. */
static void on_switch(void *unused, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	fkt_held_switch(prev, next, fkt_tasks_switch(prev, next));
}

/* Called in the parent before the new thread runs. */
static void on_newtask(void *unused, struct task_struct *task, fkt_clone_flags clone_flags)
{
	FKT_TRACEPOINT_PROBE();

	fkt_tasks_newtask(task);
	fkt_held_newtask(task);
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_task_newtask(on_newtask);
}

/* Called with each tracepoint of the kernel, before fkt_switches_begin(). */
void __init fkt_switches_match(struct tracepoint *tracepoint)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		switch_tracepoint = tracepoint;
	if (!strcmp(tracepoint->name, "task_newtask"))
		newtask_tracepoint = tracepoint;
}

static int register_probes(void)
{
	int err = tracepoint_probe_register(newtask_tracepoint, on_newtask, NULL);

	if (err)
		return err;
	err = tracepoint_probe_register(switch_tracepoint, on_switch, NULL);
	if (err) {
		tracepoint_probe_unregister(newtask_tracepoint, on_newtask, NULL);
		tracepoint_synchronize_unregister();
	}
	return err;
}

/*
 * Begins to watch, and to count for threads with lower numbers than `threads`; does nothing if that has begun. Caller
 * must trace no function in frames with a struct fkt_call_task yet. Returns 0, -EINVAL if `threads` is 0, -ENOENT if
 * the kernel does not have the tracepoints, or -ENOMEM.
 */
int fkt_switches_begin(u32 threads)
{
	int err;

	if (is_on)
		return 0;
	if (!switch_tracepoint || !newtask_tracepoint)
		return -ENOENT;
	err = fkt_tasks_begin(threads);
	if (err)
		return err;
	err = register_probes();
	if (err) {
		fkt_tasks_end();
		return err;
	}
	/* Waits for switches that began before the probe was registered: interrupts are disabled in them. */
	synchronize_rcu();
	is_on = true;
	return 0;
}

/* Caller must trace no function in frames with a struct fkt_call_task any more. */
void fkt_switches_end(void)
{
	if (!is_on)
		return;
	tracepoint_probe_unregister(switch_tracepoint, on_switch, NULL);
	tracepoint_probe_unregister(newtask_tracepoint, on_newtask, NULL);
	tracepoint_synchronize_unregister();
	fkt_tasks_end();
	is_on = false;
}

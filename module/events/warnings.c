// SPDX-License-Identifier: GPL-2.0-only
/* Warnings of the kernel itself: hung tasks (layer process), soft lockups (layer system). */

#include <linux/string.h>
#include <trace/events/printk.h>
#include <trace/events/sched.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "base/compat.h"
#include "base/hook.h"
#include "drain/trigger.h"
#include "ring/write.h"

static void probe_hang(void *data, struct task_struct *task)
{
	FKT_TRACEPOINT_PROBE();

	if (fkt_layer_on(FKT_L_PROCESS) && fkt_keep(task->pid))
		fkt_emit0(FKT_E_HUNG_TASK, task->pid);
}

/*
 * The watchdog has no tracepoint, so its line on the way to the console is used. On only if a condition
 * needs it: on 6.1 the kernel warns if something prints in an NMI while this tracepoint has a probe.
 */
static void probe_console(void *data, const char *text, size_t len)
{
	FKT_TRACEPOINT_PROBE();
	char line[128];
	size_t bytes = min(len, sizeof(line) - 1);

	if (!fkt_layer_on(FKT_L_SYSTEM) || !strnstr(text, "BUG: soft lockup", len) ||
	    !fkt_keep_machine())
		return;
	memcpy(line, text, bytes);
	line[bytes] = '\0';
	fkt_emit_string(FKT_E_SOFT_LOCKUP, NULL, 0, line);
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_process_hang(probe_hang);
	check_trace_callback_type_console(probe_console);
}

static struct fkt_hook hooks[] = {
	FKT_ON_TRACEPOINT(sched_process_hang, probe_hang, PROCESS),
	{ .name = "console", .probe = probe_console, .layers = 1ULL << FKT_L_SYSTEM,
	  .needed = fkt_trigger_lockups },
};

FKT_HOOK_TABLE(fkt_warning_hooks, hooks);

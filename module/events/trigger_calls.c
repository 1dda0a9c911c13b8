// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a recording's trigger for system calls (drain/trigger.c), after the probes that record
 * them. These probes are on only while there is such a trigger, so that the recording probes need not test for
 * it.
 */

#include <linux/sched.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <trace/events/syscalls.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "base/compat.h"
#include "base/hook.h"
#include "drain/trigger.h"
#include "ring/write.h"

/* Not defined in the headers of a 64-bit build. */
#define NR_IA32_EXIT 1
#define NR_IA32_EXIT_GROUP 252

static bool returns(long nr)
{
	if (in_ia32_syscall())
		return nr != NR_IA32_EXIT && nr != NR_IA32_EXIT_GROUP;
	return nr != __NR_exit && nr != __NR_exit_group;
}

static void probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	FKT_TRACEPOINT_PROBE();

	if (fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_current())
		fkt_trigger_entry(current, returns(nr));
}

static void probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	FKT_TRACEPOINT_PROBE();
	bool ia32 = in_ia32_syscall();
	u32 first = ia32 ? FKT_P_SYSCALL32 : FKT_P_SYSCALL;
	u32 count = ia32 ? FKT_PN_SYSCALL32 : FKT_PN_SYSCALL;
	long nr = syscall_get_nr(current, regs);

	if (fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_current() && (unsigned long)nr < count)
		fkt_trigger_exit(current, first + nr, ret);
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sys_enter(probe_sys_enter);
	check_trace_callback_type_sys_exit(probe_sys_exit);
}

#define ON_CALLS(tp, fn)                                                                  \
	{                                                                                 \
		.name = #tp, .probe = (fn), .layers = 1ULL << FKT_L_SYSTEM,               \
		.needed = fkt_trigger_calls,                                              \
	}

static struct fkt_hook hooks[] = {
	ON_CALLS(sys_exit, probe_sys_exit),
	ON_CALLS(sys_enter, probe_sys_enter),
};

FKT_HOOK_TABLE(fkt_trigger_hooks, hooks);

// SPDX-License-Identifier: GPL-2.0-only
/* Layer system: system calls. The most frequent probes: 8 bytes per call in the common case. */

#include <linux/sched.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include <fkt/events.h>

#include "base/compat.h"
#include "base/hook.h"
#include "ring/write.h"
#include "user/user_calls.h"
#include "syscall_paths.h"

/* Returns the id for the ABI of the current system call. */
static __always_inline u32 by_abi(u32 id64, u32 id32)
{
	return in_ia32_syscall() ? id32 : id64;
}

/* Words of the number and the arguments, which begin every entry with arguments. */
#define ENTRY_WORDS FKT_N_SYS_ENTRY_ARGS

/* Puts number and arguments into `words`. Returns the address of the call's path; 0: it has none. */
static unsigned long put_args(struct pt_regs *regs, long nr, u64 *words)
{
	u32 path = fkt_path_argument(nr, in_ia32_syscall());
	unsigned long args[6];
	unsigned int i;

	syscall_get_arguments(current, regs, args);
	words[0] = nr;
	for (i = 0; i < ARRAY_SIZE(args); i++)
		words[1 + i] = args[i];
	return path ? args[path - 1] : 0;
}

static noinline void entry_with_args(struct pt_regs *regs, long nr)
{
	u64 words[ENTRY_WORDS + FKT_PATH_WORDS];
	unsigned long path = put_args(regs, nr, words);
	enum fkt_path_read read = FKT_PATH_UNREAD;
	u32 used = 0;

	if (path)
		read = fkt_read_path(words + ENTRY_WORDS, &used, path);
	if (read != FKT_PATH_UNREAD) {
		fkt_emit(by_abi(FKT_E_SYS_ENTRY_PATH, FKT_E_SYS32_ENTRY_PATH),
			 (ENTRY_WORDS + used) | (read == FKT_PATH_CUT ? FKT_VAR_CUT : 0), words, ENTRY_WORDS + used);
		return;
	}
	if (path)
		fkt_path_later();
	fkt_emit(by_abi(FKT_E_SYS_ENTRY_ARGS, FKT_E_SYS32_ENTRY_ARGS), 0, words, ENTRY_WORDS);
}

/* Writes the path of a call whose entry is without it. */
static noinline void late_path(void)
{
	struct pt_regs *regs = current_pt_regs();
	u64 words[ENTRY_WORDS + FKT_PATH_WORDS];
	enum fkt_path_read read;
	u32 used = 0;

	if (!fkt_path_was_unread() || !fkt_layer_on(FKT_L_SYSTEM) || !fkt_keep_current())
		return;
	read = fkt_read_path(words + ENTRY_WORDS, &used, put_args(regs, syscall_get_nr(current, regs), words));
	if (read != FKT_PATH_UNREAD)
		fkt_emit(FKT_E_SYS_PATH, used | (read == FKT_PATH_CUT ? FKT_VAR_CUT : 0), words + ENTRY_WORDS, used);
}

static void emit_long(u32 id, long value)
{
	u64 word = value;

	fkt_emit(id, 0, &word, 1);
}

static noinline void plain_entry(long nr)
{
	if (nr & ~FKT_ARG_MASK)
		emit_long(by_abi(FKT_E_SYS_ENTRY_LONG, FKT_E_SYS32_ENTRY_LONG), nr);
	else
		fkt_emit0(by_abi(FKT_E_SYS_ENTRY, FKT_E_SYS32_ENTRY), nr);
}

/* in_ia32_syscall() for a task pointer that was already loaded. */
static __always_inline bool is_ia32(const struct task_struct *task)
{
	return IS_ENABLED(CONFIG_IA32_EMULATION) &&
	       READ_ONCE(task->thread_info.status) & TS_COMPAT;
}

/* Handles numbers without a pair id, and recordings without pairs. */
static noinline void other_entry(long nr)
{
	if (nr & ~FKT_ARG_MASK)
		plain_entry(nr);
	else
		fkt_emit_tsc(FKT_E_SYS_ENTRY, nr, current->pid);
}

/* Returns whether the kernel may have the program make a system call with this number, for a uprobe. */
static bool is_of_probes(long nr)
{
	return fkt_is_uretprobe(nr) || fkt_is_uprobe(nr);
}

/*
 * A return probe of the kernel's has the program make a system call when the function returns. It is no call of the
 * program's, and the function's call would end in the middle of it, so it is not recorded; nor is that of a probe.
 */
static bool hide(long nr)
{
	return is_of_probes(nr) && !in_ia32_syscall() && fkt_keep_current() && fkt_user_calls_hide(nr);
}

/*
 * Handles the filter, arguments, calls that are hidden, 32-bit calls, other clocks, numbers without a pair id, and
 * recordings without pairs.
 */
static noinline void any_entry(long nr)
{
	if (static_branch_unlikely(&fkt_key_user_calls) && hide(nr))
		return;
	if (static_branch_unlikely(&fkt_key_filter) && !fkt_filter_syscall())
		return;
	if (static_branch_unlikely(&fkt_key_args))
		entry_with_args(current_pt_regs(), nr);
	else if (!(in_ia32_syscall() ? fkt_begin(SYSCALL32, nr) : fkt_begin(SYSCALL, nr)))
		plain_entry(nr);
}

/* Returns whether hide() has hidden the entry of the system call that ends. */
static bool was_hidden(void)
{
	const long nr = syscall_get_nr(current, current_pt_regs());

	return (nr == -1 || is_of_probes(nr)) && fkt_user_calls_hid();
}

/*
 * A call after which `regs` or `nr` is needed would cost the fast path a stack frame: there is none here, nor at the
 * exit. Slow paths take the registers from current_pt_regs(), which are those that the tracepoints pass.
 */
static void probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	FKT_TRACEPOINT_PROBE();
	struct task_struct *task = current;

	if (!fkt_layer_on(FKT_L_SYSTEM))
		return;
	if (static_branch_unlikely(&fkt_key_special) || is_ia32(task) ||
	    (static_branch_unlikely(&fkt_key_user_calls) && is_of_probes(nr)))
		any_entry(nr);
	else if (!fkt_begin_by(SYSCALL, nr, READ_ONCE(task->pid)))
		other_entry(nr);
}

static __always_inline bool fits_arg(long value)
{
	const long limit = 1L << (FKT_ARG_BITS - 1);

	return value >= -limit && value < limit;
}

/* Handles the filter, 32-bit calls, other clocks and long results. */
static noinline void any_exit(long ret)
{
	if (!fkt_keep_current())
		return;
	if (in_ia32_syscall() ? fkt_end(SYSCALL32, ret) : fkt_end(SYSCALL, ret))
		return;
	if (fits_arg(ret))
		fkt_emit0(by_abi(FKT_E_SYS_EXIT, FKT_E_SYS32_EXIT), ret);
	else
		emit_long(by_abi(FKT_E_SYS_EXIT_LONG, FKT_E_SYS32_EXIT_LONG), ret);
}

/* Handles an end that does not fit the short form, or that does not follow its begin directly. */
static noinline void other_exit(long ret)
{
	if (static_branch_unlikely(&fkt_key_user_calls) && was_hidden())
		return;
	if (!fkt_layer_on(FKT_L_SYSTEM))
		return;
	if (static_branch_unlikely(&fkt_key_special) || in_ia32_syscall() || !fits_arg(ret))
		any_exit(ret);
	else if (!fkt_end(SYSCALL, ret))
		fkt_emit_tsc(FKT_E_SYS_EXIT, ret, current->pid);
}

/* Ends a call of a recording with arguments, whose path may have been unreadable at its entry. */
static noinline void end_with_path(long ret)
{
	late_path();
	if (!fkt_end_short(SYSCALL, ret, current->pid))
		other_exit(ret);
}

/*
 * A begin found by fkt_end_short() is that of this thread's call, so the tests that let it be recorded,
 * including that of the mask, hold here too. A call whose begin was recorded gets its end even if the
 * layer is off by now.
 */
static void probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	FKT_TRACEPOINT_PROBE();

	if (static_branch_unlikely(&fkt_key_args))
		end_with_path(ret);
	else if (!fkt_end_short(SYSCALL, ret, current->pid))
		other_exit(ret);
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sys_enter(probe_sys_enter);
	check_trace_callback_type_sys_exit(probe_sys_exit);
}

static struct fkt_hook hooks[] = {
	FKT_ON_TRACEPOINT(sys_exit, probe_sys_exit, SYSTEM),
	FKT_ON_TRACEPOINT(sys_enter, probe_sys_enter, SYSTEM),
};

FKT_HOOK_TABLE(fkt_syscall_hooks, hooks);

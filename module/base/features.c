// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernels have or have not: base/features compiles this file against the kernel's headers, and writes a macro
 * FKT_HAS_NAME for each line whose statement compiles. For compat.h alone. A line a feature: an error is attributed to
 * the line in which it stands. Headers that may not exist are included by __has_include.
 */
#include <linux/dcache.h>
#include <linux/fprobe.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/syscore_ops.h>
#include <linux/tracepoint.h>
#include <linux/uprobes.h>
#include <trace/events/mce.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#define FEATURE(name, ...) static inline void name(void) { __VA_ARGS__; }

/* Of functions that may have other parameters: any argument of the right type. */
#define A(type) ((type)0)

typedef int (*fprobe_entry_fn)(struct fprobe *, unsigned long, unsigned long, struct pt_regs *, void *);
typedef const struct address_space_operations mapping_ops;

FEATURE(KIOCB_START_WRITE, kiocb_start_write(A(struct kiocb *)); kiocb_end_write(A(struct kiocb *)))
FEATURE(VM_FLAGS_MOD, vm_flags_mod(A(struct vm_area_struct *), 0, 0))
FEATURE(WRITE_END_FOLIO, A(mapping_ops *)->write_end(NULL, NULL, 0, 0, 0, A(struct folio *), NULL))
FEATURE(DIRECT_CALLER_FTRACE_REGS, arch_ftrace_set_direct_caller(A(struct ftrace_regs *), 0))
FEATURE(ARCH_FTRACE_REGS, (void)arch_ftrace_regs(A(struct ftrace_regs *))->regs)
FEATURE(FPROBE_PT_REGS, struct fprobe f = { .nr_maxactive = 1 }; fprobe_entry_fn e = f.entry_handler; (void)e)
FEATURE(SYMBOLS_WITHOUT_MODULE, kallsyms_on_each_symbol(A(int (*)(void *, const char *, unsigned long)), NULL))
FEATURE(SYMBOLS_OF_MODULE, module_kallsyms_on_each_symbol(A(const char *), NULL, NULL))
FEATURE(UPROBE_REGISTER, uprobe_unregister_nosync(uprobe_register(NULL, 0, 0, NULL), NULL); uprobe_unregister_sync())
FEATURE(GUP_WITHOUT_VMAS, get_user_pages(0, 1, 0, A(struct page **)))
FEATURE(SYSCORE_DATA, register_syscore(A(struct syscore *)); unregister_syscore(A(struct syscore *)))
FEATURE(UPROBE_DATA, A(struct uprobe_consumer *)->handler(NULL, NULL, NULL))
FEATURE(FAULTABLE_TRACEPOINTS, tracepoint_is_faultable(NULL))
FEATURE(CLONE_FLAGS_U64, check_trace_callback_type_task_newtask(A(void (*)(void *, struct task_struct *, u64))))
FEATURE(GROUP_DEAD, check_trace_callback_type_sched_process_exit(A(void (*)(void *, struct task_struct *, bool))))
FEATURE(MCE_HW_ERR, check_trace_callback_type_mce_record(A(void (*)(void *, struct mce_hw_err *))))
FEATURE(ENDBR_BY_VALUE, is_endbr(1u))
FEATURE(EXEC_STATE, (void)A(struct task_struct *)->exec_state)
FEATURE(WRITE_BEGIN_KIOCB, A(mapping_ops *)->write_begin(A(const struct kiocb *), NULL, 0, 0, NULL, NULL))
FEATURE(MEMDESC_FLAGS, (void)A(struct folio *)->flags.f)
FEATURE(COMPOUND_INFO, (void)A(struct page *)->compound_info)
FEATURE(D_ALIAS, (void)A(struct dentry *)->d_alias)
FEATURE(HARDIRQ_DISABLE_COUNT, (void)HARDIRQ_DISABLE_BITS)
FEATURE(HRTIMER_SETUP, hrtimer_setup(NULL, NULL, 0, 0))
FEATURE(PCPU_HOT, (void)pcpu_hot.preempt_count)
FEATURE(SMP_TEXT_POKE, smp_text_poke_batch_add(NULL, NULL, 0, NULL); smp_text_poke_batch_finish())

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between the supported kernels, and their configurations; what newer kernels have first. Decided by
 * what the headers have (features.c), never by a version, because stable kernels take over changes of newer ones.
 * Nothing else in the module tests for a feature or a configuration, but for arch/x86/x86_compat.h in what only x86-64
 * has.
 */
#ifndef FKT_COMPAT_H
#define FKT_COMPAT_H

#include "kernel_has"

#ifndef __ASSEMBLER__

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/preempt.h>
#include <linux/syscore_ops.h>
#include <linux/uprobes.h>
#include <asm/preempt.h>
#include <asm/unistd.h>
#ifdef FKT_HAS_EXEC_STATE
#include <linux/sched/exec_state.h>
#else
#include <linux/sched/coredump.h>
#endif

/*
 * What preempt_count() says of the softirq and the interrupt that code runs in, in 16 bits: FKT_IN_SOFTIRQ, and some
 * bit of FKT_IN_HARDIRQ. Newer kernels have 8 other bits between the two.
 */
#ifdef FKT_HAS_HARDIRQ_DISABLE_COUNT
#define FKT_IN_SOFTIRQ 1
#define FKT_IN_HARDIRQ (HARDIRQ_MASK >> (HARDIRQ_SHIFT - 1))
static inline u16 fkt_interrupts_of(unsigned long count)
{
	return (count & HARDIRQ_MASK) >> (HARDIRQ_SHIFT - 1) | (count & SOFTIRQ_OFFSET) >> SOFTIRQ_SHIFT;
}
#else
#define FKT_IN_SOFTIRQ (SOFTIRQ_OFFSET >> SOFTIRQ_SHIFT)
#define FKT_IN_HARDIRQ (HARDIRQ_MASK >> SOFTIRQ_SHIFT)
static_assert(FKT_IN_HARDIRQ <= U16_MAX);
static inline u16 fkt_interrupts_of(unsigned long count)
{
	return count >> SOFTIRQ_SHIFT;
}
#endif

/*
 * First in each probe of a tracepoint that can be called with preemption on: it is off until the probe returns, since
 * rings are those of a CPU. Kernels whose system calls' tracepoints may fault leave that to the probe there, and newer
 * ones everywhere. The others have it off already.
 */
#ifdef FKT_HAS_FAULTABLE_TRACEPOINTS
static __always_inline int fkt_preempt_off(void)
{
	preempt_disable_notrace();
	return 0;
}

static __always_inline void fkt_preempt_on(const int *unused)
{
	preempt_enable_notrace();
}

#define FKT_TRACEPOINT_PROBE() const int __maybe_unused __cleanup(fkt_preempt_on) no_preemption = fkt_preempt_off()
#else
#define FKT_TRACEPOINT_PROBE() static_assert(true)
#endif

/* What tracepoints pass that pass something else on newer kernels. */
#ifdef FKT_HAS_CLONE_FLAGS_U64
typedef u64 fkt_clone_flags;
#else
typedef unsigned long fkt_clone_flags;
#endif
#ifdef FKT_HAS_GROUP_DEAD
#define FKT_EXIT_ARGUMENTS struct task_struct *task, bool group_dead
#else
#define FKT_EXIT_ARGUMENTS struct task_struct *task
#endif
/*
 * Whether other processes of its user may trace the task, as ptrace(2) tests it. For the current task in any context;
 * for another one under rcu_read_lock() and task_lock(). Without memory of its own, a task has nothing to hide.
 */
static inline bool fkt_is_dumpable(const struct task_struct *task)
{
#ifdef FKT_HAS_EXEC_STATE
	/* The task itself replaces it, in exec; the old one is freed after a grace period. */
	const struct task_exec_state *state = rcu_dereference_raw(task->exec_state);

	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
#else
	const struct mm_struct *mm = READ_ONCE(task->mm);

	return !mm || __get_dumpable(READ_ONCE(mm->flags)) == SUID_DUMP_USER;
#endif
}

/*
 * Freeze protection of an asynchronous write to a regular file: held from the submission to the
 * completion, which may run in another context. 6.6 introduced helpers for what fs/aio.c did itself.
 */
static inline void fkt_kiocb_start_write(struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	if (!S_ISREG(inode->i_mode))
		return;
#ifdef FKT_HAS_KIOCB_START_WRITE
	kiocb_start_write(iocb);
#else
	sb_start_write(inode->i_sb);
	/* Lockdep would complain that the task returns with it held: tell it that it does not hold it. */
	__sb_writers_release(inode->i_sb, SB_FREEZE_WRITE);
#endif
}

static inline void fkt_kiocb_end_write(struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	if (!S_ISREG(inode->i_mode))
		return;
#ifdef FKT_HAS_KIOCB_START_WRITE
	kiocb_end_write(iocb);
#else
	__sb_writers_acquired(inode->i_sb, SB_FREEZE_WRITE);
	sb_end_write(inode->i_sb);
#endif
}

/*
 * Sets and clears flags of a mapping under construction; since 6.3 the flags can only be changed
 * through helpers.
 */
static inline void fkt_vma_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#ifdef FKT_HAS_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* The type that write_begin() returns and write_end() takes: folios since 6.12, pages before. */
#ifdef FKT_HAS_WRITE_END_FOLIO
typedef struct folio fkt_cache_page;
#define fkt_cache_frame(found, pos) folio_file_page(found, (pos) >> PAGE_SHIFT)
#else
typedef struct page fkt_cache_page;
#define fkt_cache_frame(found, pos) (found)
#endif

/* What write_begin() and write_end() take first: the write since 6.17, its file before. */
#ifdef FKT_HAS_WRITE_BEGIN_KIOCB
#define FKT_WRITER(iocb) (iocb)
#else
#define FKT_WRITER(iocb) ((iocb)->ki_filp)
#endif

#ifdef FKT_HAS_MEMDESC_FLAGS
#define FKT_FOLIO_FLAGS(folio) ((folio)->flags.f)
#else
#define FKT_FOLIO_FLAGS(folio) ((folio)->flags)
#endif

#ifdef FOLIO_MAPPING_FLAGS
#define FKT_MAPPING_FLAGS FOLIO_MAPPING_FLAGS
#else
#define FKT_MAPPING_FLAGS PAGE_MAPPING_FLAGS
#endif

/* The member of a page that says, by its lowest bit, that the page is not the first of its folio, and where that is. */
#ifdef FKT_HAS_COMPOUND_INFO
#define FKT_COMPOUND_INFO compound_info
#else
#define FKT_COMPOUND_INFO compound_head
#endif

static inline const struct page *fkt_compound_head(const struct page *page, unsigned long info)
{
#ifdef FKT_HAS_COMPOUND_INFO
	if (compound_info_has_mask())
		return (const struct page *)((unsigned long)page & info);
#endif
	return (const struct page *)(info - 1);
}

/* The member of a dentry that is in the list of its inode's names. */
#ifdef FKT_HAS_D_ALIAS
#define FKT_D_ALIAS d_alias
#else
#define FKT_D_ALIAS d_u.d_alias
#endif

/* Returns the task's cgroup for block I/O, with a reference; NULL if the configuration has none. */
static inline struct cgroup_subsys_state *fkt_io_css_get(struct task_struct *task)
{
#ifdef CONFIG_BLK_CGROUP
	return task_get_css(task, io_cgrp_id);
#else
	return NULL;
#endif
}

/* Return probes in bulk with memory for each call, and handlers that know the function: since 6.12. */
#if defined(FKT_HAS_FPROBE_PT_REGS) && defined(CONFIG_FPROBE)
#define FKT_HAS_FPROBE 1
#else
#define FKT_HAS_FPROBE 0
#endif

/*
 * Called for each symbol: newer kernels do not name its module, and list symbols of modules by a function that can be
 * told which module.
 */
#ifdef FKT_HAS_SYMBOLS_WITHOUT_MODULE
#define FKT_SYMBOL_MODULE
#else
#define FKT_SYMBOL_MODULE struct module *unused,
#endif
#ifdef FKT_HAS_SYMBOLS_OF_MODULE
#define FKT_SYMBOLS_OF_TYPE const char *modname,
#define FKT_SYMBOLS_OF_ALL NULL,
#else
#define FKT_SYMBOLS_OF_TYPE
#define FKT_SYMBOLS_OF_ALL
#endif
typedef int (*fkt_symbol_fn)(void *data, const char *name, FKT_SYMBOL_MODULE unsigned long address);

/* The ops of on_sleep() and on_wake(), called at a sleep of the machine when one CPU is left, with interrupts off. */
#ifdef FKT_HAS_SYSCORE_DATA
#define FKT_SYSCORE_ARGUMENT void *data
#define FKT_DEFINE_SYSCORE(name, on_sleep, on_wake) \
	static const struct syscore_ops name##_ops = { .suspend = on_sleep, .resume = on_wake }; \
	static struct syscore name = { .ops = &name##_ops }
#else
#define FKT_SYSCORE_ARGUMENT void
#define FKT_DEFINE_SYSCORE(name, on_sleep, on_wake) \
	static struct syscore_ops name = { .suspend = on_sleep, .resume = on_wake }
#define register_syscore(ops) register_syscore_ops(ops)
#define unregister_syscore(ops) unregister_syscore_ops(ops)
#endif

struct uprobe;

/* Parameters of a consumer's handlers; since 6.13 with a word that the return's gets from the entry's. */
#ifdef FKT_HAS_UPROBE_DATA
#define FKT_UPROBE_REGS struct pt_regs *regs, __u64 *data
#else
#define FKT_UPROBE_REGS struct pt_regs *regs
#endif

/*
 * Has the consumer called where the file's instruction at `offset` is executed. counter: see struct fkt_user; 0: none.
 * Returns what fkt_uprobe_unregister() needs, or an ERR_PTR.
 */
static inline struct uprobe *fkt_uprobe_register(struct inode *inode, loff_t offset, loff_t counter,
						 struct uprobe_consumer *consumer)
{
#ifdef FKT_HAS_UPROBE_REGISTER
	return uprobe_register(inode, offset, counter, consumer);
#else
	return ERR_PTR(uprobe_register_refctr(inode, offset, counter, consumer));
#endif
}

/* The consumer may still be called until fkt_uprobe_unregister_sync(), called once for all consumers, returns. */
static inline void fkt_uprobe_unregister(struct uprobe *uprobe, struct inode *inode, loff_t offset,
					 struct uprobe_consumer *consumer)
{
#ifdef FKT_HAS_UPROBE_REGISTER
	uprobe_unregister_nosync(uprobe, consumer);
#else
	uprobe_unregister(inode, offset, consumer);
#endif
}

static inline void fkt_uprobe_unregister_sync(void)
{
#ifdef FKT_HAS_UPROBE_REGISTER
	uprobe_unregister_sync();
#endif
}

/*
 * The next two return whether a 64-bit program's system call with this number is the kernel's own: the one by which
 * functions that have a return probe return, and the one by which a uprobe at a long nop is reached, once it was hit.
 * When it ends, its number is -1, as that of sigreturn.
 */
static inline bool fkt_is_uretprobe(long nr)
{
#ifdef __NR_uretprobe
	return nr == __NR_uretprobe;
#else
	return false;
#endif
}

#ifdef __NR_uprobe
#define FKT_UPROBES_ARE_CALLS 1
#else
#define FKT_UPROBES_ARE_CALLS 0
#endif

static inline bool fkt_is_uprobe(long nr)
{
#ifdef __NR_uprobe
	return nr == __NR_uprobe;
#else
	return false;
#endif
}

/* Whether there are uprobes in the current process. */
static inline bool fkt_has_uprobes(void)
{
#ifdef __NR_uprobe
	return mm_flags_test(MMF_HAS_UPROBES, current->mm);
#else
	return false;
#endif
}

/*
 * Whether the list of a thread's return probes (current->utask) is whole when their handlers run. Kernels without the
 * system call uretprobe begin it with one that may be freed already.
 */
#ifdef __NR_uretprobe
#define FKT_RETURNS_ARE_LISTED 1
#else
#define FKT_RETURNS_ARE_LISTED 0
#endif

/*
 * Makes the page at the current process's address present, unless that takes waiting for a disk or for user space.
 * Returns whether it may be there now. May sleep.
 */
static inline bool fkt_fault_in(unsigned long address)
{
	struct mm_struct *mm = current->mm;
	long got;

	mmap_read_lock(mm);
#ifdef FKT_HAS_GUP_WITHOUT_VMAS
	got = get_user_pages(address, 1, FOLL_NOWAIT, NULL);
#else
	got = get_user_pages(address, 1, FOLL_NOWAIT, NULL, NULL);
#endif
	mmap_read_unlock(mm);
	return got == 1;
}

/* The kernel's functions that queue changes of its text, and carry out what is queued. */
#ifdef FKT_HAS_SMP_TEXT_POKE
#define FKT_TEXT_POKE_QUEUE smp_text_poke_batch_add
#define FKT_TEXT_POKE_FINISH smp_text_poke_batch_finish
#else
#define FKT_TEXT_POKE_QUEUE text_poke_queue
#define FKT_TEXT_POKE_FINISH text_poke_finish
#endif

#endif /* !__ASSEMBLER__ */

#endif /* FKT_COMPAT_H */

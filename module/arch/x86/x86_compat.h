/* SPDX-License-Identifier: GPL-2.0-only */
/* As base/compat.h, in what only x86-64 has. */
#ifndef FKT_X86_COMPAT_H
#define FKT_X86_COMPAT_H

#include "base/compat.h"

/* The per-CPU word of preempt_count(), for assembly. 6.2 to 6.14 have it in a structure. */
#ifdef FKT_HAS_PCPU_HOT
#define FKT_PREEMPT_COUNT (pcpu_hot + 8)
#else
#define FKT_PREEMPT_COUNT __preempt_count
#endif

/* Bits of preempt_count() of softirqs that run, interrupts and NMIs: the stack may be another one than the task's. */
#ifdef FKT_HAS_HARDIRQ_DISABLE_COUNT
#define FKT_INTERRUPT_BITS 0xff000100
#else
#define FKT_INTERRUPT_BITS 0x00ff0100
#endif

#ifndef __ASSEMBLER__

#include <linux/ftrace.h>
#include <linux/preempt.h>
#include <asm/ibt.h>
#include <asm/preempt.h>
#if __has_include("trace/events/exceptions.h")
#include <trace/events/exceptions.h>
#else
#include <asm/trace/exceptions.h>
#endif

#include "registers.h"

#ifdef FKT_HAS_PCPU_HOT
static_assert(offsetof(struct pcpu_hot, preempt_count) == 8);
#endif
static_assert(FKT_INTERRUPT_BITS == (HARDIRQ_MASK | NMI_MASK | SOFTIRQ_OFFSET));

/* What a tracepoint passes that passes something else on newer kernels. */
#ifdef FKT_HAS_MCE_HW_ERR
typedef struct mce_hw_err fkt_mce_record;
#define fkt_mce_of(record) (&(record)->m)
#else
typedef struct mce fkt_mce_record;
#define fkt_mce_of(record) (record)
#endif

/* Whether these four bytes are an ENDBR, or what the kernel puts in place of one that it does not need. */
static inline bool fkt_is_endbr(u32 first)
{
#if defined(FKT_HAS_ENDBR_BY_VALUE)
	return is_endbr(first);
#elif HAS_KERNEL_IBT
	return __is_endbr(first);
#else
	return false;
#endif
}

/*
 * Interrupt vectors that not every configuration has (the cloud flavour lacks AMD's). A kernel without
 * the vector never receives such an interrupt, so no event is missing.
 */
#ifdef CONFIG_X86_MCE_THRESHOLD
#define FKT_THRESHOLD_VECTOR(DO) DO(threshold_apic)
#else
#define FKT_THRESHOLD_VECTOR(DO)
#endif
#ifdef CONFIG_X86_MCE_AMD
#define FKT_DEFERRED_ERROR_VECTOR(DO) DO(deferred_error_apic)
#else
#define FKT_DEFERRED_ERROR_VECTOR(DO)
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
#define FKT_THERMAL_VECTOR(DO) DO(thermal_apic)
#else
#define FKT_THERMAL_VECTOR(DO)
#endif

/* In a function of an ftrace_ops: makes the traced function go on to `address` instead of its body. */
static inline void fkt_ftrace_go_to(struct ftrace_regs *regs, unsigned long address)
{
#ifdef FKT_HAS_DIRECT_CALLER_FTRACE_REGS
	arch_ftrace_set_direct_caller(regs, address);
#else
	arch_ftrace_set_direct_caller(ftrace_get_regs(regs), address);
#endif
}

/* In a function of an ftrace_ops: the registers, of which those for arguments are set. */
static inline const struct pt_regs *fkt_ftrace_regs(struct ftrace_regs *ftrace_regs)
{
#ifdef FKT_HAS_ARCH_FTRACE_REGS
	return &arch_ftrace_regs(ftrace_regs)->regs;
#else
	return &ftrace_regs->regs;
#endif
}

/* The six registers for arguments, in their order. Every ftrace_ops gets them. */
static inline void fkt_ftrace_arguments(struct ftrace_regs *ftrace_regs, u64 *arguments)
{
	const struct pt_regs *regs = fkt_ftrace_regs(ftrace_regs);

	arguments[0] = regs->di;
	arguments[1] = regs->si;
	arguments[2] = regs->dx;
	arguments[3] = regs->cx;
	arguments[4] = regs->r8;
	arguments[5] = regs->r9;
}

#endif /* !__ASSEMBLER__ */

#endif /* FKT_X86_COMPAT_H */

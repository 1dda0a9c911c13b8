// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layer system: page faults and the processor's other exceptions.
 *
 * Page faults and machine checks have tracepoints. Most other exceptions call the die notifiers before
 * they are handled. Two kinds in user programs do not: floating point errors (#MF, #XF) pass through
 * math_error(), and general protection faults (#GP) through fixup_vdso_exception(); both functions can
 * have a kprobe. The exceptions that none of these covers are listed in man/fkt-events.7.
 */

#include <linux/kdebug.h>
#include <linux/ptrace.h>
#include <asm/mce.h>
#include <asm/trapnr.h>
#include <trace/events/mce.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "base/hook.h"
#include "ring/write.h"

#define TRAP_USER 0x100

/* The error code's bit 31 (RMP) is moved to bit 23, so that it fits the argument. */
static u32 short_error(unsigned long error_code)
{
	return (error_code & 0x7fffff) | (error_code >> 31 & 1) << 23;
}

static __always_inline void emit_fault(u32 id, unsigned long address, struct pt_regs *regs,
				       unsigned long error_code)
{
	u64 words[] = { fkt_shown_address(address), fkt_shown_address(regs->ip) };

	if (fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_current())
		fkt_emit(id, short_error(error_code), words, ARRAY_SIZE(words));
}

static void probe_page_fault_user(void *data, unsigned long address, struct pt_regs *regs,
				  unsigned long error_code)
{
	FKT_TRACEPOINT_PROBE();

	emit_fault(FKT_E_FAULT_USER, address, regs, error_code);
}

static void probe_page_fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
				    unsigned long error_code)
{
	FKT_TRACEPOINT_PROBE();

	emit_fault(FKT_E_FAULT_KERNEL, address, regs, error_code);
}

static void emit_trap(u32 trap, struct pt_regs *regs, long error)
{
	u64 words[] = { fkt_shown_address(regs->ip), error };

	/* Exceptions occur with preemption on as well as off. */
	preempt_disable_notrace();
	if (fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_current())
		fkt_emit(FKT_E_TRAP, (trap & 0xff) | (user_mode(regs) ? TRAP_USER : 0), words,
			 ARRAY_SIZE(words));
	preempt_enable_notrace();
}

/* ---- die notifier ---- */

static int probe_die(struct notifier_block *nb, unsigned long kind, void *data)
{
	struct die_args *die = data;

	switch (kind) {
	case DIE_DEBUG: /* has no trap number; err is DR6 */
		emit_trap(X86_TRAP_DB, die->regs, die->err);
		break;
	case DIE_INT3:
	case DIE_TRAP:
	case DIE_GPF:
		emit_trap(die->trapnr, die->regs, die->err);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block die_block = { .notifier_call = probe_die };

static int die_on(void)
{
	return register_die_notifier(&die_block);
}

static void die_off(void)
{
	unregister_die_notifier(&die_block);
}

/* ---- user exceptions without a notifier ---- */

static int probe_math_error(struct kprobe *kp, struct pt_regs *at)
{
	struct pt_regs *regs = (struct pt_regs *)at->di;

	/* For exceptions in the kernel, the die notifiers are called. */
	if (user_mode(regs))
		emit_trap(at->si, regs, 0);
	return 0;
}

static int probe_vdso_exception(struct kprobe *kp, struct pt_regs *at)
{
	if (at->si == X86_TRAP_GP)
		emit_trap(X86_TRAP_GP, (struct pt_regs *)at->di, at->dx);
	return 0;
}

/* ---- machine checks ---- */

static void probe_mce(void *data, fkt_mce_record *record)
{
	FKT_TRACEPOINT_PROBE();
	const struct mce *m = fkt_mce_of(record);
	u64 words[] = { m->status, m->addr };

	/* Independent of the filter, because it concerns the whole machine. */
	if (fkt_layer_on(FKT_L_SYSTEM) && !static_branch_unlikely(&fkt_key_restricted))
		fkt_emit(FKT_E_MCE, m->bank, words, ARRAY_SIZE(words));
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_page_fault_user(probe_page_fault_user);
	check_trace_callback_type_page_fault_kernel(probe_page_fault_kernel);
	check_trace_callback_type_mce_record(probe_mce);
}

#define LAYER (1ULL << FKT_L_SYSTEM)

static struct fkt_hook hooks[] = {
	FKT_ON_TRACEPOINT(page_fault_user, probe_page_fault_user, SYSTEM),
	FKT_ON_TRACEPOINT(page_fault_kernel, probe_page_fault_kernel, SYSTEM),
	FKT_ON_TRACEPOINT(mce_record, probe_mce, SYSTEM),
	{ .name = "die notifier", .on = die_on, .off = die_off, .layers = LAYER,
	  .shows = "exceptions other than page faults" },
	{ FKT_ON_FUNCTION(math_error, probe_math_error, SYSTEM, "floating point exceptions of programs") },
	{ FKT_ON_FUNCTION(fixup_vdso_exception, probe_vdso_exception, SYSTEM,
			  "general protection faults of programs") },
};

FKT_HOOK_TABLE(fkt_trap_hooks, hooks);

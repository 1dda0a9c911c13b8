// SPDX-License-Identifier: GPL-2.0-only
/* Layer system: device interrupts, softirqs. */

#include <linux/interrupt.h>
#include <trace/events/irq.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "base/compat.h"
#include "base/hook.h"
#include "ring/write.h"

#define IRQ_HANDLED_SHIFT 22

static __always_inline bool keep(void)
{
	return fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_machine();
}

/* ---- device interrupts ---- */

static noinline void emit_named(int irq, const char *device)
{
	u64 word = irq;

	fkt_emit_string(FKT_E_IRQ_ENTRY_NAMED, &word, 1, device ? device : "");
}

static void probe_irq_entry(void *data, int irq, struct irqaction *action)
{
	if (!keep())
		return;
	/* On a shared line, the tracepoint is called for each handler. */
	if (unlikely(action->flags & IRQF_SHARED))
		emit_named(irq, action->name);
	else if (!fkt_begin(IRQ, irq))
		fkt_emit0(FKT_E_IRQ_ENTRY, irq);
}

static void probe_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	if (keep() && !fkt_end_of(IRQ, irq, ret & 3))
		fkt_emit0(FKT_E_IRQ_EXIT, irq | (ret & 3) << IRQ_HANDLED_SHIFT);
}

/* ---- softirqs ---- */

static void probe_softirq_raise(void *data, unsigned int vec)
{
	FKT_TRACEPOINT_PROBE();

	if (keep())
		fkt_emit0(FKT_E_SOFTIRQ_RAISE, vec);
}

static void probe_softirq_entry(void *data, unsigned int vec)
{
	FKT_TRACEPOINT_PROBE();

	if (keep() && !fkt_begin(SOFTIRQ, vec))
		fkt_emit0(FKT_E_SOFTIRQ_ENTRY, vec);
}

static void probe_softirq_exit(void *data, unsigned int vec)
{
	FKT_TRACEPOINT_PROBE();

	if (keep() && !fkt_end_of(SOFTIRQ, vec, 0))
		fkt_emit0(FKT_E_SOFTIRQ_EXIT, vec);
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_irq_handler_entry(probe_irq_entry);
	check_trace_callback_type_irq_handler_exit(probe_irq_exit);
	check_trace_callback_type_softirq_raise(probe_softirq_raise);
	check_trace_callback_type_softirq_entry(probe_softirq_entry);
	check_trace_callback_type_softirq_exit(probe_softirq_exit);
}

static struct fkt_hook hooks[] = {
	FKT_ON_TRACEPOINT(irq_handler_exit, probe_irq_exit, SYSTEM),
	FKT_ON_TRACEPOINT(irq_handler_entry, probe_irq_entry, SYSTEM),
	FKT_ON_TRACEPOINT(softirq_exit, probe_softirq_exit, SYSTEM),
	FKT_ON_TRACEPOINT(softirq_entry, probe_softirq_entry, SYSTEM),
	FKT_ON_TRACEPOINT(softirq_raise, probe_softirq_raise, SYSTEM),
};

FKT_HOOK_TABLE(fkt_interrupt_hooks, hooks);

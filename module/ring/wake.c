// SPDX-License-Identifier: GPL-2.0-only
/* Wakes the drain thread, from any context. */

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "wake.h"

struct fkt_waker fkt_waker = {
	.wait = __RCUWAIT_INITIALIZER(fkt_waker.wait),
};

static DEFINE_PER_CPU(struct irq_work, fkt_wake_work);

/*
 * Wakes the thread, which wakes the readers; it writes pages only if there are enough for a large write. May be called
 * from irq_work, from interrupts (on PREEMPT_RT hard ones too) and from tasks; not from probes.
 */
void fkt_kick_for_batches(void)
{
	/* Before the wake-up, which has a full barrier before it reads the thread's state. */
	WRITE_ONCE(fkt_waker.kicked, true);
	rcuwait_wake_up(&fkt_waker.wait);
}

/* As above; the thread writes all complete pages. */
void fkt_kick(void)
{
	/* In this order, which x86 keeps, and the thread reads them in the other one. */
	WRITE_ONCE(fkt_waker.all, true);
	fkt_kick_for_batches();
}

static void wake_own(struct irq_work *work)
{
	fkt_kick_for_batches();
}

/* Wakes the drain, which wakes the readers; may be called in any context. */
void fkt_wake_soon(void)
{
	/* The irq_work of any CPU will do: a stop closes rings with preemption enabled. */
	struct irq_work *own = raw_cpu_ptr(&fkt_wake_work);

	/*
	 * A CPU that is going offline has run its last irq_work: one queued now would stay queued, and
	 * irq_work_sync() would spin on it. cpu_dead() in rings.c wakes the drain instead.
	 */
	if (cpu_online(raw_smp_processor_id()))
		irq_work_queue(own);
}

/* Waits for the wake-ups that `cpu` has queued. */
void fkt_wake_sync(unsigned int cpu)
{
	irq_work_sync(per_cpu_ptr(&fkt_wake_work, cpu));
}

/* Called before any probe can run. */
void fkt_wake_init(void)
{
	unsigned int cpu;

	/*
	 * In hard interrupt context on PREEMPT_RT too: the irq_work thread is parked before the CPU goes
	 * offline.
	 */
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(&fkt_wake_work, cpu) = IRQ_WORK_INIT_HARD(wake_own);
}

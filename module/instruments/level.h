/* SPDX-License-Identifier: GPL-2.0-only */
/* The context that code runs in: a task, a softirq, an interrupt or an NMI. */
#ifndef FKT_LEVEL_H
#define FKT_LEVEL_H

#include <linux/preempt.h>

#include <fkt/program.h>

/* Returns the context that the code runs in. */
static inline enum fkt_level fkt_level(void)
{
	if (in_nmi())
		return FKT_LEVEL_NMI;
	if (in_hardirq())
		return FKT_LEVEL_IRQ;
	return in_serving_softirq() ? FKT_LEVEL_SOFTIRQ : FKT_LEVEL_TASK;
}

#endif /* FKT_LEVEL_H */

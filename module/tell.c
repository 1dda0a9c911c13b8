// SPDX-License-Identifier: GPL-2.0-only
/* Layer fkt: records what the drain does. */

#include <linux/cpumask.h>

#include <fkt/events.h>

#include "ring_take.h"
#include "tell.h"
#include "writer.h"

/*
 * Writes an event with a number of pages and a word, if the layer is on. The mask is read with
 * preemption off: a stop clears the mask and waits for all code that saw it set before it closes the
 * rings.
 */
void fkt_tell(u32 id, u32 pages, u64 word)
{
	preempt_disable_notrace();
	if (fkt_layer_on(FKT_L_FKT))
		fkt_emit(id, pages, &word, 1);
	preempt_enable_notrace();
}

/* The drain was woken: records how many pages wait for it and how many are free. */
void fkt_tell_wake(void)
{
	u32 filled = 0, free = 0;
	unsigned int cpu;

	if (!fkt_layer_on(FKT_L_FKT))
		return;
	for_each_possible_cpu(cpu)
		fkt_ring_fill(cpu, &filled, &free);
	fkt_tell(FKT_E_DRAIN_WAKE, 0, (u64)free << 32 | filled);
}

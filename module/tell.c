// SPDX-License-Identifier: GPL-2.0-only
/* Events that the module itself writes: what the drain does (layer fkt), clock readings, changes of the mask. */

#include <linux/irqflags.h>
#include <linux/ktime.h>

#include <fkt/events.h>

#include "tell.h"
#include "write.h"

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

/* Writes a clock event on this CPU, if a recording runs. */
void fkt_tell_clock(void)
{
	u64 words[FKT_N_CLOCK];
	unsigned long flags;

	/* No interrupt may come between the readings and the stamp. */
	local_irq_save(flags);
	if (READ_ONCE(fkt_mask)) {
		words[0] = ktime_get_raw_fast_ns();
		words[1] = ktime_get_mono_fast_ns();
		words[2] = ktime_get_real_fast_ns();
		fkt_emit(FKT_E_CLOCK, 0, words, FKT_N_CLOCK);
	}
	local_irq_restore(flags);
}

/* Writes a mask event: from here on these layers are recorded. Caller must hold the recording's lock. */
void fkt_tell_mask(u64 mask)
{
	preempt_disable_notrace();
	fkt_emit(FKT_E_MASK, 0, &mask, FKT_N_MASK);
	preempt_enable_notrace();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by all probes: each CPU's ring, and the parts of writing that are not inline. The
 * protocol of the ring is in include/fkt/ring.h.
 */

#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include <fkt/events.h>
#include <fkt/ring.h>

#include "flags.h"
#include "wake.h"
#include "write.h"

DEFINE_PER_CPU_ALIGNED(struct fkt_ring, fkt_rings);
bool fkt_full;
EXPORT_SYMBOL_GPL(fkt_full);
u32 fkt_stopped_by;
EXPORT_SYMBOL_GPL(fkt_stopped_by);
bool fkt_flags[FKT_PROGRAM_FLAGS];
EXPORT_SYMBOL_GPL(fkt_flags);
DEFINE_STATIC_KEY_FALSE(fkt_key_args);
DEFINE_STATIC_KEY_TRUE(fkt_key_pairs);

/*
 * The first event of a gap was lost; called in any context. If that ends the recording, no further
 * probe may begin: the mask is cleared here, and the drain reports the reason when it wakes. Probes
 * that have already begun find the gap closed (fkt_ring.keeps_gap).
 */
void fkt_gap(struct fkt_ring *ring)
{
	if (!ring->keeps_gap)
		return;
	WRITE_ONCE(fkt_full, true);
	/* In this order, which x86 keeps: fkt_recording_go_on() reads `fkt_full` after it has set the mask. */
	fkt_mask_clear();
	fkt_wake_soon();
}

/*
 * Page `run` is complete: wakes the drain, through irq_work because the caller may be in any context, including NMIs
 * and the scheduler. Not for each page: the drain works best on several pages at once, and looks at the rings twice a
 * second anyway.
 */
void fkt_wake(struct fkt_ring *ring, u32 run)
{
	if (run + 1 - READ_ONCE(ring->tail) >= ring->batch)
		fkt_wake_soon();
}

/*
 * Joins an end to its begin's word, in any form (short or long). Caller must disable preemption.
 * Returns false if nothing was changed.
 */
bool fkt_join_any(enum fkt_pair_kind kind, u32 known, u32 id, s64 value)
{
	const struct fkt_end end = {
		.kind = kind, .known = known, .id = id, .pid = current->pid, .value = value,
	};

	return fkt_ring_join(this_cpu_ptr(&fkt_rings), &end, false);
}

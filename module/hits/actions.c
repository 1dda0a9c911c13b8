// SPDX-License-Identifier: GPL-2.0-only
/* The actions of instruments, except writing the events of their places (actions.h). */

#include <linux/compiler.h>

#include <fkt/events.h>

#include "drain/recording.h"
#include "drain/trigger.h"
#include "instruments/histogram.h"
#include "instruments/task_flags.h"
#include "ring/flags.h"
#include "ring/wake.h"
#include "actions.h"

/*
 * Ends the recording with this hit. No further probe may begin, so the mask is cleared here, as in fkt_gap(); the drain
 * reports the reason when it wakes. The mask is cleared before the hit is written, so that on its CPU nothing follows
 * it: what is called here, and interrupts meanwhile, are not recorded.
 */
static void stop(const struct fkt_instrument_slot *instrument)
{
	fkt_mask_clear();
	/* Two CPUs may both find 0 and write; the later write remains. Either instrument is a true reason. */
	if (!READ_ONCE(fkt_stopped_by)) {
		fkt_emit0(FKT_E_HIT, instrument->number);
		WRITE_ONCE(fkt_stopped_by, instrument->number + 1);
	}
	/*
	 * Again, for fkt_recording_go_on() may have set it since. In this order, which x86 keeps: it reads
	 * `fkt_stopped_by` after it has set the mask.
	 */
	fkt_mask_clear();
	fkt_wake_soon();
}

static enum fkt_fate set_flag(u32 flag, bool is_set)
{
	if (!(flag & FKT_FLAG_OF_TASK))
		fkt_flag_set(flag, is_set);
	else if (!fkt_task_flag_set(flag & ~FKT_FLAG_OF_TASK, is_set))
		return FKT_FATE_MISSED + FKT_MISSED_THREAD;
	return FKT_FATE_KEPT;
}

/*
 * Does what the instrument asks for, except writing an event, with a hit that was kept. words: what its program has
 * emitted. Returns what becomes of the hit.
 */
enum fkt_fate fkt_act(const struct fkt_instrument_slot *instrument, const u64 *words, u32 n)
{
	switch (instrument->action) {
	case FKT_ACTION_HISTOGRAM:
		if (!fkt_histogram_add(instrument->histogram, words, n))
			return FKT_FATE_MISSED + FKT_MISSED_FULL;
		break;
	case FKT_ACTION_SET:
	case FKT_ACTION_CLEAR:
		return set_flag(instrument->flag, instrument->action == FKT_ACTION_SET);
	case FKT_ACTION_STOP:
		stop(instrument);
		break;
	case FKT_ACTION_START:
		fkt_recording_begin_by(&fkt_recording, instrument->number);
		break;
	case FKT_ACTION_PRIME:
		fkt_recording_prime_by(&fkt_recording, instrument->number);
		break;
	case FKT_ACTION_HANDLER:
		instrument->handle(&(struct fkt_handler_hit){
			.words = words, .count = n, .instrument = instrument->number,
		});
		break;
	case FKT_ACTION_SNAPSHOT:
		fkt_trigger_hit(instrument->number);
		break;
	}
	return FKT_FATE_KEPT;
}

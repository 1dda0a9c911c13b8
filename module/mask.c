// SPDX-License-Identifier: GPL-2.0-only
/* What is recorded at present (mask.h). */

#include <asm/barrier.h>

#include "call_quick.h"
#include "call_slots.h"
#include "instrument_slot.h"
#include "mask.h"
#include "trigger_event.h"

u64 fkt_mask;
DEFINE_STATIC_KEY_FALSE(fkt_key_special);

static const struct {
	struct fkt_call_quick quick;
	struct fkt_call_quick_slot slot;
} none;

const struct fkt_call_quick *fkt_call_quick = &none.quick;

/* From any context. Probes that run may still use the one before. */
static void choose_none(void)
{
	WRITE_ONCE(fkt_call_quick, &none.quick);
}

/* No further probe may record; those that run go on. From any context. */
void fkt_mask_clear(void)
{
	/* In this order, which x86 keeps: fkt_mask_choose_quick() says why. */
	WRITE_ONCE(fkt_mask, 0);
	choose_none();
}

static bool is_allowed(const struct fkt_call_quick *quick)
{
	return !(quick->layers & ~READ_ONCE(fkt_mask)) && !static_key_enabled(&fkt_key_special) &&
	       !static_key_enabled(&fkt_key_trigger_events);
}

/*
 * Puts that of the instruments into force if mask and keys allow it. Called after each change of the mask or of the
 * table in force, under the recording's lock; the keys change only while the mask is 0. instruments: may be NULL.
 */
void fkt_mask_choose_quick(const struct fkt_instrument_table *instruments)
{
	const struct fkt_call_quick *quick = instruments && instruments->calls ? instruments->calls->quick : NULL;

	if (!quick || !is_allowed(quick)) {
		choose_none();
		return;
	}
	/* Release: a probe that finds it finds its slots, and the rings. */
	smp_store_release(&fkt_call_quick, quick);
	/*
	 * The mask may be cleared without the lock (fkt_mask_clear(): first the mask, then this pointer). Either that
	 * store to the pointer comes after the one above, or the mask is seen to be 0 here.
	 */
	smp_mb();
	if (!is_allowed(quick))
		choose_none();
}

// SPDX-License-Identifier: GPL-2.0-only
/* The mask and the quick tables that probes read (mask.h). */

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
const struct fkt_call_quick *fkt_entry_quick = &none.quick;
const struct fkt_call_quick *fkt_instruction_quick = &none.quick;

/* Sets the three quick tables to an empty one. Any context. Running probes may still use the previous tables. */
static void choose_none(void)
{
	WRITE_ONCE(fkt_call_quick, &none.quick);
	WRITE_ONCE(fkt_entry_quick, &none.quick);
	WRITE_ONCE(fkt_instruction_quick, &none.quick);
}

/* No further probe may record; those that run go on. From any context. */
void fkt_mask_clear(void)
{
	/* In this order, which x86 keeps: fkt_mask_choose_quick() says why. */
	WRITE_ONCE(fkt_mask, 0);
	choose_none();
}

/* Sets *in_force to the table's quick part if mask and keys allow it, else to the empty one. table: may be NULL. */
static void choose(const struct fkt_call_quick **in_force, const struct fkt_call_table *table, u64 mask)
{
	const struct fkt_call_quick *quick = table ? table->quick : NULL;

	if (!quick || quick->layers & ~mask || static_key_enabled(&fkt_key_special) ||
	    static_key_enabled(&fkt_key_trigger_events))
		quick = &none.quick;
	/* Release: a probe that finds the table finds its slots, and the rings. */
	smp_store_release(in_force, quick);
}

/*
 * Chooses the quick tables that mask and keys allow. Called after each change of the mask or of the
 * table in force, under the recording's lock; the keys change only while the mask is 0. instruments: may be NULL.
 */
void fkt_mask_choose_quick(const struct fkt_instrument_table *instruments)
{
	const u64 mask = READ_ONCE(fkt_mask);

	if (!instruments) {
		choose_none();
		return;
	}
	choose(&fkt_call_quick, instruments->calls, mask);
	choose(&fkt_entry_quick, instruments->entries, mask);
	choose(&fkt_instruction_quick, instruments->instructions, mask);
	/*
	 * fkt_mask_clear() may run without the lock: it clears the mask, then the pointers. Either its stores to the
	 * pointers follow those above, or the changed mask is seen here. A hit that begins the recording also changes
	 * the mask; the drain then causes another call of this function.
	 */
	smp_mb();
	if (READ_ONCE(fkt_mask) != mask)
		choose_none();
}

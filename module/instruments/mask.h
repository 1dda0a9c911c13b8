/* SPDX-License-Identifier: GPL-2.0-only */
/* The mask and the quick tables, which each probe reads first. */
#ifndef FKT_MASK_H
#define FKT_MASK_H

#include <linux/jump_label.h>
#include <linux/types.h>

#include <fkt/events.h>

#include "arch/arch.h"

struct fkt_call_quick;
struct fkt_instrument_table;

/* Layers recorded now; 0: none. Every probe reads this first, or the pointer fkt_call_quick. */
extern u64 fkt_mask;
/* In place of layers: the recording waits to be begun by a hit of an instrument in this layer. */
#define FKT_LAYER_WAITS 63
#define FKT_MASK_WAITS (1ULL << FKT_LAYER_WAITS)
/* In place of layers: the recording waits to be primed by a hit of an instrument in this layer. */
#define FKT_LAYER_PRIMES 62
#define FKT_MASK_PRIMES (1ULL << FKT_LAYER_PRIMES)
/*
 * Quick tables (call_quick.h) of the table in force: of calls, of entries and of instructions; never NULL. For probes,
 * with preemption disabled, in any context. An empty one is in force unless all layers of its places are in the mask,
 * and a hit needs nothing but to be recorded or counted.
 */
extern const struct fkt_call_quick *fkt_call_quick, *fkt_entry_quick, *fkt_instruction_quick;

/*
 * Set if the filter, the arguments or a clock other than the bare TSC is used, so that the hottest
 * probes test one key only.
 */
DECLARE_STATIC_KEY_FALSE(fkt_key_special);

/*
 * Lockless: a probe on another CPU may still see an old mask for as long as it runs; the stop waits for
 * all probes before it relies on the new mask.
 */
static __always_inline bool fkt_layer_on(enum fkt_layer layer)
{
	/* Concurrent stores to the mask are harmless. */
	return fkt_test_at_once(&fkt_mask, layer);
}

/* As above, for a layer that is not a constant. */
static __always_inline bool fkt_layer_number_on(u32 layer)
{
	return READ_ONCE(fkt_mask) >> (layer & 63) & 1;
}

void fkt_mask_clear(void);
void fkt_mask_choose_quick(const struct fkt_instrument_table *instruments);

#endif /* FKT_MASK_H */

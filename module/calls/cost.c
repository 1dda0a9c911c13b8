// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what tracing a call takes, with a function that does nothing (nothing.S). Part of it is in the call's own
 * duration, all of it in that of its caller. The least of some rounds: without cache misses and interrupts.
 */

#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "arch/arch.h"
#include "call.h"
#include "cost.h"
#include "returns.h"

/* Ticks of a call: in its own duration, and altogether. */
static u64 inside, total;

/* Calls of an earlier user may return meanwhile. */
static void see(u64 unused, u64 ticks, u64 now)
{
	const struct fkt_plain_call *plain = FKT_CALL_ON_STACK();

	if (plain->body == (unsigned long)fkt_calls_nothing_body)
		inside = min(inside, ticks);
}

#define ROUNDS 32
#define CALLS 32

/* The least ticks of CALLS calls. */
#define LEAST_OF(call)                                                                      \
	({                                                                                  \
		u64 least = U64_MAX;                                                        \
		unsigned int round, i;                                                      \
		unsigned long flags;                                                        \
											    \
		for (round = 0; round < ROUNDS; round++) {                                  \
			u64 begin;                                                          \
											    \
			local_irq_save(flags);                                              \
			begin = fkt_counter_ordered();                                            \
			for (i = 0; i < CALLS; i++)                                         \
				call();                                                     \
			least = min(least, fkt_counter_ordered() - begin);                        \
			local_irq_restore(flags);                                           \
		}                                                                           \
		least;                                                                      \
	})

/*
 * Caller must hold `lock` of calls.c, and calls this before it sets the callbacks of the recording that wants calls
 * traced: until then no call is recorded, so fkt_returns_watch() can have the returns.
 */
void fkt_cost_measure(void)
{
	const u64 traced = LEAST_OF(fkt_calls_nothing), untraced = LEAST_OF(fkt_calls_untraced);

	total = (traced - min(traced, untraced)) / CALLS;
	inside = total;
	fkt_returns_watch(see);
	(void)LEAST_OF(fkt_calls_nothing);
	fkt_returns_watch(NULL);
}

void fkt_cost_get(struct fkt_calls_totals *totals)
{
	totals->inside_ns = div_u64(inside * USEC_PER_SEC, fkt_counter_khz());
	totals->total_ns = div_u64(total * USEC_PER_SEC, fkt_counter_khz());
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording's clock: the processor's counter, or CLOCK_MONOTONIC if the counter cannot be trusted.
 * Both can be read in any context. After a sleep that it did not count, the clock is the counter plus
 * the missing time.
 */
#ifndef FKT_CLOCK_H
#define FKT_CLOCK_H

#include <linux/jump_label.h>
#include <linux/types.h>

#include <fkt/ioctl.h>
#include <fkt/ticks.h>

#include "arch/arch.h"

/* The clock is not the bare counter. */
DECLARE_STATIC_KEY_FALSE(fkt_key_clock);

int fkt_clock_start(enum fkt_clock_source source);
u64 fkt_clock_khz(void);
bool fkt_clock_read_now(struct fkt_clocks *clocks);
int fkt_clock_read(struct fkt_clocks *clocks, bool recording);
void fkt_clock_park(void);
bool fkt_clock_wake(void);
u64 fkt_clock_slept_ns(void);
u64 fkt_clock_other(void);
u64 fkt_clock_added(void);

/* Full stamp (ticks). */
static __always_inline u64 fkt_clock(void)
{
	if (static_branch_unlikely(&fkt_key_clock))
		return fkt_clock_other();
	return fkt_counter();
}

/* Returns the difference between clock and counter (ticks). Precondition: its source is FKT_CLOCK_TSC. */
static __always_inline u64 fkt_clock_offset(void)
{
	return static_branch_unlikely(&fkt_key_clock) ? fkt_clock_added() : 0;
}

#endif /* FKT_CLOCK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording's clock: the time stamp counter, or CLOCK_MONOTONIC where the counter cannot be
 * trusted. Both can be read in any context.
 */
#ifndef FKT_CLOCK_H
#define FKT_CLOCK_H

#include <linux/jump_label.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>

DECLARE_STATIC_KEY_FALSE(fkt_key_mono);

/* Full stamp (ticks). */
static __always_inline u64 fkt_clock(void)
{
	if (static_branch_unlikely(&fkt_key_mono))
		return ktime_get_mono_fast_ns();
	return rdtsc();
}

#endif /* FKT_CLOCK_H */

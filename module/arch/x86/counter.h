/* SPDX-License-Identifier: GPL-2.0-only */
/* The counter that is the recording's clock: the TSC. It can be read in any context. */
#ifndef FKT_COUNTER_H
#define FKT_COUNTER_H

#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

/* Not ordered with the instructions around it. */
static __always_inline u64 fkt_counter(void)
{
	return rdtsc();
}

/* After the loads before it. */
static __always_inline u64 fkt_counter_ordered(void)
{
	return rdtsc_ordered();
}

/* Ticks per millisecond. */
static __always_inline unsigned int fkt_counter_khz(void)
{
	return tsc_khz;
}

/* Returns whether the counters of all CPUs agree and go on. */
static inline bool fkt_counter_is_usable(void)
{
	return boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
}

/* struct fkt_clocks.tsc_flags: at one rate, and on in deep sleeps of a CPU. */
static inline u32 fkt_counter_flags(void)
{
	return (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) ? 1 : 0) | (boot_cpu_has(X86_FEATURE_NONSTOP_TSC) ? 2 : 0);
}

#endif /* FKT_COUNTER_H */

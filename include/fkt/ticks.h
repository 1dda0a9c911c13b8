/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Differences of clocks, and their conversion to other units. Compiled by the module and the unit tests. */
#ifndef FKT_TICKS_H
#define FKT_TICKS_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/math64.h>
#endif

/* Returns the ticks from `begin` to `now`; 0: `begin` is later, by a clock of another CPU that is ahead. */
static inline __u64 fkt_ticks_between(__u64 begin, __u64 now)
{
	const __s64 ticks = (__s64)(now - begin);

	return ticks < 0 ? 0 : (__u64)ticks;
}

/* Returns value * times / parts; all bits set if that is more: the processor's division would trap. */
static inline __u64 fkt_ticks_convert(__u64 value, __u64 times, __u64 parts)
{
	const unsigned __int128 product = (unsigned __int128)value * times;

	/* The quotient fits into 64 bits if the upper half of the product is less than the divisor. */
	if ((__u64)(product >> 64) >= parts)
		return ~0ULL;
#ifdef __KERNEL__
	/* The kernel has no division of 128 bits. */
	return mul_u64_u64_div_u64(value, times, parts);
#else
	return (__u64)(product / parts);
#endif
}

#endif /* FKT_TICKS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Words of call events (events.def). The short form has one word: the duration, and the low bits of the begin, whose
 * high bits follow from the event's own time. So it is valid only if the event was written less than 2^34 ticks after
 * the call's begin.
 */
#ifndef FKT_CALL_EVENT_H
#define FKT_CALL_EVENT_H

#include <fkt/wire.h>

#define FKT_CALL_TICK_BITS 30
#define FKT_CALL_BEGIN_BITS (64 - FKT_CALL_TICK_BITS)

static inline int fkt_call_is_short(__u64 ticks)
{
	return !(ticks >> FKT_CALL_TICK_BITS);
}

/* begin: full stamp; ticks: fkt_call_is_short(). */
static inline __u64 fkt_call_word(__u64 begin, __u64 ticks)
{
	return begin << FKT_CALL_TICK_BITS | ticks;
}

static inline __u64 fkt_call_ticks(__u64 word)
{
	return word & ((1ULL << FKT_CALL_TICK_BITS) - 1);
}

/* Returns the full stamp of the begin. clock: the event's stamp. */
static inline __u64 fkt_call_begin(__u64 word, __u64 clock)
{
	return clock - ((clock - (word >> FKT_CALL_TICK_BITS)) & ((1ULL << FKT_CALL_BEGIN_BITS) - 1));
}

/*
 * Words before the values of a call event: (number and duration in one word), begin; or, if the duration does not fit,
 * number, duration, begin.
 */
#define FKT_CALL_NUMBER_BITS 24
#define FKT_CALL_VALUES_HEAD 2
#define FKT_CALL_VALUES_LONG_HEAD 3

static inline int fkt_call_values_are_short(__u64 ticks)
{
	return !(ticks >> (64 - FKT_CALL_NUMBER_BITS));
}

/* ticks: fkt_call_values_are_short(). */
static inline __u64 fkt_call_values_word(__u32 number, __u64 ticks)
{
	return number | ticks << FKT_CALL_NUMBER_BITS;
}

#endif /* FKT_CALL_EVENT_H */

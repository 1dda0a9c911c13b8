/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the events of calls, in any recording. For hits/call_hits.c and user/user_hits.c; called with preemption
 * disabled, in any context.
 */
#ifndef FKT_CALLS_WRITE_H
#define FKT_CALLS_WRITE_H

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "ring/clock.h"
#include "ring/write.h"

/* Ids of the events of calls. Those of kernel functions and those of user programs have the same words. */
struct fkt_call_events {
	u16 exit, exit_values, call, call_long, values, values_long;
};

#define FKT_EVENTS_OF_KERNEL                                                                       \
	((struct fkt_call_events){                                                                 \
		FKT_E_FUNCTION_EXIT, FKT_E_FUNCTION_EXIT_VALUES, FKT_E_CALL, FKT_E_CALL_LONG,      \
		FKT_E_CALL_VALUES, FKT_E_CALL_VALUES_LONG,                                         \
	})
#define FKT_EVENTS_OF_USER                                                                         \
	((struct fkt_call_events){                                                                 \
		FKT_E_USER_EXIT, FKT_E_USER_EXIT_VALUES, FKT_E_USER_CALL, FKT_E_USER_CALL_LONG,    \
		FKT_E_USER_CALL_VALUES, FKT_E_USER_CALL_VALUES_LONG,                               \
	})

/* Writes the exit of a call with `n` values, for which the words before `values` are free. */
static __always_inline void fkt_write_exit(const struct fkt_call_events events, u32 number, u64 *values, u32 n,
					   bool is_cut)
{
	if (!n) {
		fkt_emit0(events.exit, number);
		return;
	}
	values[-1] = number;
	fkt_emit(events.exit_values, (n + 1) | (is_cut ? FKT_VAR_CUT : 0), values - 1, n + 1);
}

/* Writes a call with `n` values, for which the first words of `words` are free. begin: full stamp. */
static __always_inline void fkt_write_call_values(const struct fkt_call_events events, u32 number, u64 begin, u64 ticks,
						  u64 *words, u32 n, bool is_cut)
{
	u32 arg = is_cut ? FKT_VAR_CUT : 0;

	if (fkt_call_values_are_short(ticks)) {
		words += FKT_CALL_VALUES_LONG_HEAD - FKT_CALL_VALUES_HEAD;
		words[0] = fkt_call_values_word(number, ticks);
		words[1] = begin;
		n += FKT_CALL_VALUES_HEAD;
		fkt_emit(events.values, arg | n, words, n);
	} else {
		words[0] = number;
		words[1] = ticks;
		words[2] = begin;
		n += FKT_CALL_VALUES_LONG_HEAD;
		fkt_emit(events.values_long, arg | n, words, n);
	}
}

/* begin: full stamp */
static __always_inline void fkt_write_call(const struct fkt_call_events events, u32 number, u64 begin, u64 ticks)
{
	if (fkt_call_is_short(ticks)) {
		u64 word = fkt_call_word(begin, ticks);

		fkt_emit(events.call, number, &word, FKT_N_CALL);
	} else {
		u64 words[] = { ticks, begin };

		fkt_emit(events.call_long, number, words, FKT_N_CALL_LONG);
	}
}

/* ---- of the kernel's functions; begin: TSC ---- */

static inline void fkt_call_write_exit(u32 number, u64 *values, u32 n, bool is_cut)
{
	fkt_write_exit(FKT_EVENTS_OF_KERNEL, number, values, n, is_cut);
}

static inline void fkt_call_write_values(u32 number, u64 begin, u64 ticks, u64 *words, u32 n, bool is_cut)
{
	fkt_write_call_values(FKT_EVENTS_OF_KERNEL, number, begin + fkt_clock_offset(), ticks, words, n, is_cut);
}

static inline void fkt_call_write(u32 number, u64 begin, u64 ticks)
{
	fkt_write_call(FKT_EVENTS_OF_KERNEL, number, begin + fkt_clock_offset(), ticks);
}

#endif /* FKT_CALLS_WRITE_H */

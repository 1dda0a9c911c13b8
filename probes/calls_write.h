/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the events of calls, in any recording. For probes/calls.c; called with preemption disabled, in any context. */
#ifndef FKT_PROBES_CALLS_WRITE_H
#define FKT_PROBES_CALLS_WRITE_H

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "clock.h"
#include "write.h"

/* Writes the exit of a call with `n` values, for which the words before `values` are free. */
static inline void fkt_call_write_exit(u32 number, u64 *values, u32 n, bool is_cut)
{
	if (!n) {
		fkt_emit0(FKT_E_FUNCTION_EXIT, number);
		return;
	}
	values[-1] = number;
	fkt_emit(FKT_E_FUNCTION_EXIT_VALUES, (n + 1) | (is_cut ? FKT_VAR_CUT : 0), values - 1, n + 1);
}

/* Writes a call with `n` values, for which the first words of `words` are free. */
static inline void fkt_call_write_values(u32 number, u64 begin, u64 ticks, u64 *words, u32 n, bool is_cut)
{
	u32 arg = is_cut ? FKT_VAR_CUT : 0;

	begin += fkt_clock_offset();
	if (fkt_call_values_are_short(ticks)) {
		words += FKT_CALL_VALUES_LONG_HEAD - FKT_CALL_VALUES_HEAD;
		words[0] = fkt_call_values_word(number, ticks);
		words[1] = begin;
		n += FKT_CALL_VALUES_HEAD;
		fkt_emit(FKT_E_CALL_VALUES, arg | n, words, n);
	} else {
		words[0] = number;
		words[1] = ticks;
		words[2] = begin;
		n += FKT_CALL_VALUES_LONG_HEAD;
		fkt_emit(FKT_E_CALL_VALUES_LONG, arg | n, words, n);
	}
}

static inline void fkt_call_write(u32 number, u64 begin, u64 ticks)
{
	begin += fkt_clock_offset();
	if (fkt_call_is_short(ticks)) {
		u64 word = fkt_call_word(begin, ticks);

		fkt_emit(FKT_E_CALL, number, &word, FKT_N_CALL);
	} else {
		u64 words[] = { ticks, begin };

		fkt_emit(FKT_E_CALL_LONG, number, words, FKT_N_CALL_LONG);
	}
}

#endif /* FKT_PROBES_CALLS_WRITE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The words of a hit (program.h) of an instrument on a tracepoint: the arguments that the tracepoint passes. */
#ifndef FKT_POINT_HIT_H
#define FKT_POINT_HIT_H

#include <fkt/call_hit.h>
#include <fkt/ioctl.h>

/* arguments: at most FKT_POINT_ARGUMENTS. */
static __always_inline struct fkt_program_rules fkt_point_rules(__u32 arguments)
{
	struct fkt_program_rules rules = { 0, 0, 0, 0, 0 };

	rules.words = (1ULL << arguments) - 1;
	rules.emits = FKT_PROGRAM_WORDS;
	rules.contexts = FKT_CALL_CONTEXTS;
	return rules;
}

/* In the argument of an event with values, the tracepoint's number is in the bits above the number of words. */
#define FKT_POINT_ARG(number, words) ((__u32)(number) << FKT_VAR_BITS | (words))

FKT_LAYOUT(FKT_POINT_ARG(FKT_POINTS_MOST - 1, FKT_VAR_MASK) < FKT_VAR_CUT);

#endif /* FKT_POINT_HIT_H */

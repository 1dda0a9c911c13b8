/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The words of a hit (program.h) of an instrument on a tracepoint: the arguments that the tracepoint passes, and the
 * address of the tracepoint's own record if the program uses it.
 */
#ifndef FKT_POINT_HIT_H
#define FKT_POINT_HIT_H

#include <fkt/call_hit.h>
#include <fkt/ioctl.h>

#define FKT_POINT_RECORD_WORD FKT_POINT_ARGUMENTS
#define FKT_POINT_WORDS (FKT_POINT_RECORD_WORD + 1)

/* arguments: at most FKT_POINT_ARGUMENTS; record_bytes: that each record has, or 0. */
static __always_inline struct fkt_program_rules fkt_point_rules(__u32 arguments, __u32 record_bytes)
{
	struct fkt_program_rules rules = FKT_RULES_NONE;

	rules.words = (1ULL << arguments) - 1;
	if (record_bytes)
		rules.words |= 1ULL << FKT_POINT_RECORD_WORD;
	rules.record_bytes = record_bytes;
	rules.record = FKT_POINT_RECORD_WORD;
	rules.emits = FKT_PROGRAM_WORDS;
	rules.contexts = FKT_CALL_CONTEXTS;
	rules.memory = 1;
	return rules;
}

/* In the argument of an event with values, the tracepoint's number is in the bits above the number of words. */
#define FKT_POINT_ARG(number, words) ((__u32)(number) << FKT_VAR_BITS | (words))

FKT_LAYOUT(FKT_POINT_ARG(FKT_POINTS_MOST - 1, FKT_VAR_MASK) < FKT_VAR_CUT);

#endif /* FKT_POINT_HIT_H */

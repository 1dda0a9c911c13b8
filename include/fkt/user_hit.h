/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Words of a hit (program.h) of an instrument in a user program: the registers when the instruction is reached, in the
 * order of enum fkt_register (call_hit.h). A program reads the memory of the current process. For a whole call and for
 * an exit, the second program has the words of call_hit.h, except FKT_CALL_CPUTIME and FKT_CALL_DEPTH.
 */
#ifndef FKT_USER_HIT_H
#define FKT_USER_HIT_H

#include <fkt/call_hit.h>
#include <fkt/ioctl.h>
#include <fkt/point_hit.h>

/* No word leads to a file of the kernel. */
#define FKT_USER_CONTEXTS (FKT_CALL_CONTEXTS & ~(1 << FKT_CONTEXT_FILE))

/* Rules of a place's only program: the emitted words are recorded. */
static __always_inline struct fkt_program_rules fkt_user_rules(void)
{
	struct fkt_program_rules rules = fkt_instruction_rules();

	rules.contexts = FKT_USER_CONTEXTS;
	return rules;
}

/* Rules of a whole call's first program: the emitted words are kept until the return. */
static __always_inline struct fkt_program_rules fkt_user_call_rules(void)
{
	struct fkt_program_rules rules = fkt_user_rules();

	rules.emits = FKT_CALL_KEPT;
	return rules;
}

/* Rules of the second program. kept: the first program's fkt_program.words. */
static __always_inline struct fkt_program_rules fkt_user_return_rules(__u32 kept)
{
	struct fkt_program_rules rules = fkt_call_exit_rules(kept);

	rules.words &= ~(1ULL << FKT_CALL_CPUTIME | 1ULL << FKT_CALL_DEPTH);
	rules.contexts = FKT_USER_CONTEXTS;
	return rules;
}

/* In the argument of an event with values, the place's number is in the bits above the number of words. */
#define FKT_USER_ARG(number, words) FKT_POINT_ARG(number, words)

FKT_LAYOUT(FKT_USER_NUMBERS <= FKT_POINTS_MOST);

#endif /* FKT_USER_HIT_H */

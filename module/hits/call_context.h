/* SPDX-License-Identifier: GPL-2.0-only */
/* The context of a hit that programs ask for (enum fkt_context). */
#ifndef FKT_CALL_CONTEXT_H
#define FKT_CALL_CONTEXT_H

#include <linux/types.h>

#include <fkt/program.h>
#include <fkt/program_run.h>

#include "instruments/programs.h"

void fkt_lowest_stack_reset(void);
u32 fkt_lowest_stack(void);
void fkt_lowest_stack_take(unsigned long stack);
u64 fkt_call_context(const u64 *hit, u32 which, u32 parameter);

/*
 * Runs the program of a hit, as fkt_program_run(). stack: the stack pointer when the hit's function was entered, or at
 * its instruction: what is below belongs to FKT, and to the kernel's way to it. scratch: from fkt_scratch_get().
 */
static __always_inline enum fkt_run fkt_run_program(const struct fkt_program *program, const u64 *hit,
						    unsigned long stack, struct fkt_scratch *scratch,
						    struct fkt_emitted *emitted, fkt_read_fn read)
{
	enum fkt_run says;

	scratch->stack = stack;
	scratch->asks_lowest = false;
	says = fkt_program_run(program, hit, emitted, read, fkt_call_context);
	if (unlikely(scratch->asks_lowest) && says == FKT_RUN_KEEP)
		fkt_lowest_stack_take(stack);
	return says;
}

#endif /* FKT_CALL_CONTEXT_H */
